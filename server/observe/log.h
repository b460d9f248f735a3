#ifndef STOKER_SERVER_OBSERVE_LOG_H_
#define STOKER_SERVER_OBSERVE_LOG_H_

#include "stoker/v1/config.pb.h"

namespace stoker {

// Makes spdlog's default logger write to stderr, one line a message: as text, or as JSON objects with `time`, `level`
// and `message`. Control bytes are escaped, so that no file's name can forge a line; messages are cut after 4 KiB. Call
// it once, before threads start.
void SetUpLog(const v1::LogConfig& config);

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_LOG_H_
