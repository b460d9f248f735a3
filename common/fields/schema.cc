#include "common/fields/schema.h"

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/check.h"

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

absl::StatusOr<uint64_t> ByteSize(const v1::Field& field) {
  uint64_t bytes = ByteSize(field.dtype());
  for (int64_t extent : field.shape()) {
    if (extent < 1 || bytes > kMaxSampleBytes / extent)
      return absl::InvalidArgumentError(absl::StrCat("field '", field.name(), "': shape ",
                                                     absl::StrJoin(field.shape(), "×"), " is empty or above ",
                                                     kMaxSampleBytes, " bytes"));
    bytes *= extent;
  }
  return bytes;
}

}  // namespace stoker
