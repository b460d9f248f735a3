#ifndef STOKER_CLIENT_RECEIVE_SECURITY_H_
#define STOKER_CLIENT_RECEIVE_SECURITY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/config/watched_file.h"

namespace stoker {

// The files by which servers are trusted and this client proves who it is, all in PEM but the token. A value.
struct SecurityOptions {
  std::string ca_file;           // The authorities that signed the servers' certificates. Empty: no TLS.
  std::string certificate_file;  // This client's certificate, and those between it and its authority; with its key.
  std::string key_file;
  std::string token_file;   // A token, which is sent by TLS or a Unix socket alone.
  std::string server_name;  // The name in the servers' certificates. Empty: the host that each is reached by.
};

// What these files hold now. They may be replaced while the client runs, as Kubernetes replaces its tokens.
//
// Thread-safe.
class Security {
 public:
  struct Tls {
    uint64_t number = 0;  // Grows with each change.
    std::string roots, certificate, key;
  };

  // Reads the files. InvalidArgument names the option at fault, such as "tls_key_file".
  static absl::StatusOr<std::shared_ptr<Security>> Create(SecurityOptions options);

  // No TLS and no proof.
  Security() : Security(SecurityOptions()) {}

  // Reads the files again that changed. What cannot be read, or is not good, leaves the old in use. Blocks as their
  // storage does.
  void Refresh() ABSL_LOCKS_EXCLUDED(refreshing_, mutex_);

  bool uses_tls() const { return !options_.ca_file.empty(); }
  const std::string& server_name() const { return options_.server_name; }

  // What new connections are made with. Never blocks for storage.
  std::shared_ptr<const Tls> tls() const;

  // The token for a server at `address`, as Resolve returns them; none where no file has one. FailedPrecondition where
  // others could read it on its way.
  absl::StatusOr<std::optional<std::string>> TokenFor(const std::string& address) const;

 private:
  explicit Security(SecurityOptions options);

  absl::Status Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(refreshing_);
  absl::Status TakeTls() ABSL_EXCLUSIVE_LOCKS_REQUIRED(refreshing_);
  absl::Status TakeToken() ABSL_EXCLUSIVE_LOCKS_REQUIRED(refreshing_);

  const SecurityOptions options_;

  absl::Mutex refreshing_;  // Held over I/O.
  WatchedFile ca_ ABSL_GUARDED_BY(refreshing_), certificate_ ABSL_GUARDED_BY(refreshing_),
      key_ ABSL_GUARDED_BY(refreshing_), token_file_ ABSL_GUARDED_BY(refreshing_);

  mutable absl::Mutex mutex_;
  std::shared_ptr<const Tls> tls_ ABSL_GUARDED_BY(mutex_);
  std::string token_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_CLIENT_RECEIVE_SECURITY_H_
