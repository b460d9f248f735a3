#include <cstdio>
#include <memory>
#include <string>

#include "client/cli/commands.h"
#include "common/host/host_check.h"

namespace stoker {
namespace {

constexpr char kCheckExample[] = R"(Example:
  stoker check --host
      Look at what is known to slow training jobs down on a machine: limits, swap, pressure, NUMA, governors, sockets,
      MTU, the clock, threads of other libraries. Each thing that deserves a look comes with its remedy.
      `stokerd check --host` does the same on a server's machine.)";

}  // namespace

void AddCheck(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("check", "Look for what slows a training job down on this machine");
  const auto host = std::make_shared<bool>(false);
  command->add_flag("--host", *host, "Look at the machine")->required();
  command->footer(kCheckExample);
  command->callback([host, &chosen] {
    chosen = []() -> absl::StatusOr<int> {
      std::fputs(HostReport(CheckHost(Host::This(HostRole::kTrainer), HostRole::kTrainer)).c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace stoker
