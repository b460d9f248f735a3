#include "client/device/registry/open_device.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/device/cuda/cuda_device.h"
#include "client/device/cuda/runtime.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// Returns the GPU's number in "cuda" (0) or "cuda:1" (1). None for other names.
std::optional<int> CudaOrdinal(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "cuda")) return std::nullopt;
  if (name.empty()) return 0;
  int ordinal = 0;
  const bool digits = absl::ConsumePrefix(&name, ":") && !name.empty() &&
                      name.find_first_not_of("0123456789") == absl::string_view::npos;
  if (!digits || !absl::SimpleAtoi(name, &ordinal)) return std::nullopt;
  return ordinal;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Device>> OpenDevice(const std::string& name, const DeviceOptions& options) {
  if (name == "cpu") return HostDevice();
  if (const auto ordinal = CudaOrdinal(name); ordinal.has_value()) {
    STOKER_ASSIGN_OR_RETURN(auto runtime, OpenCudaRuntime(*ordinal));
    return OpenCudaDevice(std::move(runtime), options);
  }
  return absl::InvalidArgumentError(absl::StrCat("device: '", name, "' is none of cpu, cuda, cuda:0, cuda:1, …"));
}

}  // namespace stoker
