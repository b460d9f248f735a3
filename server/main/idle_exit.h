#ifndef STOKER_SERVER_MAIN_IDLE_EXIT_H_
#define STOKER_SERVER_MAIN_IDLE_EXIT_H_

#include <functional>

#include "absl/time/time.h"
#include "common/time/periodic.h"
#include "server/observe/service_log.h"

namespace stoker {

// Ends this process as SIGTERM does, once there were streams and there have been none for `patience`: the job that it
// was started for is over.
class IdleExit {
 public:
  IdleExit(absl::Duration patience, std::function<ServiceLog::Streams()> streams);

 private:
  void Look();

  const absl::Duration patience_;
  const std::function<ServiceLog::Streams()> streams_;
  absl::Time last_stream_ = absl::InfiniteFuture();  // when there was one; never, before the first
  uint64_t opened_ = 0;                              // streams, as far as they were seen
  bool told_ = false, ended_ = false;
  Periodic periodic_;  // Last: its thread uses the rest.
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_IDLE_EXIT_H_
