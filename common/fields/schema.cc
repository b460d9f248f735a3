#include "common/fields/schema.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/check.h"
#include "common/fields/companions.h"
#include "common/status_macros.h"

namespace stoker {

int64_t ByteSize(v1::Dtype dtype) {
  switch (dtype) {
    case v1::DTYPE_UINT8: return 1;
    case v1::DTYPE_INT16:
    case v1::DTYPE_FLOAT16:
    case v1::DTYPE_BFLOAT16: return 2;
    case v1::DTYPE_INT32:
    case v1::DTYPE_FLOAT32: return 4;
    case v1::DTYPE_INT64:
    case v1::DTYPE_FLOAT64: return 8;
    default: return 0;
  }
}

std::string DtypeName(v1::Dtype dtype) {
  return absl::AsciiStrToLower(absl::StripPrefix(v1::Dtype_Name(dtype), "DTYPE_"));
}

bool IsDeviceFloat(v1::Dtype dtype) {
  return dtype == v1::DTYPE_FLOAT32 || dtype == v1::DTYPE_FLOAT16 || dtype == v1::DTYPE_BFLOAT16;
}

bool IsWholeNumber(v1::Dtype dtype) {
  return dtype == v1::DTYPE_UINT8 || dtype == v1::DTYPE_INT16 || dtype == v1::DTYPE_INT32 || dtype == v1::DTYPE_INT64;
}

int64_t WholeNumberAt(const void* elements, v1::Dtype dtype, int64_t i) {
  const auto load = [&]<typename T>(T value) -> int64_t {
    std::memcpy(&value, static_cast<const uint8_t*>(elements) + i * sizeof value, sizeof value);
    return value;
  };
  switch (dtype) {
    case v1::DTYPE_UINT8: return load(uint8_t{});
    case v1::DTYPE_INT16: return load(int16_t{});
    case v1::DTYPE_INT32: return load(int32_t{});
    case v1::DTYPE_INT64: return load(int64_t{});
    default: break;
  }
  STOKER_CHECK(false);
  return 0;
}

std::string KindName(v1::FieldKind kind) {
  if (kind == v1::FIELD_KIND_UNSPECIFIED) return "";
  if (!v1::FieldKind_IsValid(kind)) return absl::StrCat("kind ", static_cast<int>(kind));
  return absl::AsciiStrToLower(absl::StripPrefix(v1::FieldKind_Name(kind), "FIELD_KIND_"));
}

std::string BoxFormatName(v1::BoxFormat format) {
  if (format == v1::BOX_FORMAT_UNSPECIFIED) format = v1::BOX_FORMAT_XYXY;
  return absl::AsciiStrToLower(absl::StripPrefix(v1::BoxFormat_Name(format), "BOX_FORMAT_"));
}

namespace {

// Whether a field of its kind can have its type and shape.
bool HasFormOfKind(const v1::Field& field) {
  const auto& shape = field.shape();
  switch (field.kind()) {
    case v1::FIELD_KIND_LABEL_MAP:
      return shape.size() == 2 && (field.dtype() == v1::DTYPE_UINT8 || field.dtype() == v1::DTYPE_INT16);
    case v1::FIELD_KIND_BINARY_MAP: return shape.size() == 2 && field.dtype() == v1::DTYPE_UINT8;
    case v1::FIELD_KIND_RAGGED: return ByteSize(field.dtype()) > 0;
    case v1::FIELD_KIND_BYTES:
    case v1::FIELD_KIND_TEXT: return shape.empty() && field.dtype() == v1::DTYPE_UINT8;
    case v1::FIELD_KIND_BOXES: return shape.size() == 1 && shape[0] == 4 && field.dtype() == v1::DTYPE_FLOAT32;
    case v1::FIELD_KIND_KEYPOINTS:
      return !shape.empty() && shape[shape.size() - 1] == 2 && field.dtype() == v1::DTYPE_FLOAT32;
    case v1::FIELD_KIND_SPARSE: return shape.empty() && field.dtype() == IndexDtype(field.dense_shape());
    case v1::FIELD_KIND_RAGGED_IMAGE: return shape.size() == 1 && shape[0] == 3 && field.dtype() == v1::DTYPE_UINT8;
    case v1::FIELD_KIND_AUDIO:
      return shape.size() == 1 && (field.dtype() == v1::DTYPE_INT16 || field.dtype() == v1::DTYPE_FLOAT16);
    default: return field.kind() == v1::FIELD_KIND_UNSPECIFIED;
  }
}

}  // namespace

absl::Status CheckKind(const v1::Field& field) {
  if (!HasFormOfKind(field))
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name(), "': ", KindName(field.kind()),
                                                   " cannot be ", DtypeName(field.dtype()), " [",
                                                   absl::StrJoin(field.shape(), ", "), "]"));
  if (!IsVariable(field.kind())) return absl::OkStatus();
  const uint64_t row = RowBytes(field);
  if (field.max_bytes() < row || field.max_bytes() > kMaxSampleBytes - kLengthBytes)
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name(), "': max_bytes: ", field.max_bytes(),
                                                   " is not between ", row, ", the bytes of one row, and ",
                                                   kMaxSampleBytes - kLengthBytes));
  if (field.typical_bytes() > field.max_bytes())
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name(), "': typical_bytes: ", field.typical_bytes(),
                                                   " is above max_bytes, ", field.max_bytes()));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ElementCount(const v1::Field& field) {
  const uint64_t most = kMaxSampleBytes / std::max<int64_t>(ByteSize(field.dtype()), 1);
  uint64_t elements = 1;
  for (int64_t extent : field.shape()) {
    if (extent < 1 || elements > most / extent)
      return absl::InvalidArgumentError(absl::StrCat("field '", field.name(), "': shape ",
                                                     absl::StrJoin(field.shape(), "×"), " is empty or above ",
                                                     kMaxSampleBytes, " bytes"));
    elements *= extent;
  }
  return elements;
}

absl::StatusOr<uint64_t> ByteSize(const v1::Field& field) {
  STOKER_ASSIGN_OR_RETURN(const uint64_t elements, ElementCount(field));
  if (IsVariable(field.kind())) return kLengthBytes + std::min(field.max_bytes(), kMaxSampleBytes);
  return field.kind() == v1::FIELD_KIND_BINARY_MAP ? (elements + 7) / 8 : elements * ByteSize(field.dtype());
}

uint64_t DenseBytes(const SourceField& field) {
  uint64_t bytes = ByteSize(field.dtype);
  for (const int64_t dimension : field.shape) {
    if (dimension < 0 || static_cast<uint64_t>(dimension) > kMaxSampleBytes / std::max<uint64_t>(bytes, 1))
      return kMaxSampleBytes + 1;
    bytes *= dimension;
  }
  return bytes;
}

uint64_t TypicalBytes(const v1::Field& field) {
  if (IsVariable(field.kind())) return kLengthBytes + field.typical_bytes();
  return ByteSize(field).value_or(0);
}

uint64_t RowBytes(const v1::Field& field) { return ElementCount(field).value_or(0) * ByteSize(field.dtype()); }

}  // namespace stoker
