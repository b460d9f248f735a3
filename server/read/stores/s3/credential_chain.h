#ifndef STOKER_SERVER_READ_STORES_S3_CREDENTIAL_CHAIN_H_
#define STOKER_SERVER_READ_STORES_S3_CREDENTIAL_CHAIN_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/stores/curl/http_client.h"
#include "server/read/stores/s3/credentials.h"

namespace stoker {

// Finds credentials where AWS's own tools look for them, and in their order: the environment; the shared credentials
// and configuration files; a web identity's token, by the security token service; the metadata service of a container,
// or of an instance (version 2 alone). The first place that has any counts, and is asked again before they expire.
//
// Thread-safe. Errors name the place, and never show what is there.
class CredentialChain {
 public:
  // Returns an environment variable, or "".
  using Environment = std::function<std::string(const std::string& name)>;

  struct Options {
    std::string profile;      // where it is empty, AWS_PROFILE's, or default
    std::string region;       // of the security token service
    Environment environment;  // required
    HttpLimits limits;        // of requests to services
    std::string instance_metadata = "http://169.254.169.254";
  };

  explicit CredentialChain(Options options);

  // Returns credentials that hold for now. While they hold for less than some minutes more, one caller waits for new
  // ones, and the others get those that there are.
  absl::StatusOr<S3Credentials> Get() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns what Get returned last, without waiting; what is empty where it never did.
  S3Credentials Latest() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the region that the profile names, or "".
  static std::string RegionOf(const std::string& profile, const Environment& environment);

 private:
  using Found = absl::StatusOr<std::optional<S3Credentials>>;

  // Whether the latest credentials hold for so long.
  bool Hold(absl::Duration long_enough) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool is_idle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !refreshing_; }

  absl::StatusOr<S3Credentials> Find();
  Found FromEnvironment() const;
  Found FromProfile() const;
  Found FromWebIdentity();
  Found FromContainer();
  Found FromInstance();
  absl::StatusOr<std::string> Ask(HttpRequest request, const std::string& name);

  const Options options_;
  HttpClient client_;

  mutable absl::Mutex mutex_;
  bool refreshing_ ABSL_GUARDED_BY(mutex_) = false;  // whether a caller of Get looks for new ones
  S3Credentials latest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_S3_CREDENTIAL_CHAIN_H_
