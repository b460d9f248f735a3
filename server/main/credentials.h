#ifndef STOKER_SERVER_MAIN_CREDENTIALS_H_
#define STOKER_SERVER_MAIN_CREDENTIALS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "common/config/watched_file.h"
#include "grpcpp/security/server_credentials.h"
#include "server/config/tls_files.h"

namespace stoker {

// The certificate, key and client authorities that a server answers by TLS with, as their files change. What is served
// is always a good set: a new one that is not leaves the old one in use.
//
// Thread-safe.
class ServedTls {
 public:
  struct Version {
    uint64_t number = 0;  // grows with each change
    std::shared_ptr<const TlsFiles> files;
  };

  // Begins with `files`, which passed CheckTlsFiles for `config`.
  ServedTls(v1::TlsConfig config, TlsFiles files);

  // Reads the files again if they changed. An error says why a new set is not taken up; it is the same until the files
  // change again. Blocks as their storage does.
  absl::Status Refresh() ABSL_LOCKS_EXCLUDED(refreshing_, mutex_);

  // What the next connection is answered with. Never blocks for storage.
  Version current() const;

  // Serves the files that `config` names from now on. On an error, as of Refresh, all stays as it was.
  // FailedPrecondition where `config` asks for client certificates in another way than at the start: gRPC settles that
  // then. `along` is called when all is good and before it is taken up; its error keeps it from that.
  absl::Status Apply(const v1::TlsConfig& config, const std::function<absl::Status()>& along)
      ABSL_LOCKS_EXCLUDED(refreshing_, mutex_);

  const v1::TlsConfig& first_config() const { return first_config_; }

 private:
  struct Watched {
    v1::TlsConfig config;
    WatchedFile certificate, key, client_ca;
    explicit Watched(const v1::TlsConfig& config);
    absl::StatusOr<bool> Refresh();  // true if one of the files changed
    TlsFiles files() const { return {certificate.content(), key.content(), client_ca.content()}; }
  };

  // Takes up what was read, if it is good and `along` is OK.
  absl::Status Take(const Watched& watched, const std::function<absl::Status()>& along) ABSL_LOCKS_EXCLUDED(mutex_);

  const v1::TlsConfig first_config_;

  absl::Mutex refreshing_;  // Held over I/O. Handshakes do not take it.
  std::unique_ptr<Watched> watched_ ABSL_GUARDED_BY(refreshing_);
  absl::Status problem_ ABSL_GUARDED_BY(refreshing_);  // of what was read last

  mutable absl::Mutex mutex_;
  Version current_ ABSL_GUARDED_BY(mutex_);
};

// Answers by TLS with what `served` has when a connection begins, and asks clients for certificates as its
// configuration says. Connections that are open keep what they began with. `served` and the credentials must
// outlive the gRPC server.
//
// This is gRPC's own way of changing a server's certificates (grpc_ssl_server_credentials_create_options_using_
// config_fetcher), which its C++ layer does not offer.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(const ServedTls* served);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_CREDENTIALS_H_
