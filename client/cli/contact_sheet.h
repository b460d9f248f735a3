#ifndef STOKER_CLIENT_CLI_CONTACT_SHEET_H_
#define STOKER_CLIENT_CLI_CONTACT_SHEET_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/device/device.h"
#include "client/loader/batch.h"

namespace stoker {

// A picture of height × width × 3 bytes, red first.
struct Picture {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> pixels;
};

// The first field that looks like images, N × height × width × 3 uint8, or views, N × views × height × width × 3; or
// null.
const Tensor* FindImages(const std::vector<Tensor>& fields);

// The first `count` images (or all, if there are fewer) of FindImages side by side, eight in a row, with margins
// between. Images with a side above 512 are made smaller by averaging. Requires images of at least one pixel.
Picture ContactSheet(const Tensor& images, int64_t count);

// The picture as a PNG file. ResourceExhausted if there is no memory for it.
absl::StatusOr<std::string> EncodePng(const Picture& picture);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_CONTACT_SHEET_H_
