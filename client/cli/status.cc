#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "client/cli/commands.h"
#include "client/cli/flags.h"
#include "client/cli/fleet_rates.h"
#include "client/cli/stop_signal.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr char kStatusExamples[] = R"(Examples:
  stoker status --servers cpu1:7077,cpu2:7077
      Look at the servers for a second, and print a line for each:
        BUSY     how much of their time the workers make samples
        WAITING  how many of the server's clients wait for a batch, on average
        BLOCKED  how many connections a ready span waits for, on average
        QUEUED   spans that are wanted, and that no worker has begun
        FAILED   spans that could not be made, since the server was started
      The last line says who is slow.
  stoker status --servers dns:///stoker.cluster.local:7077 --datasets --watch
      The same of all addresses of a name, dataset by dataset, until Ctrl-C.
It shows the datasets that the client may read. The exit code is 1 where a server tells nothing.)";

struct StatusFlags {
  ServerFlags server;
  double seconds = 1;
  bool datasets = false, watch = false, json = false;
};

using Statuses = std::vector<Client::ServerStatus>;

std::string ProblemOf(const absl::Status& status) {
  if (absl::IsUnimplemented(status)) return "it is too old to tell how it fares; `stoker bench` measures it";
  return std::string(status.message());
}

std::vector<ServerRates> RatesOf(const Statuses& was, const Statuses& is) {
  std::map<std::string, const v1::StatusResponse*> before;
  for (const auto& server : was)
    if (server.status.ok()) before[server.address] = &*server.status;
  std::vector<ServerRates> rates;
  for (const auto& server : is) {
    const auto known = before.find(server.address);
    if (!server.status.ok()) {
      rates.push_back({.address = server.address, .problem = ProblemOf(server.status.status())});
    } else {
      const bool is_new = known == before.end();
      rates.push_back(stoker::RatesOf(server.address, is_new ? *server.status : *known->second, *server.status));
    }
  }
  return rates;
}

void Print(const std::vector<ServerRates>& rates, const StatusFlags& flags) {
  // What was there before is overwritten, where there is a screen.
  if (flags.watch && !flags.json && isatty(STDOUT_FILENO) == 1) std::fputs("\033[H\033[J", stdout);
  std::fputs(flags.json ? absl::StrCat(FleetJson(rates), "\n").c_str() : FleetTable(rates, flags.datasets).c_str(),
             stdout);
  std::fflush(stdout);
}

absl::StatusOr<int> RunStatus(const StatusFlags& flags) {
  StopSignal signal;
  STOKER_ASSIGN_OR_RETURN(const auto client, Connect(flags.server));
  absl::Notification stopped;
  const StopSignal::Handler stop(signal, [&] { stopped.Notify(); });
  STOKER_ASSIGN_OR_RETURN(Statuses was, client->Status());
  while (!stopped.WaitForNotificationWithTimeout(absl::Seconds(flags.seconds))) {
    if (flags.watch) client->LookUpAgain();
    auto looked = client->Status();
    if (!looked.ok() && flags.watch) {  // A name that stands for no server now may stand for one soon.
      std::fprintf(stderr, "stoker: %s\n", std::string(looked.status().message()).c_str());
      continue;
    }
    STOKER_RETURN_IF_ERROR(looked.status());
    Statuses is = *std::move(looked);
    const auto rates = RatesOf(was, is);
    Print(rates, flags);
    const bool all_tell = std::all_of(is.begin(), is.end(), [](const auto& server) { return server.status.ok(); });
    if (!flags.watch) return all_tell ? 0 : 1;
    was = std::move(is);
  }
  return signal.exit_code();
}

}  // namespace

void AddStatus(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("status", "Show how the servers fare, and who is slow");
  const auto flags = std::make_shared<StatusFlags>();
  AddServerFlags(*command, flags->server);
  command->add_option("--seconds", flags->seconds, "How long to look at them [1]")
      ->check(Silent(CLI::Range(0.1, 3600.0)))
      ->type_name("S");
  command->add_flag("--datasets", flags->datasets, "Show each dataset of theirs too");
  command->add_flag("--watch", flags->watch, "Go on until Ctrl-C");
  command->add_flag("--json", flags->json, "Print one line of JSON instead of the table");
  command->footer(kStatusExamples);
  command->callback([flags, &chosen] { chosen = [flags] { return RunStatus(*flags); }; });
}

}  // namespace stoker
