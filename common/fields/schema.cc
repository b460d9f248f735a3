#include "common/fields/schema.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/check.h"
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

absl::Status CheckKind(const v1::Field& field) {
  if (field.kind() == v1::FIELD_KIND_UNSPECIFIED) return absl::OkStatus();
  const bool has_type = field.dtype() == v1::DTYPE_UINT8 ||
                        (field.dtype() == v1::DTYPE_INT16 && field.kind() == v1::FIELD_KIND_LABEL_MAP);
  if (IsMap(field.kind()) && has_type && field.shape_size() == 2) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("field '", field.name(), "': a ", KindName(field.kind()),
                                                 " cannot be ", DtypeName(field.dtype()), " [",
                                                 absl::StrJoin(field.shape(), ", "), "]"));
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
  return field.kind() == v1::FIELD_KIND_BINARY_MAP ? (elements + 7) / 8 : elements * ByteSize(field.dtype());
}

}  // namespace stoker
