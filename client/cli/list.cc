#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands.h"
#include "client/cli/flags.h"
#include "client/cli/printable.h"
#include "common/ops/ops.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr char kListExample[] = R"(Example:
  stoker list --servers cpu1:7077
      Print what the first server that answers has: its datasets, the pipelines that it offers by name, and
      the ops that its operator brings.
  stoker list --ops --servers cpu1:7077
      Print the ops alone.)";

constexpr size_t kFingerprintDigits = 12;  // hexadecimal digits that are shown

std::string OpsOf(const v1::Pipeline& pipeline) {
  if (pipeline.ops().empty()) return "no ops";
  return absl::StrJoin(pipeline.ops(), ", ", [](std::string* out, const v1::Op& op) { out->append(OpName(op)); });
}

// Returns how a pipeline names the op with its defaults: "fog: {amount: 0.5, color: …}".
std::string CallOf(const v1::OwnOpInfo& op) {
  if (op.arguments().empty()) return op.name() + ":";
  const auto append = [](std::string* out, const v1::OwnOp::Argument& argument) {
    absl::StrAppend(out, argument.name(), ": ", argument.value().empty() ? "…" : argument.value());
  };
  return absl::StrCat(op.name(), ": {", absl::StrJoin(op.arguments(), ", ", append), "}");
}

void PrintDatasets(const v1::ListDatasetsResponse& list) {
  absl::PrintF("%-20s %12s  %-*s  %s\n", "DATASET", "SAMPLES", kFingerprintDigits, "FINGERPRINT", "DESCRIPTION");
  for (const v1::DatasetInfo& info : list.datasets())
    absl::PrintF("%-20s %12d  %s  %s\n", Printable(info.name()), info.samples(),
                 absl::BytesToHexString(info.fingerprint()).substr(0, kFingerprintDigits),
                 Printable(info.description()));
  if (!list.pipelines().empty()) absl::PrintF("\n%-20s %s\n", "PIPELINE", "OPS");
  for (const v1::NamedPipeline& named : list.pipelines())
    absl::PrintF("%-20s %s\n", Printable(named.name()), OpsOf(named.pipeline()));
}

void PrintOwnOps(const v1::ListDatasetsResponse& list) {
  absl::PrintF("%-20s %7s  %s\n", "OWN OP", "VERSION", "WHAT IT DOES");
  for (const v1::OwnOpInfo& op : list.own_ops()) {
    absl::PrintF("%-20s %7d  %s\n", Printable(op.name()), op.version(), Printable(op.summary()));
    absl::PrintF("  - %s\n", Printable(CallOf(op)));
  }
}

absl::StatusOr<int> RunList(const ServerFlags& flags, bool only_ops) {
  STOKER_ASSIGN_OR_RETURN(const auto client, Connect(flags));
  STOKER_ASSIGN_OR_RETURN(const v1::ListDatasetsResponse list, client->ListDatasets());
  if (only_ops) {
    if (list.own_ops().empty()) absl::PrintF("This server has no own ops.\n");
    if (!list.own_ops().empty()) PrintOwnOps(list);
    return 0;
  }
  PrintDatasets(list);
  if (list.own_ops().empty()) return 0;
  absl::PrintF("\n");
  PrintOwnOps(list);
  return 0;
}

}  // namespace

void AddList(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("list", "List the datasets, pipelines and own ops that the servers offer");
  const auto flags = std::make_shared<ServerFlags>();
  AddServerFlags(*command, *flags);
  const auto only_ops = std::make_shared<bool>(false);
  command->add_flag("--ops", *only_ops, "List the own ops alone");
  command->footer(kListExample);
  command->callback([flags, only_ops, &chosen] { chosen = [flags, only_ops] { return RunList(*flags, *only_ops); }; });
}

}  // namespace stoker
