#ifndef STOKER_SERVER_OBSERVE_LINE_BUDGET_H_
#define STOKER_SERVER_OBSERVE_LINE_BUDGET_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace stoker {

// Bounds how much any peer can make a server log: for each host and kind of line a burst, and then a line now and then
// that says how many more there were.
//
// Thread-safe. It knows at most kMostKeys hosts and kinds; those that said nothing for longest are forgotten first.
class LineBudget {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  explicit LineBudget(Clock clock = std::chrono::steady_clock::now) : now_(std::move(clock)) {}

  // Returns whether a line of this kind may be logged now, and then how many were not since the last one.
  std::optional<uint64_t> Take(const std::string& host, const std::string& kind);

  static constexpr int kBurst = 20;
  static constexpr std::chrono::seconds kPause{10};  // between two lines after the burst
  static constexpr size_t kMostKeys = 1024;

 private:
  struct Account {
    int left = kBurst;
    std::chrono::steady_clock::time_point refilled;
    uint64_t suppressed = 0;
  };

  const Clock now_;
  absl::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, Account> accounts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_LINE_BUDGET_H_
