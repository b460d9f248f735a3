#ifndef STOKER_CLIENT_DEVICE_OPTIONS_H_
#define STOKER_CLIENT_DEVICE_OPTIONS_H_

#include <cstdint>

namespace stoker {

// Whether the slabs that a GPU copies from are page-locked. kAuto goes on with pageable memory where locking fails, and
// says so in Device::Warnings().
enum class Pin { kAuto, kOn, kOff };

// How a device gets its host memory.
struct DeviceOptions {
  Pin pin = Pin::kAuto;
  uint64_t pinned_bytes = 0;  // Upper bound of page-locked memory; 0 sets none.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_OPTIONS_H_
