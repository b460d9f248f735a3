#ifndef STOKER_SERVER_CONFIG_TLS_FILES_H_
#define STOKER_SERVER_CONFIG_TLS_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// What a server answers by TLS with, all in PEM. A value.
struct TlsFiles {
  std::string certificate;  // the server's, followed by those between it and its authority
  std::string key;
  std::string client_ca;  // the authorities of clients' certificates; empty where clients need none
  bool operator==(const TlsFiles&) const = default;
};

// Reads the files that `config` names. InvalidArgument begins with the key at fault, "tls.key_file: …". The content is
// as it is on disk: CheckTlsFiles says whether it will do.
absl::StatusOr<TlsFiles> ReadTlsFiles(const v1::TlsConfig& config);

// OK if a server can answer with `files`: all is PEM, the key is the certificate's, and OpenSSL's policy allows it.
// InvalidArgument begins with the key of `config` at fault.
absl::Status CheckTlsFiles(const v1::TlsConfig& config, const TlsFiles& files);

// OK if clients may accept the certificate at `now`. FailedPrecondition says since when they refuse it, or until when.
absl::Status CheckTlsTime(const v1::TlsConfig& config, const TlsFiles& files, absl::Time now);

}  // namespace stoker

#endif  // STOKER_SERVER_CONFIG_TLS_FILES_H_
