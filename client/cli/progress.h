#ifndef STOKER_CLIENT_CLI_PROGRESS_H_
#define STOKER_CLIENT_CLI_PROGRESS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace stoker {

// How far a command has come, on stderr: a line that is written over if that is a terminal, else a line now and then.
// One thread.
class Progress {
 public:
  // `total` of the batches that will come.
  Progress(uint64_t total, bool quiet);

  // Removes the line that was written over.
  ~Progress();

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
