#ifndef STOKER_SERVER_OBSERVE_LOG_H_
#define STOKER_SERVER_OBSERVE_LOG_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Makes spdlog's default logger write to stderr, one line a message: as text, or as JSON objects with `time`, `level`
// and `message`. Control bytes are escaped, so that no file's name can forge a line; messages are cut after 4 KiB.
// Lines are written by a LineWriter, so that logging never blocks. Call it once, before other threads start and after
// SIGPIPE is ignored.
void SetUpLog(const v1::LogConfig& config);

// Waits until what was logged is written, for a second at most. What is not, is lost: call it before the process ends.
void FlushLog();

// A warning or an error that was logged.
struct LoggedProblem {
  absl::Time time;
  bool is_error = false;  // else a warning
  std::string text;
};

// Returns those of the last hour, the newest first, and at most 200.
std::vector<LoggedProblem> RecentProblems();

// Sets how much is logged from now on.
void SetLogLevel(v1::LogLevel level);

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_LOG_H_
