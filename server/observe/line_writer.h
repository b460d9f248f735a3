#ifndef STOKER_SERVER_OBSERVE_LINE_WRITER_H_
#define STOKER_SERVER_OBSERVE_LINE_WRITER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace stoker {

// Writes lines to a file descriptor on a thread of its own, so that who logs never waits for who reads: a terminal that
// is held, a pipe whose reader stalls, a journal that is slow. Lines that find no room are dropped and counted, and a
// line says so once there is room again. A reader that left is no error.
//
// Thread-safe. The process must ignore SIGPIPE.
class LineWriter {
 public:
  // `dropped` makes the line that says how many were dropped. At most `most_bytes` wait.
  LineWriter(int descriptor, std::function<std::string(uint64_t)> dropped, size_t most_bytes = size_t{1} << 20);
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Writes what waits, for at most kLastWords.
  ~LineWriter();

  // Takes a line, which ends with a newline. Never blocks.
  void Write(std::string line);

  // Waits until all that was taken is written, for at most `at_most`. Returns whether it is.
  bool Flush(absl::Duration at_most);

  static constexpr absl::Duration kLastWords = absl::Seconds(1);

 private:
  void Run();

  // Takes the next line; waits for one. Returns false at the end.
  bool Next(std::string& line);

  // Writes as the reader takes it. Returns early once it is time to end.
  void WriteOut(const std::string& line);
  bool Ends() const;

  const int descriptor_;
  const std::function<std::string(uint64_t)> dropped_line_;
  const size_t most_bytes_;

  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  std::deque<std::string> lines_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;  // since a line said so
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool cut_off_ ABSL_GUARDED_BY(mutex_) = false;  // the last words have had their time
  std::thread thread_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_LINE_WRITER_H_
