#ifndef STOKER_SERVER_MAIN_PROGRESS_LINE_H_
#define STOKER_SERVER_MAIN_PROGRESS_LINE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace stoker {

// Shows on stderr how far a command is: on a terminal as one line that changes, elsewhere as a line now and then. One
// thread at a time.
class ProgressLine {
 public:
  ProgressLine();

  // Whether it is time to show something again. It then counts as shown.
  bool IsDue();

  // Shows `text`, with a bar before it on a terminal: of `done` of `all`.
  void Show(uint64_t done, uint64_t all, const std::string& text) const;

  // Shows `text` alone.
  void Show(const std::string& text) const;

  // Removes the line from a terminal.
  void Clear() const;

 private:
  const bool terminal_;
  absl::Time last_;
};

// Measures how fast the items of a command are done, from when it was made.
class CommandPace {
 public:
  CommandPace();

  double Seconds() const;

  // Returns items a second, `done` being those since it was made.
  double PerSecond(uint64_t done) const;

  // Says for people how long `left` more items take: "2m30s"; "?" where none is done yet.
  std::string TimeLeft(uint64_t done, uint64_t left) const;

 private:
  const absl::Time began_;
};

// Makes the first SIGINT or SIGTERM set StopRequested(). A second one ends the process at once. For commands that may
// be ended at any moment.
void StopOnSignals();
const std::atomic<bool>& StopRequested();

// Returns 128 + the signal that was caught: the process's exit status.
int StatusOfSignal();

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_PROGRESS_LINE_H_
