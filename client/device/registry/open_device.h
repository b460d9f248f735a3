#ifndef STOKER_CLIENT_DEVICE_REGISTRY_OPEN_DEVICE_H_
#define STOKER_CLIENT_DEVICE_REGISTRY_OPEN_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/device/device.h"
#include "client/device/options.h"

namespace stoker {

// Opens the device called "cpu", "cuda" (the first GPU) or "cuda:1". InvalidArgument for other names.
// FailedPrecondition if this build has no CUDA, or this machine no driver or no such GPU.
absl::StatusOr<std::shared_ptr<Device>> OpenDevice(const std::string& name, const DeviceOptions& options = {});

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_REGISTRY_OPEN_DEVICE_H_
