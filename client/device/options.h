#ifndef STOKER_CLIENT_DEVICE_OPTIONS_H_
#define STOKER_CLIENT_DEVICE_OPTIONS_H_

#include <cstdint>

namespace stoker {

// Says whether the slabs that a GPU copies from are page-locked. If locking fails, kOn is an error; kAuto goes on with
// pageable memory, and says so in Device::Warnings().
enum class Pin { kAuto, kOn, kOff };

// How a device gets its host memory.
struct DeviceOptions {
  Pin pin = Pin::kAuto;
  uint64_t pinned_bytes = 0;  // upper bound of page-locked slabs, in bytes; 0: no bound
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_OPTIONS_H_
