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
#include "common/picture/picture.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Returns the first field that looks like images, uint8 of N × height × width × 3, or like views of images, N × views ×
// height × width × 3. Null if there is none.
const Tensor* FindImages(const std::vector<Tensor>& fields);

// A label map or binary map of each image, N × height × width, as servers send it.
struct ImageMap {
  Tensor values;
  v1::FieldKind kind;
};

// Boxes or keypoints of each image, as servers send them, and their offsets (see Tensor).
struct ImagePoints {
  Tensor rows, offsets;
  v1::FieldKind kind;
  v1::BoxFormat box_format;
};

// What lies on images.
struct Overlays {
  std::vector<ImageMap> maps;
  std::vector<ImagePoints> points;
  std::vector<Tensor> pictures;  // each as the images, drawn beside them
};

// Returns those of `fields` that are maps of the size of `images`, of which each sample has one, or boxes or keypoints.
// `sent` are the same fields as a server describes them; offsets may follow.
Overlays FindOverlays(const Tensor& images, const std::vector<Tensor>& fields,
                      const google::protobuf::RepeatedPtrField<v1::Field>& sent);

// Draws the first `count` images, or all if there are fewer, side by side, up to eight in a row, with margins between
// them. Each stands before copies of it over which one of its maps is laid, a color for each label but 0, or on which
// its boxes or keypoints are drawn, a color for each row, and its other pictures. Images with a side above 512 pixels
// are made smaller by averaging. Requires a tensor from FindImages, on the CPU, with images of at least one pixel, and
// overlays of them.
//
// Below each image stand its `captions`, in capitals, each in up to three lines. There are none for views, nor beyond
// the end of `captions`.
Picture ContactSheet(const Tensor& images, int64_t count, const Overlays& overlays = {},
                     std::span<const std::vector<std::string>> captions = {});

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_CONTACT_SHEET_H_
