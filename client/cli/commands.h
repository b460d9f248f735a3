#ifndef STOKER_CLIENT_CLI_COMMANDS_H_
#define STOKER_CLIENT_CLI_COMMANDS_H_

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace stoker {

// Runs a sub-command. It returns the process's exit code, or an error for main to print.
using Command = std::function<absl::StatusOr<int>()>;

// Each of these adds a sub-command to `app`. If the user calls it, parsing sets `chosen` to what it does. `app` and
// `chosen` must outlive the parsing.
void AddList(CLI::App& app, Command& chosen);
void AddStatus(CLI::App& app, Command& chosen);
void AddCheck(CLI::App& app, Command& chosen);
void AddDescribe(CLI::App& app, Command& chosen);
void AddBench(CLI::App& app, Command& chosen);
void AddPreview(CLI::App& app, Command& chosen);
void AddDigest(CLI::App& app, Command& chosen);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_COMMANDS_H_
