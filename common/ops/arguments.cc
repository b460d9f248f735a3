#include "common/ops/arguments.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace stoker {

using google::protobuf::Message;

absl::Status Invalid(const Message& op, absl::string_view argument, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(op.GetDescriptor()->name(), ".", argument, ": ", reason));
}

absl::Status ValidateSize(const Message& op, const Integers& size) {
  if (size.size() != 1 && size.size() != 2)
    return Invalid(op, "size", absl::StrCat("give one number or height and width; found ", size.size(), " numbers"));
  for (int extent : size)
    if (extent < 1 || extent > kMaxExtent)
      return Invalid(op, "size", absl::StrCat(extent, " is not between 1 and ", kMaxExtent));
  return absl::OkStatus();
}

ImageSize CropSize(const Integers& size) { return {size[0], size[size.size() - 1]}; }

void Set(Range range, Numbers* numbers) {
  numbers->Clear();
  for (double number : {range.from, range.to}) numbers->Add(number);
}

Range RangeOr(Range otherwise, const Numbers& range) { return range.empty() ? otherwise : Range{range[0], range[1]}; }

absl::Status ValidatePositiveRange(const Message& op, absl::string_view argument, const Numbers& range, double most) {
  if (range.empty()) return absl::OkStatus();
  if (range.size() != 2)
    return Invalid(op, argument, absl::StrCat("give two numbers, from and to; found ", range.size()));
  if (!(range[0] > 0 && range[0] <= range[1] && range[1] <= most))
    return Invalid(op, argument,
                   absl::StrCat("[", range[0], ", ", range[1], "] is not an ascending range above 0 and up to ", most));
  return absl::OkStatus();
}

absl::Status ValidateRangeWithin(const Message& op, absl::string_view argument, Range range, double least,
                                 double most) {
  if (!(range.from >= least && range.from <= range.to && range.to <= most))
    return Invalid(
        op, argument,
        absl::StrCat("[", range.from, ", ", range.to, "] is not an ascending range within ", least, " and ", most));
  return absl::OkStatus();
}

absl::Status ValidateWithin(const Message& op, absl::string_view argument, double value, double least, double most) {
  if (!(value >= least && value <= most))
    return Invalid(op, argument, absl::StrCat(value, " is not between ", least, " and ", most));
  return absl::OkStatus();
}

absl::Status ValidateGiven(const Message& op, absl::string_view argument, bool given, double value, double least,
                           double most) {
  return given ? ValidateWithin(op, argument, value, least, most) : Invalid(op, argument, "must be given");
}

absl::Status ValidateSpread(const Message& op, absl::string_view argument, const Numbers& numbers, double most) {
  switch (numbers.size()) {
    case 0: return absl::OkStatus();
    case 1: return ValidateWithin(op, argument, numbers[0], 0, most);
    case 2: return ValidateRangeWithin(op, argument, {numbers[0], numbers[1]}, -most, most);
    default:
      return Invalid(op, argument, absl::StrCat("give one number, or from and to; found ", numbers.size(), " numbers"));
  }
}

Range SpreadOf(const Numbers& numbers) {
  if (numbers.empty()) return {0, 0};
  return numbers.size() == 1 ? Range{-numbers[0], numbers[0]} : Range{numbers[0], numbers[1]};
}

absl::Status ValidatePadding(const Message& op, const Integers& padding) {
  if (int n = padding.size(); n != 0 && n != 1 && n != 2 && n != 4)
    return Invalid(op, "padding", absl::StrCat("give 1, 2 or 4 numbers; found ", n));
  for (int pixels : padding)
    if (pixels < 0 || pixels > kMaxExtent)
      return Invalid(op, "padding", absl::StrCat(pixels, " is not between 0 and ", kMaxExtent));
  return absl::OkStatus();
}

Padding PaddingOf(const Integers& padding) {
  const auto& p = padding;
  switch (p.size()) {
    case 0: return {};
    case 1: return {p[0], p[0], p[0], p[0]};
    case 2: return {p[0], p[1], p[0], p[1]};
    default: return {p[0], p[1], p[2], p[3]};
  }
}

void Set(const Padding& padding, Integers* numbers) {
  numbers->Clear();
  for (int64_t pixels : {padding.left, padding.top, padding.right, padding.bottom})
    numbers->Add(static_cast<int32_t>(pixels));
}

absl::Status ValidateClasses(const google::protobuf::Message& op, int64_t num_classes) {
  constexpr int64_t kMost = 1 << 20;
  if (num_classes < 1 || num_classes > kMost)
    return Invalid(op, "num_classes", absl::StrCat("must be given, from 1 to ", kMost, "; found ", num_classes));
  return absl::OkStatus();
}

absl::Status ValidateColor(const Message& op, absl::string_view argument, const Integers& color) {
  if (int n = color.size(); n != 0 && n != 1 && n != 3)
    return Invalid(op, argument, absl::StrCat("give one number, or red, green and blue; found ", n));
  for (int value : color)
    if (value < 0 || value > 255) return Invalid(op, argument, absl::StrCat(value, " is not between 0 and 255"));
  return absl::OkStatus();
}

Color ColorOf(const Integers& color) {
  Color values = {};
  for (int channel = 0; channel < 3 && !color.empty(); ++channel)
    values[channel] = static_cast<uint8_t>(color[color.size() == 1 ? 0 : channel]);
  return values;
}

void Set(const Color& color, Integers* numbers) {
  numbers->Clear();
  for (uint8_t value : color) numbers->Add(value);
}

absl::Status ValidateInterpolation(const Message& op, v1::Interpolation interpolation) {
  if (!v1::Interpolation_IsValid(interpolation))
    return Invalid(op, "interpolation", absl::StrCat("unknown value ", interpolation));
  return absl::OkStatus();
}

absl::Status ValidateAffineInterpolation(const Message& op, v1::Interpolation interpolation) {
  const v1::Interpolation chosen = OrNearest(interpolation);
  if (chosen != v1::INTERPOLATION_NEAREST && chosen != v1::INTERPOLATION_BILINEAR)
    return Invalid(op, "interpolation", "must be nearest or bilinear");
  return absl::OkStatus();
}

v1::Interpolation OrBilinear(v1::Interpolation interpolation) {
  return interpolation == v1::INTERPOLATION_UNSPECIFIED ? v1::INTERPOLATION_BILINEAR : interpolation;
}

v1::Interpolation OrNearest(v1::Interpolation interpolation) {
  return interpolation == v1::INTERPOLATION_UNSPECIFIED ? v1::INTERPOLATION_NEAREST : interpolation;
}

absl::Status ValidateProbability(const Message& op, double p) {
  if (!(p >= 0 && p <= 1)) return Invalid(op, "p", absl::StrCat(p, " is not a probability"));
  return absl::OkStatus();
}

int64_t RoundHalfToEven(double x) { return static_cast<int64_t>(std::nearbyint(x)); }

}  // namespace stoker
