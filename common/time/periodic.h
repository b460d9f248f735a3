#ifndef STOKER_COMMON_TIME_PERIODIC_H_
#define STOKER_COMMON_TIME_PERIODIC_H_

#include <functional>
#include <thread>

#include "absl/time/time.h"

namespace stoker {

// Does something again and again on a thread of its own, with a pause between, until it is destroyed. The pause is
// measured by a clock that nobody sets. The destructor waits for what is being done.
class Periodic {
 public:
  Periodic(absl::Duration pause, std::function<void()> work);
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;
  ~Periodic();

 private:
  const int stop_;  // an eventfd, which becomes readable when the thread must end
  std::thread thread_;
};

}  // namespace stoker

#endif  // STOKER_COMMON_TIME_PERIODIC_H_
