#ifndef STOKER_SERVER_MAIN_CHECK_H_
#define STOKER_SERVER_MAIN_CHECK_H_

#include "absl/status/status.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Checks a configuration as far as serving it would: every key, every dataset, and of each dataset some samples
// spread over it, read and decoded; with `content` every sample is read, and a hash of all bytes printed. Reports to
// stdout; the status is the first thing that is wrong.
absl::Status Check(const v1::ServerConfig& config, bool content);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_CHECK_H_
