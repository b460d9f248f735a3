#ifndef STOKER_CLIENT_CLI_NATIVE_IMAGES_H_
#define STOKER_CLIENT_CLI_NATIVE_IMAGES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/device/device.h"

namespace stoker {

// Images of native size, each in the upper left corner of a canvas that takes the largest.
struct NativeImages {
  std::vector<uint8_t> pixels;
  Tensor tensor;  // N × height × width × 3, of `pixels`
};

// Returns the first `count` images, or all if there are fewer, of the first field of `fields` that has native sizes, as
// servers send them; nothing where there is none. ResourceExhausted where the canvases take more than 2 GiB.
absl::StatusOr<std::optional<NativeImages>> FindNativeImages(const std::vector<Tensor>& fields, int64_t count);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_NATIVE_IMAGES_H_
