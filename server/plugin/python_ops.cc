#include "server/plugin/python_ops.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/plugin/python_offer.h"
#include "server/plugin/python_op.h"
#include "server/plugin/python_processes.h"

namespace stoker {

absl::StatusOr<LoadedOps> LoadPythonOps(const std::vector<std::string>& files, const PythonOptions& options) {
  LoadedOps ops;
  if (files.empty()) return ops;
  const auto processes = std::make_shared<PythonProcesses>(files, options);
  STOKER_ASSIGN_OR_RETURN(const std::string text, processes->Warm());
  auto offers = ParseOffer(text);
  if (absl::IsFailedPrecondition(offers.status()))
    return absl::FailedPreconditionError(absl::StrCat("'", options.python, "': ", offers.status().message()));
  if (!offers.ok()) return offers.status();
  for (PythonOffer& offer : *offers)
    ops.push_back(std::make_unique<PythonOp>(processes, static_cast<uint32_t>(ops.size()), std::move(offer)));
  return ops;
}

}  // namespace stoker
