#include "server/config/tls_files.h"

#include "absl/strings/str_cat.h"
#include "common/config/pem.h"
#include "common/config/watched_file.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

absl::StatusOr<std::string> Read(const char* key, const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError(absl::StrCat(key, ": must be given"));
  auto content = ReadSmallFile(path);
  if (content.ok()) return content;
  return absl::InvalidArgumentError(absl::StrCat(key, ": cannot be read: ", content.status().message()));
}

// `status`, whose message is a clause for after a file's name, with that and the key.
absl::Status Named(const char* key, const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(key, ": ", path, " ", status.message()));
}

std::string Utc(absl::Time time) { return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone()); }

}  // namespace

absl::StatusOr<TlsFiles> ReadTlsFiles(const v1::TlsConfig& config) {
  TlsFiles files;
  STOKER_ASSIGN_OR_RETURN(files.certificate, Read("tls.certificate_file", config.certificate_file()));
  STOKER_ASSIGN_OR_RETURN(files.key, Read("tls.key_file", config.key_file()));
  if (!config.client_ca_file().empty()) {
    STOKER_ASSIGN_OR_RETURN(files.client_ca, Read("tls.client_ca_file", config.client_ca_file()));
  }
  return files;
}

absl::Status CheckTlsFiles(const v1::TlsConfig& config, const TlsFiles& files) {
  if (config.client_ca_file().empty() && config.client_certificates() != v1::CLIENT_CERTIFICATES_UNSPECIFIED)
    return absl::InvalidArgumentError("tls.client_certificates: needs tls.client_ca_file, the clients' authorities");
  const auto certificate = [&](const absl::Status& status) {
    return Named("tls.certificate_file", config.certificate_file(), status);
  };
  STOKER_RETURN_IF_ERROR(certificate(CheckCertificates(files.certificate)));
  STOKER_RETURN_IF_ERROR(certificate(CheckCertificateForTls(files.certificate)));
  STOKER_RETURN_IF_ERROR(Named("tls.key_file", config.key_file(), CheckKeyOf(files.certificate, files.key)));
  if (config.client_ca_file().empty()) return absl::OkStatus();
  return Named("tls.client_ca_file", config.client_ca_file(), CheckCertificates(files.client_ca));
}

absl::Status CheckTlsTime(const v1::TlsConfig& config, const TlsFiles& files, absl::Time now) {
  const auto [begin, end] = ValidTimes(files.certificate);
  const std::string subject = absl::StrCat("tls.certificate_file: the certificate in ", config.certificate_file());
  if (now < begin)
    return absl::FailedPreconditionError(
        absl::StrCat(subject, " is not valid before ", Utc(begin), ", so clients refuse it"));
  if (now >= end)
    return absl::FailedPreconditionError(absl::StrCat(subject, " expired at ", Utc(end), ", so clients refuse it"));
  return absl::OkStatus();
}

}  // namespace stoker
