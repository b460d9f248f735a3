#ifndef STOKER_SERVER_REQUEST_ACCESS_H_
#define STOKER_SERVER_REQUEST_ACCESS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/request/identity.h"
#include "server/request/quota.h"
#include "server/request/rights.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Decides who a client is, what it may read and how much it may take. Files of tokens and keys are read again as they
// change; a new one that is not good leaves the old one in use.
//
// Thread-safe. Questions never wait for files.
class Access {
 public:
  struct Options {
    v1::AccessConfig config;
    Rights::Allowed allowed;
  };

  // Tells the wall clock's time, by which JSON Web Tokens expire.
  using Clock = std::function<absl::Time()>;

  // Reads the files. InvalidArgument names the key at fault.
  static absl::StatusOr<std::unique_ptr<Access>> Create(const Options& options, Clock now);

  ~Access();

  // Decides by `options` from now on. On an error, as of Create, nothing changes. Streams that are open go on. `along`
  // is called when all is good and before it is taken up; its error keeps it from that.
  absl::Status Apply(
      const Options& options, const std::function<absl::Status()>& along = [] { return absl::OkStatus(); });

  // Reads the files again that changed. An error says which one is not taken up, and why; it is the same until the file
  // changes again. Blocks as the files' storage does.
  absl::Status Refresh();

  // Who the client is. Unauthenticated, worded for the client, where it has to prove that and did not.
  absl::StatusOr<ClientIdentity> Identify(const Evidence& evidence) const;

  // What each identity may read now. Never null.
  std::shared_ptr<const Rights> rights() const;

  // One open stream of an identity; its end is told by the destructor. Thread-safe.
  class Admission {
   public:
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;
    ~Admission();

    // What the identity may take, as of the stream's beginning.
    const Quota& quota() const { return quota_; }

   private:
    friend class Access;
    struct Counts;
    Admission(std::shared_ptr<Counts> counts, std::string identity, Quota quota);

    const std::shared_ptr<Counts> counts_;
    const std::string identity_;
    const Quota quota_;
  };

  // Counts one more stream. ResourceExhausted if the identity has as many as it may.
  absl::StatusOr<std::unique_ptr<Admission>> Admit(const ClientIdentity& client);

 private:
  struct Policy;
  class Sources;

  explicit Access(Clock now);
  std::shared_ptr<const Policy> policy() const;

  const Clock now_;
  const std::shared_ptr<Admission::Counts> counts_;

  absl::Mutex refreshing_;  // Held over I/O. Questions do not take it.
  std::unique_ptr<Sources> sources_ ABSL_GUARDED_BY(refreshing_);

  mutable absl::Mutex mutex_;
  std::shared_ptr<const Policy> policy_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_REQUEST_ACCESS_H_
