#include "server/augment/sample_sizes.h"

#include "absl/strings/str_cat.h"

namespace stoker {

absl::Status SampleSizes::Add(const std::string& name, bool is_map, ImageSize size) {
  if (!is_map && has_image_) return absl::OkStatus();
  has_image_ = has_image_ || !is_map;
  if (!first_.has_value()) {
    first_ = {name, size};
    return absl::OkStatus();
  }
  if (first_->size == size) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("its field '", first_->name, "' has ", first_->size.width, "×",
                                          first_->size.height, " pixels, and '", name, "' ", size.width, "×",
                                          size.height, "; a map has the size of the image that it lies on"));
}

}  // namespace stoker
