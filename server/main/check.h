#ifndef STOKER_SERVER_MAIN_CHECK_H_
#define STOKER_SERVER_MAIN_CHECK_H_

#include "absl/status/status.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Checks a configuration as far as serving it would: every key and every dataset. Of each dataset it reads and decodes
// some samples spread over it. With `content` it reads every sample, and prints a hash of all bytes. It reports to
// stdout and returns the first thing that is wrong.
absl::Status Check(const v1::ServerConfig& config, bool content);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_CHECK_H_
