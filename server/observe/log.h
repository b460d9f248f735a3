#ifndef STOKER_SERVER_OBSERVE_LOG_H_
#define STOKER_SERVER_OBSERVE_LOG_H_

#include "stoker/v1/config.pb.h"

namespace stoker {

// Sends spdlog's default logger to stderr, one line a message, as text or as JSON objects with `time`, `level`
// and `message`. Control bytes are escaped and messages capped at 4 KiB, so that no name can forge a line. Call
// once, before threads start.
void SetUpLog(const v1::LogConfig& config);

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_LOG_H_
