#include "client/cli/native_images.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/fields/companions.h"

namespace stoker {
namespace {

constexpr int64_t kColors = 3;
constexpr uint8_t kBeside = 32;  // The contact sheet's background.
constexpr uint64_t kMostCanvasBytes = uint64_t{2} << 30;

const Tensor* TensorNamed(const std::vector<Tensor>& fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Tensor& t) { return t.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace

absl::StatusOr<std::optional<NativeImages>> FindNativeImages(const std::vector<Tensor>& fields, int64_t count) {
  const auto values = std::find_if(fields.begin(), fields.end(), [&](const Tensor& tensor) {
    return TensorNamed(fields, SizesName(tensor.name)) != nullptr &&
           TensorNamed(fields, OffsetsName(tensor.name)) != nullptr;
  });
  if (values == fields.end()) return std::nullopt;
  const auto* sizes = static_cast<const int32_t*>(TensorNamed(fields, SizesName(values->name))->data);
  const auto* offsets = static_cast<const int64_t*>(TensorNamed(fields, OffsetsName(values->name))->data);
  const int64_t images = std::min(count, TensorNamed(fields, SizesName(values->name))->shape[0]);
  int64_t height = 1, width = 1;
  for (int64_t i = 0; i < images; ++i) {
    height = std::max<int64_t>(height, sizes[2 * i]);
    width = std::max<int64_t>(width, sizes[2 * i + 1]);
  }
  const uint64_t bytes = images * height * width * kColors;
  if (bytes > kMostCanvasBytes)
    return absl::ResourceExhaustedError(
        absl::StrCat(images, " images of up to ", width, "×", height, " pixels are too many; give a smaller --count"));
  NativeImages made;
  made.pixels.assign(bytes, kBeside);
  for (int64_t i = 0; i < images; ++i) {
    const uint8_t* row = static_cast<const uint8_t*>(values->data) + offsets[i] * kColors;
    const int64_t row_bytes = sizes[2 * i + 1] * kColors;
    for (int64_t y = 0; y < sizes[2 * i]; ++y, row += row_bytes)
      std::copy_n(row, row_bytes, &made.pixels[(i * height + y) * width * kColors]);
  }
  made.tensor = {.name = values->name, .shape = {images, height, width, kColors}, .data = made.pixels.data()};
  made.tensor.bytes = bytes;
  return std::optional(std::move(made));
}

}  // namespace stoker
