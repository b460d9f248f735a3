#ifndef STOKER_COMMON_OPS_DESCRIPTION_H_
#define STOKER_COMMON_OPS_DESCRIPTION_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/fields/image_size.h"
#include "common/identity/draws.h"
#include "common/ops/cost.h"
#include "common/ops/device_traits.h"
#include "common/ops/parameters.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Everything that this code base knows of one op, in one place: Description<v1::RandomCrop> is a specialization in
// shape.h. What ops.h offers follows from it, by visit.h, which lists all ops. A new op is a message in pipeline.proto,
// a Description and a line in visit.h; without any of these nothing compiles.
//
// A Description of `Arguments`, the op's own message, has these static members. All but Validate require valid
// arguments, and none looks at the probability `p`, which ops.cc takes care of.
//
//   constexpr Placements kPlacements    Where the op can run.
//   constexpr Acts kActs                Which fields of a sample it acts on.
//   Status Validate(op)                 OK, or InvalidArgument that begins with "Op.argument: ".
//   void FillDefaults(op)               Writes defaults and short forms out, so that equal ops have equal bytes.
//   bool IsDeterministic(op)            Whether the op, when it happens, draws the same parameters whatever the key.
//                                       Requires that defaults are filled in.
//   optional<ImageSize> OutputSize(op, input)   The image's size after the op; none where it differs by sample.
//   Status Draw(op, drawing)            Appends the op's parameters for one image, as ops.h's DrawOp. Ops that run on
//                                       the device only, and work on no image of uint8, have none.
//   DeviceTraits OnDevice(op, input)    How a device runs it on an image of uint8. Ops of the server alone have none.
//   Cost CostOf(op, input, output)      What it takes at most, wherever it runs.
//
// An op may also have
//
//   ImageSize MostSize(op, input)       At most the image's height and width after the op, where OutputSize tells none.
//   Status ValidateOnBytes(op)          What holds only where the image is uint8 still, before ToDtype.
template <typename Arguments>
struct Description;

struct Placements {
  bool server = false, device = false;
};
inline constexpr Placements kServerOnly = {.server = true};
inline constexpr Placements kDeviceOnly = {.device = true};
inline constexpr Placements kAnywhere = {.server = true, .device = true};

// What of a sample an op acts on.
enum class Acts {
  kOnGeometry,  // The image and, by the same draw, every field that lies on it: label maps, boxes, keypoints.
  kOnPixels,    // The image's values alone.
  kOnField,     // The field that its arguments name.
  kOnBatch,     // The images and labels of a batch, with one another.
  kAsNested,    // Whatever the ops in it act on.
};

class SampleBoxes;

// One op's draws for one image, and what comes of them.
struct Drawing {
  const DrawKey& key;
  Draws draws;      // By `key`.
  ImageSize& size;  // The image's; becomes the output's.
  std::vector<OpParameters>& parameters;
  const SampleBoxes* boxes = nullptr;  // The sample's, for ops that look at them; null where there are none.
};

// The answers of an op that has neither defaults nor short forms to write out, and keeps the image's size.
template <typename Arguments>
struct SameSize {
  static void FillDefaults(Arguments&) {}
  static std::optional<ImageSize> OutputSize(const Arguments&, std::optional<ImageSize> input) { return input; }
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_DESCRIPTION_H_
