#ifndef STOKER_SERVER_PLUGIN_PYTHON_OFFER_H_
#define STOKER_SERVER_PLUGIN_PYTHON_OFFER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/ops/loaded_ops.h"

namespace stoker {

// What a process of Python says of one of its ops.
struct PythonOffer {
  std::string name, file, summary, made_of;
  uint32_t version = 0;
  bool changes_size = false;
  std::vector<LoadedOp::Argument> arguments;
};

// Reads what a process offers, which may be anything. InvalidArgument is what it says of its files, and
// FailedPrecondition what does not follow client/python/stoker/_op_worker.py.
absl::StatusOr<std::vector<PythonOffer>> ParseOffer(std::string_view text);

}  // namespace stoker

#endif  // STOKER_SERVER_PLUGIN_PYTHON_OFFER_H_
