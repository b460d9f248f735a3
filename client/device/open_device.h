#ifndef STOKER_CLIENT_DEVICE_OPEN_DEVICE_H_
#define STOKER_CLIENT_DEVICE_OPEN_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/device/device.h"

namespace stoker {

// Whether the slabs that a GPU copies from are page-locked. kAuto goes on with pageable memory where locking fails, and
// says so in Warnings().
enum class Pin { kAuto, kOn, kOff };

// How a device gets its host memory.
struct DeviceOptions {
  Pin pin = Pin::kAuto;
  uint64_t pinned_bytes = 0;  // At most so many; 0: no bound.
};

// "cpu", "cuda" (the first GPU) or "cuda:1". InvalidArgument for other names, FailedPrecondition where this build is
// without CUDA, or this machine without a driver or such a GPU.
absl::StatusOr<std::shared_ptr<Device>> OpenDevice(const std::string& name, const DeviceOptions& options = {});

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_OPEN_DEVICE_H_
