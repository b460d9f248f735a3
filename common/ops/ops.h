#ifndef STOKER_COMMON_OPS_OPS_H_
#define STOKER_COMMON_OPS_OPS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/schema.h"
#include "common/identity/draws.h"
#include "common/ops/parameters.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// One op at a time: what each means, for both placements. Pure functions, thread-safe. Semantics are those of
// torchvision.transforms.v2's class of the same name; the distributions are promised, not its random stream.

// "RandomCrop"; empty where no op is set.
std::string OpName(const v1::Op& op);

// Whether it runs on no server.
bool IsDeviceOnly(const v1::Op& op);

// Where the op runs, its default filled in.
v1::Placement PlacementOf(const v1::Op& op);

// The op with every default written out, so that equal ops have equal bytes.
v1::Op WithDefaults(const v1::Op& op);

// OK, or InvalidArgument that begins with the argument's name: "RandomCrop.size: …".
absl::Status ValidateOp(const v1::Op& op);

// The probability that the op happens at all, its default filled in; none where the op has no such argument.
std::optional<double> Probability(const v1::Op& op);

// Whether the op, which is valid, draws the same parameters whatever the key: it does to an image what it does to it
// always. A probability of 0 or 1 draws nothing.
bool IsDeterministic(const v1::Op& op);

// The size of the op's image, given its input's; none where it differs from sample to sample.
std::optional<ImageSize> OutputSize(const v1::Op& op, std::optional<ImageSize> input);

// Draws the op's parameters by `key` for an image of `size`, which becomes the output's, and appends them to
// `parameters`. Requires a valid op that can run on the server. FailedPrecondition where the op cannot take an image
// of this size: the pipeline's fault, not the sample's.
absl::Status DrawOp(const v1::Op& op, const DrawKey& key, ImageSize& size, std::vector<OpParameters>& parameters);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_OPS_H_
