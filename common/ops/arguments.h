#ifndef STOKER_COMMON_OPS_ARGUMENTS_H_
#define STOKER_COMMON_OPS_ARGUMENTS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/fields/schema.h"
#include "common/identity/draws.h"
#include "common/ops/parameters.h"
#include "google/protobuf/message.h"
#include "google/protobuf/repeated_field.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The forms that arguments of several ops share: which values they may have, and what their short forms stand for.
// Validators return InvalidArgument that begins with "Op.argument: "; readers require valid arguments. Pure
// functions, thread-safe.

using Integers = google::protobuf::RepeatedField<int32_t>;
using Numbers = google::protobuf::RepeatedField<double>;

inline constexpr int kMaxExtent = 1 << 14;  // pixels of an output's side
inline constexpr double kMaxFactor = 1000;  // of brightness, contrast, saturation, sharpness, scale
inline constexpr double kMaxDegrees = 3600;

// InvalidArgument: "ColorJitter.hue: reason". `op` is an op's own message.
absl::Status Invalid(const google::protobuf::Message& op, absl::string_view argument, absl::string_view reason);

// Sizes: one number or height and width, each from 1 to kMaxExtent.
absl::Status ValidateSize(const google::protobuf::Message& op, const Integers& size);

// One number is a square.
ImageSize CropSize(const Integers& size);

// From and to.
struct Range {
  double from = 0, to = 0;
};
void Set(Range range, Numbers* numbers);
Range RangeOr(Range otherwise, const Numbers& range);  // `otherwise` where none is given
inline double Uniform(Draws& draws, Range range) { return draws.Uniform(range.from, range.to); }

// Nothing, or an ascending range above 0 and up to `most`.
absl::Status ValidatePositiveRange(const google::protobuf::Message& op, absl::string_view argument,
                                   const Numbers& range, double most);
// An ascending range within [least, most]. Requires two numbers.
absl::Status ValidateRangeWithin(const google::protobuf::Message& op, absl::string_view argument, Range range,
                                 double least, double most);
absl::Status ValidateWithin(const google::protobuf::Message& op, absl::string_view argument, double value, double least,
                            double most);
// The same of an argument that must be given.
absl::Status ValidateGiven(const google::protobuf::Message& op, absl::string_view argument, bool given, double value,
                           double least, double most);

// A number x ≥ 0 for −x to x, or from and to, within [−most, most].
absl::Status ValidateSpread(const google::protobuf::Message& op, absl::string_view argument, const Numbers& numbers,
                            double most);
Range SpreadOf(const Numbers& numbers);  // None is 0 to 0.

// Borders: one number for all, left/right and top/bottom, or left, top, right, bottom.
struct Padding {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
};
absl::Status ValidatePadding(const google::protobuf::Message& op, const Integers& padding);
Padding PaddingOf(const Integers& padding);  // None is 0.
void Set(const Padding& padding, Integers* numbers);

// A label is a whole number from 0 to num_classes − 1. num_classes must be from 1 to 2^20.
absl::Status ValidateClasses(const google::protobuf::Message& op, int64_t num_classes);

// Colors: nothing, one number, or red, green, blue; 0 to 255.
absl::Status ValidateColor(const google::protobuf::Message& op, absl::string_view argument, const Integers& color);
Color ColorOf(const Integers& color);  // None is black.

// `fill` is a color, and `map_fill` a value that a label map may have, which is an int16.
template <typename Arguments>
absl::Status ValidateFill(const Arguments& op) {
  if (absl::Status status = ValidateColor(op, "fill", op.fill()); !status.ok()) return status;
  return ValidateWithin(op, "map_fill", op.map_fill(), INT16_MIN, INT16_MAX);
}
void Set(const Color& color, Integers* numbers);

// A resize takes any interpolation, by default bilinear. A turn takes nearest, its default, or bilinear.
absl::Status ValidateInterpolation(const google::protobuf::Message& op, v1::Interpolation interpolation);
absl::Status ValidateAffineInterpolation(const google::protobuf::Message& op, v1::Interpolation interpolation);
v1::Interpolation OrBilinear(v1::Interpolation interpolation);
v1::Interpolation OrNearest(v1::Interpolation interpolation);

// An op that happens with a probability. (RandomChoice's p are weights.)
template <typename Arguments>
concept HasProbability = requires(const Arguments& arguments) {
  arguments.has_p();
};

template <HasProbability Arguments>
double ProbabilityOf(const Arguments& arguments) {
  if (arguments.has_p()) return arguments.p();
  return std::is_same_v<Arguments, v1::RandomGrayscale> ? 0.1 : std::is_same_v<Arguments, v1::Mosaic> ? 1 : 0.5;
}
absl::Status ValidateProbability(const google::protobuf::Message& op, double p);

// As Python rounds: halves to even.
int64_t RoundHalfToEven(double x);

// Whether all of `numbers` are equal; true of none.
template <typename Repeated>
bool IsOneValue(const Repeated& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
}

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_ARGUMENTS_H_
