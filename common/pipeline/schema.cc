#include "common/pipeline/schema.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

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
