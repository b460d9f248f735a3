#ifndef STOKER_SERVER_PLUGIN_PYTHON_OPS_H_
#define STOKER_SERVER_PLUGIN_PYTHON_OPS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ops/loaded_ops.h"
#include "server/plugin/python_process.h"

namespace stoker {

// Starts processes that load `files`, and returns the ops that these have, in their order. Each call of an op takes a
// process that is free, or starts another one. InvalidArgument and FailedPrecondition are PythonProcess::Start's.
absl::StatusOr<LoadedOps> LoadPythonOps(const std::vector<std::string>& files, const PythonOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_PLUGIN_PYTHON_OPS_H_
