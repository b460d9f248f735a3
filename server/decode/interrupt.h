#ifndef STOKER_SERVER_DECODE_INTERRUPT_H_
#define STOKER_SERVER_DECODE_INTERRUPT_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"

namespace stoker {

// Says whether what a worker makes is still wanted. What may run long asks it between passes, and loops over rows after
// every kInterruptRows. Whoever finds it raised returns early and leaves garbage, and the one who gave the interrupt
// turns it into an error.
//
// An interrupt that was raised once stays raised. It is used by one thread.
class Interrupt {
 public:
  // One that is never raised.
  Interrupt() = default;

  // One that is raised by an error of `ask`: Cancelled or DeadlineExceeded, with the reason. An answer should take no
  // longer than a look at a clock.
  explicit Interrupt(std::function<absl::Status()> ask) : ask_(std::move(ask)) {}

  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool raised() const {
    if (status_.ok() && ask_ != nullptr) status_ = ask_();
    return !status_.ok();
  }

  // Returns why it was raised, as of now.
  absl::Status status() const { return raised() ? status_ : absl::OkStatus(); }

 private:
  const std::function<absl::Status()> ask_;
  mutable absl::Status status_;
};

// After how many rows of pixels a loop asks: seldom enough to cost nothing.
inline constexpr int64_t kInterruptRows = 16;

// Returns whether the loop that is at `row` should end there.
inline bool InterruptedAt(int64_t row, const Interrupt& interrupt) {
  return row % kInterruptRows == kInterruptRows - 1 && interrupt.raised();
}

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_INTERRUPT_H_
