#include "common/fields/cast.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/check.h"
#include "common/fields/schema.h"

namespace stoker {
namespace {

// Bytes have few values: from so many elements on, and up to so many scales, a table of what they become is faster.
constexpr size_t kBytesForTable = 4096, kMostScalesInTable = 16;

// What Cast does, for bytes.
template <Number kTo>
void CastByTable(std::span<const uint8_t> in, const Scaling& scaling, uint8_t* out) {
  constexpr int64_t kSize = ByteSize(kTo);
  const size_t period = std::max<size_t>(scaling.scale.size(), 1);
  std::vector<uint8_t> table(period * 256 * kSize);
  for (size_t i = 0; i < period * 256; ++i) {
    auto x = static_cast<float>(i % 256);
    if (!scaling.scale.empty()) x = x * scaling.scale[i / 256] + scaling.bias[i / 256];
    StoreFloat(kTo, x, &table[i * kSize]);
  }
  size_t at = 0;  // in the scaling
  for (const uint8_t byte : in) {
    std::memcpy(out, &table[(at * 256 + byte) * kSize], kSize);
    out += kSize;
    if (++at == period) at = 0;
  }
}

template <Number kFrom, Number kTo>
void Cast(std::span<const uint8_t> in, const Scaling& scaling, uint8_t* out) {
  if constexpr (kFrom == Number::kUint8)
    if (in.size() >= kBytesForTable && scaling.scale.size() <= kMostScalesInTable)
      return CastByTable<kTo>(in, scaling, out);
  const int64_t count = std::ssize(in) / ByteSize(kFrom);
  const size_t period = scaling.scale.size();
  size_t at = 0;  // in the scaling
  for (int64_t i = 0; i < count; ++i) {
    float x = LoadNumber(kFrom, in.data() + i * ByteSize(kFrom));
    if (period > 0) {
      x = x * scaling.scale[at] + scaling.bias[at];
      if (++at == period) at = 0;
    }
    StoreFloat(kTo, x, out + i * ByteSize(kTo));
  }
}

template <Number kFrom>
void CastFrom(std::span<const uint8_t> in, const Scaling& scaling, v1::Dtype to, uint8_t* out) {
  switch (to) {
    case v1::DTYPE_FLOAT16: return Cast<kFrom, Number::kFloat16>(in, scaling, out);
    case v1::DTYPE_BFLOAT16: return Cast<kFrom, Number::kBfloat16>(in, scaling, out);
    default: return Cast<kFrom, Number::kFloat32>(in, scaling, out);
  }
}

}  // namespace

Number NumberOf(v1::Dtype dtype) {
  switch (dtype) {
    case v1::DTYPE_UINT8: return Number::kUint8;
    case v1::DTYPE_INT16: return Number::kInt16;
    case v1::DTYPE_INT32: return Number::kInt32;
    case v1::DTYPE_INT64: return Number::kInt64;
    case v1::DTYPE_FLOAT16: return Number::kFloat16;
    case v1::DTYPE_BFLOAT16: return Number::kBfloat16;
    case v1::DTYPE_FLOAT32: return Number::kFloat32;
    case v1::DTYPE_FLOAT64: return Number::kFloat64;
    default: break;
  }
  STOKER_CHECK(false);
  return Number::kUint8;
}

void CastNumbers(std::span<const uint8_t> in, v1::Dtype from, const Scaling& scaling, v1::Dtype to, uint8_t* out) {
  STOKER_CHECK(IsDeviceFloat(to) && scaling.scale.size() == scaling.bias.size());
  switch (NumberOf(from)) {
    case Number::kUint8: return CastFrom<Number::kUint8>(in, scaling, to, out);
    case Number::kInt16: return CastFrom<Number::kInt16>(in, scaling, to, out);
    case Number::kInt32: return CastFrom<Number::kInt32>(in, scaling, to, out);
    case Number::kInt64: return CastFrom<Number::kInt64>(in, scaling, to, out);
    case Number::kFloat16: return CastFrom<Number::kFloat16>(in, scaling, to, out);
    case Number::kBfloat16: return CastFrom<Number::kBfloat16>(in, scaling, to, out);
    case Number::kFloat32: return CastFrom<Number::kFloat32>(in, scaling, to, out);
    case Number::kFloat64: return CastFrom<Number::kFloat64>(in, scaling, to, out);
  }
}

}  // namespace stoker
