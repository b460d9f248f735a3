#ifndef STOKER_CLIENT_CLI_COMMANDS_H_
#define STOKER_CLIENT_CLI_COMMANDS_H_

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace stoker {

// What a sub-command does: the process's exit code, or an error for main to print.
using Command = std::function<absl::StatusOr<int>()>;

// Each adds its sub-command to `app`; where that is the one called, parsing puts what to do into `chosen`. Both outlive
// the parsing.
void AddList(CLI::App& app, Command& chosen);
void AddDescribe(CLI::App& app, Command& chosen);
void AddBench(CLI::App& app, Command& chosen);
void AddPreview(CLI::App& app, Command& chosen);
void AddDigest(CLI::App& app, Command& chosen);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_COMMANDS_H_
