#ifndef STOKER_SERVER_AUGMENT_SAMPLE_SIZES_H_
#define STOKER_SERVER_AUGMENT_SAMPLE_SIZES_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/fields/image_size.h"

namespace stoker {

// Holds a sample's maps to the size of its first image, and without an image to that of each other. Equal sizes are why
// a map draws what its image draws. A plain value.
class SampleSizes {
 public:
  // Takes the size of the image or map in the field `name`. DataLoss where it does not go with those before.
  absl::Status Add(const std::string& name, bool is_map, ImageSize size);

  // The size of the image that all lies on; nothing where there is none.
  std::optional<ImageSize> size() const { return first_.has_value() ? std::optional(first_->size) : std::nullopt; }

 private:
  struct First {
    std::string name;
    ImageSize size;
  };
  std::optional<First> first_;  // the first image, or a map that came before it
  bool has_image_ = false;
};

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_SAMPLE_SIZES_H_
