#include "common/ops/tensor.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr int kMaxChannels = 1 << 12;
constexpr int kMaxDimensions = 8;
constexpr int64_t kMaxRows = 1 << 20;  // of a padded sample

}  // namespace

absl::Status Description<v1::ToDtype>::Validate(const v1::ToDtype& op) {
  if (!IsDeviceFloat(op.dtype()) && op.dtype() != v1::DTYPE_UINT8)
    return Invalid(op, "dtype", "must be float32, float16, bfloat16 or uint8");
  if (op.scale() && op.dtype() == v1::DTYPE_UINT8) return Invalid(op, "scale", "needs a dtype of floats");
  if (!op.field().empty() && op.dtype() == v1::DTYPE_UINT8)
    return Invalid(op, "dtype", "of a field that is no image must be float32, float16 or bfloat16");
  return absl::OkStatus();
}

// The device checks how many numbers there are: the op alone does not know the number of channels or elements.
absl::Status Description<v1::Normalize>::Validate(const v1::Normalize& op) {
  for (auto [name, values] : {std::pair("mean", &op.mean()), std::pair("std", &op.std())}) {
    if (values->empty() || values->size() > kMaxChannels)
      return Invalid(op, name,
                     absl::StrCat("give one number, or one for each channel or element, ", kMaxChannels,
                                  " at most; found ", values->size()));
    for (double value : *values)
      if (!std::isfinite(value)) return Invalid(op, name, "must be finite");
  }
  for (double value : op.std())
    if (!(value > 0)) return Invalid(op, "std", absl::StrCat(value, " is not above 0"));
  return absl::OkStatus();
}

absl::Status Description<v1::ToMemoryFormat>::Validate(const v1::ToMemoryFormat& op) {
  if (!v1::MemoryFormat_IsValid(op.memory_format()))
    return Invalid(op, "memory_format", absl::StrCat("unknown value ", op.memory_format()));
  return absl::OkStatus();
}

void Description<v1::ToMemoryFormat>::FillDefaults(v1::ToMemoryFormat& op) {
  if (op.memory_format() == v1::MEMORY_FORMAT_UNSPECIFIED) op.set_memory_format(v1::MEMORY_FORMAT_CHANNELS_FIRST);
}

absl::Status Description<v1::OneHot>::Validate(const v1::OneHot& op) {
  STOKER_RETURN_IF_ERROR(ValidateClasses(op, op.num_classes()));
  if (op.dtype() != v1::DTYPE_UNSPECIFIED && !IsDeviceFloat(op.dtype()) && op.dtype() != v1::DTYPE_UINT8 &&
      op.dtype() != v1::DTYPE_INT64)
    return Invalid(op, "dtype", "must be float32, float16, bfloat16, uint8 or int64");
  return absl::OkStatus();
}

void Description<v1::OneHot>::FillDefaults(v1::OneHot& op) {
  if (op.field().empty()) op.set_field("label");
  if (op.dtype() == v1::DTYPE_UNSPECIFIED) op.set_dtype(v1::DTYPE_FLOAT32);
}

absl::Status Description<v1::LabelSmoothing>::Validate(const v1::LabelSmoothing& op) {
  return ValidateGiven(op, "smoothing", op.has_smoothing(), op.smoothing(), 0, 1);
}

void Description<v1::LabelSmoothing>::FillDefaults(v1::LabelSmoothing& op) {
  if (op.field().empty()) op.set_field("label");
}

absl::Status Description<v1::ToPadded>::Validate(const v1::ToPadded& op) {
  if (op.field().empty()) return Invalid(op, "field", "must be given");
  if (op.rows() < 1 || op.rows() > kMaxRows)
    return Invalid(op, "rows", absl::StrCat("must be given, from 1 to ", kMaxRows, "; found ", op.rows()));
  if (!std::isfinite(op.fill())) return Invalid(op, "fill", "must be finite");
  return absl::OkStatus();
}

absl::Status Description<v1::UnpackBits>::Validate(const v1::UnpackBits& op) {
  if (op.field().empty()) return Invalid(op, "field", "must be given");
  if (op.shape().empty() || op.shape_size() > kMaxDimensions)
    return Invalid(op, "shape", absl::StrCat("give 1 to ", kMaxDimensions, " numbers; found ", op.shape_size()));
  uint64_t elements = 1;
  for (int64_t extent : op.shape()) {
    if (extent < 1 || elements > kMaxSampleBytes / extent)
      return Invalid(op, "shape", absl::StrCat("is empty or above ", kMaxSampleBytes, " elements"));
    elements *= extent;
  }
  if (!v1::BitOrder_IsValid(op.bit_order()))
    return Invalid(op, "bit_order", absl::StrCat("unknown value ", op.bit_order()));
  return absl::OkStatus();
}

void Description<v1::UnpackBits>::FillDefaults(v1::UnpackBits& op) {
  if (op.bit_order() == v1::BIT_ORDER_UNSPECIFIED) op.set_bit_order(v1::BIT_ORDER_BIG);
}

absl::Status Description<v1::ToDense>::Validate(const v1::ToDense& op) {
  return op.field().empty() ? Invalid(op, "field", "must be given") : absl::OkStatus();
}

// Each value once, whatever it is; labels and bits count as nothing beside an image.
Cost Description<v1::ToDtype>::CostOf(const v1::ToDtype& op, ImageSize, ImageSize output) {
  if (!op.field().empty()) return kNoCost;  // The server's pipeline counts the field's numbers.
  return {3 * Pixels(output), 12 * Pixels(output)};
}
Cost Description<v1::Normalize>::CostOf(const v1::Normalize&, ImageSize, ImageSize output) {
  return {6 * Pixels(output), 12 * Pixels(output)};
}
Cost Description<v1::ToMemoryFormat>::CostOf(const v1::ToMemoryFormat&, ImageSize, ImageSize output) {
  return {3 * Pixels(output), 12 * Pixels(output)};
}
Cost Description<v1::OneHot>::CostOf(const v1::OneHot& op, ImageSize, ImageSize) {
  return {static_cast<double>(op.num_classes()), 8.0 * op.num_classes()};
}
Cost Description<v1::LabelSmoothing>::CostOf(const v1::LabelSmoothing&, ImageSize, ImageSize) {
  constexpr double kClasses = 1000;  // The op alone does not know how many there are.
  return {2 * kClasses, 4 * kClasses};
}
Cost Description<v1::ToPadded>::CostOf(const v1::ToPadded& op, ImageSize, ImageSize) {
  return {static_cast<double>(op.rows()), 4.0 * static_cast<double>(op.rows())};
}
Cost Description<v1::UnpackBits>::CostOf(const v1::UnpackBits& op, ImageSize, ImageSize) {
  double elements = 1;
  for (int64_t extent : op.shape()) elements *= static_cast<double>(extent);
  return {elements, elements};
}

}  // namespace stoker
