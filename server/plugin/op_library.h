#ifndef STOKER_SERVER_PLUGIN_OP_LIBRARY_H_
#define STOKER_SERVER_PLUGIN_OP_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/ops/loaded_ops.h"
#include "server/plugin/python_process.h"

namespace stoker {

// Loads the ops of shared objects that follow stoker_op.h, and of Python's files (.py), and tries each out: it has to
// make the same of the same images twice. InvalidArgument names the file, and the op, that cannot be used;
// FailedPrecondition one that makes different pixels of the same image, or a Python that cannot run ops. Shared objects
// stay loaded until the process ends. Thread-safe.
absl::StatusOr<LoadedOps> LoadOps(const std::vector<std::string>& files, const PythonOptions& python = {});

// Tries `op` on images that are part of this program, and returns a hash of what it made. Errors are LoadOps's.
absl::StatusOr<uint64_t> CheckOp(const LoadedOp& op);

}  // namespace stoker

#endif  // STOKER_SERVER_PLUGIN_OP_LIBRARY_H_
