#ifndef STOKER_COMMON_OPS_OPS_H_
#define STOKER_COMMON_OPS_OPS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/fields/image_size.h"
#include "common/identity/draws.h"
#include "common/ops/cost.h"
#include "common/ops/description.h"
#include "common/ops/device_traits.h"
#include "common/ops/parameters.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// One op at a time: what each means, for both placements. Pure functions, thread-safe. Semantics are those of
// torchvision.transforms.v2's class of the same name; the distributions are promised, not its random stream. What is
// said here of an op comes from its Description.

// "RandomCrop"; empty where no op is set.
std::string OpName(const v1::Op& op);

// Where the op can run. One that holds others runs where all of these can.
Placements PlacementsOf(const v1::Op& op);

// Whether it runs on no server.
inline bool IsDeviceOnly(const v1::Op& op) { return !PlacementsOf(op).server; }

// Where the op runs, its default filled in.
v1::Placement PlacementOf(const v1::Op& op);

// Which fields of a sample the op acts on. One that holds others acts on all that these do; then the first of
// kOnBatch, kOnGeometry, kOnPixels that holds for any of them is said.
Acts ActsOf(const v1::Op& op);

// The op with every default written out, so that equal ops have equal bytes.
v1::Op WithDefaults(const v1::Op& op);

// OK, or InvalidArgument that begins with the argument's name: "RandomCrop.size: …".
absl::Status ValidateOp(const v1::Op& op);

// The same, of a valid op, for what holds only where the image's values are uint8.
absl::Status ValidateOnBytes(const v1::Op& op);

// The probability that the op happens at all, its default filled in; none where the op has no such argument.
std::optional<double> Probability(const v1::Op& op);

// Whether the op, which is valid, draws the same parameters whatever the key: it does to an image what it does to it
// always. A probability of 0 or 1 draws nothing.
bool IsDeterministic(const v1::Op& op);

// The size of the op's image, given its input's; none where it differs from sample to sample.
std::optional<ImageSize> OutputSize(const v1::Op& op, std::optional<ImageSize> input);

// The most that the height and the width of the op's image may be, whatever it draws.
ImageSize MostSize(const v1::Op& op, ImageSize input);

// Draws the op's parameters by `key` for an image of `size`, which becomes the output's, and appends them to
// `parameters`, which has what was drawn before. An op that looks at the sample's boxes takes a null `boxes` for none.
// Requires a valid op that can run on the server. FailedPrecondition where the op cannot take an image of this size:
// the pipeline's fault, not the sample's.
absl::Status DrawOp(const v1::Op& op, const DrawKey& key, ImageSize& size, std::vector<OpParameters>& parameters,
                    const SampleBoxes* boxes = nullptr);

// How a device runs the op, which is valid and holds no others, on an image of `input`.
DeviceTraits DeviceTraitsOf(const v1::Op& op, ImageSize input);

// What the op, which is valid, takes at most for an image of `input`.
Cost CostOf(const v1::Op& op, ImageSize input);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_OPS_H_
