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
      the ops that its operator brings.)";

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

absl::StatusOr<int> RunList(const ServerFlags& flags) {
  STOKER_ASSIGN_OR_RETURN(const auto client, Connect(flags));
  STOKER_ASSIGN_OR_RETURN(const v1::ListDatasetsResponse list, client->ListDatasets());
  absl::PrintF("%-20s %12s  %-*s  %s\n", "DATASET", "SAMPLES", kFingerprintDigits, "FINGERPRINT", "DESCRIPTION");
  for (const v1::DatasetInfo& info : list.datasets())
    absl::PrintF("%-20s %12d  %s  %s\n", Printable(info.name()), info.samples(),
                 absl::BytesToHexString(info.fingerprint()).substr(0, kFingerprintDigits),
                 Printable(info.description()));
  if (!list.pipelines().empty()) absl::PrintF("\n%-20s %s\n", "PIPELINE", "OPS");
  for (const v1::NamedPipeline& named : list.pipelines())
    absl::PrintF("%-20s %s\n", Printable(named.name()), OpsOf(named.pipeline()));
  if (!list.own_ops().empty()) absl::PrintF("\n%-20s %7s  %s\n", "OWN OP", "VERSION", "WHAT IT DOES");
  for (const v1::OwnOpInfo& op : list.own_ops()) {
    absl::PrintF("%-20s %7d  %s\n", Printable(op.name()), op.version(), Printable(op.summary()));
    absl::PrintF("  - %s\n", Printable(CallOf(op)));
  }
  return 0;
}

}  // namespace

void AddList(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("list", "List the datasets, pipelines and own ops that the servers offer");
  const auto flags = std::make_shared<ServerFlags>();
  AddServerFlags(*command, *flags);
  command->footer(kListExample);
  command->callback([flags, &chosen] { chosen = [flags] { return RunList(*flags); }; });
}

}  // namespace stoker
