#include "client/receive/security.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/config/pem.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

absl::Status Refreshed(const char* option, WatchedFile& file) {
  if (file.path().empty()) return absl::OkStatus();
  const auto changed = file.Refresh();
  if (changed.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(option, ": cannot be read: ", changed.status().message()));
}

// `status`, whose message is a clause for after a file's name, with that and the option.
absl::Status Named(const char* option, const WatchedFile& file, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(option, ": ", file.path(), " ", status.message()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<Security>> Security::Create(SecurityOptions options) {
  if (options.certificate_file.empty() != options.key_file.empty())
    return absl::InvalidArgumentError(absl::StrCat(options.key_file.empty() ? "tls_key_file" : "tls_cert_file",
                                                   ": must be given; a certificate and its key go together"));
  if (!options.certificate_file.empty() && options.ca_file.empty())
    return absl::InvalidArgumentError("tls_cert_file: needs tls_ca_file, by which servers are trusted");
  std::shared_ptr<Security> security(new Security(std::move(options)));
  absl::MutexLock lock(&security->refreshing_);
  STOKER_RETURN_IF_ERROR(security->Read());
  return security;
}

Security::Security(SecurityOptions options)
    : options_(std::move(options)),
      ca_(options_.ca_file),
      certificate_(options_.certificate_file),
      key_(options_.key_file),
      token_file_(options_.token_file),
      tls_(std::make_shared<const Tls>()) {}

void Security::Refresh() {
  absl::MutexLock lock(&refreshing_);
  Read().IgnoreError();  // Servers say what they think of the old ones.
}

absl::Status Security::Read() {
  absl::Status status = TakeTls();
  status.Update(TakeToken());
  return status;
}

absl::Status Security::TakeTls() {
  STOKER_RETURN_IF_ERROR(Refreshed("tls_ca_file", ca_));
  STOKER_RETURN_IF_ERROR(Refreshed("tls_cert_file", certificate_));
  STOKER_RETURN_IF_ERROR(Refreshed("tls_key_file", key_));
  const auto now = tls();
  if (now->roots == ca_.content() && now->certificate == certificate_.content() && now->key == key_.content())
    return absl::OkStatus();
  STOKER_RETURN_IF_ERROR(Named("tls_ca_file", ca_, CheckCertificates(ca_.content())));
  if (!options_.certificate_file.empty()) {
    STOKER_RETURN_IF_ERROR(Named("tls_cert_file", certificate_, CheckCertificates(certificate_.content())));
    STOKER_RETURN_IF_ERROR(Named("tls_cert_file", certificate_, CheckCertificateForTls(certificate_.content())));
    STOKER_RETURN_IF_ERROR(Named("tls_key_file", key_, CheckKeyOf(certificate_.content(), key_.content())));
  }
  absl::MutexLock lock(&mutex_);
  tls_ = std::make_shared<const Tls>(Tls{now->number + 1, ca_.content(), certificate_.content(), key_.content()});
  return absl::OkStatus();
}

absl::Status Security::TakeToken() {
  if (options_.token_file.empty()) return absl::OkStatus();
  STOKER_RETURN_IF_ERROR(Refreshed("token_file", token_file_));
  const std::string token(absl::StripAsciiWhitespace(token_file_.content()));
  if (token.empty() || !std::all_of(token.begin(), token.end(), absl::ascii_isgraph))
    return Named("token_file", token_file_,
                 absl::InvalidArgumentError(token.empty() ? "is empty" : "holds more than one word of ASCII"));
  absl::MutexLock lock(&mutex_);
  token_ = token;
  return absl::OkStatus();
}

std::shared_ptr<const Security::Tls> Security::tls() const {
  absl::MutexLock lock(&mutex_);
  return tls_;
}

absl::StatusOr<std::optional<std::string>> Security::TokenFor(const std::string& address) const {
  if (options_.token_file.empty()) return std::nullopt;
  if (!uses_tls() && !absl::StartsWith(address, "unix:"))
    return absl::FailedPreconditionError(
        "token_file: the token would be sent in plaintext, where others may read it; connect by TLS (tls_ca_file, "
        "--tls-ca) or a Unix socket");
  absl::MutexLock lock(&mutex_);
  return token_;
}

}  // namespace stoker
