#ifndef STOKER_CLIENT_CLI_PROGRESS_H_
#define STOKER_CLIENT_CLI_PROGRESS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace stoker {

// Shows on stderr how far a command has come. On a terminal it rewrites one line, elsewhere it prints a line now and
// then. One thread at a time.
class Progress {
 public:
  // `total` is the number of batches to come. If `quiet`, nothing is shown.
  Progress(uint64_t total, bool quiet);

  // Removes the terminal's line.
  ~Progress();

  // Tells how many batches and samples have come so far. It may be called often; few calls print.
  void Update(uint64_t batches, uint64_t samples);

 private:
  const uint64_t total_;
  const bool quiet_;
  const bool terminal_;
  const absl::Time begun_;
  absl::Time shown_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_PROGRESS_H_
