#ifndef STOKER_SERVER_MAIN_HEALTH_COMMAND_H_
#define STOKER_SERVER_MAIN_HEALTH_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "server/config/settings.h"

namespace stoker {

// Asks the admin address of a server on this machine for a page: "/healthz". Returns its text where the answer is 200,
// else the error: what the server says, or why it cannot be reached. Waits for a few seconds at most.
absl::StatusOr<std::string> AskAdmin(const AdminSettings& admin, const std::string& path);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_HEALTH_COMMAND_H_
