#include "common/fields/cast.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;

template <typename T>
std::vector<uint8_t> Bytes(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename To, typename From>
std::vector<To> Cast(const std::vector<From>& values, v1::Dtype from, v1::Dtype to, const Scaling& scaling = {}) {
  std::vector<To> out(values.size());
  CastNumbers(Bytes(values), from, scaling, to, reinterpret_cast<uint8_t*>(out.data()));
  return out;
}

TEST(CastTest, EveryTypeBecomesTheNearestFloat32) {
  const auto from = [](const auto& values, v1::Dtype dtype) { return Cast<float>(values, dtype, v1::DTYPE_FLOAT32); };
  EXPECT_THAT(from(std::vector<uint8_t>{0, 200, 255}, v1::DTYPE_UINT8), ElementsAre(0, 200, 255));
  EXPECT_THAT(from(std::vector<int16_t>{-32768, 7}, v1::DTYPE_INT16), ElementsAre(-32768, 7));
  EXPECT_THAT(from(std::vector<int32_t>{-5, 16777217}, v1::DTYPE_INT32), ElementsAre(-5, 16777216));
  EXPECT_THAT(from(std::vector<int64_t>{-1, int64_t{1} << 40}, v1::DTYPE_INT64), ElementsAre(-1, 0x1p40f));
  EXPECT_THAT(from(std::vector<double>{0.1, -1e300}, v1::DTYPE_FLOAT64),
              ElementsAre(0.1f, -std::numeric_limits<float>::infinity()));
  EXPECT_THAT(from(std::vector<float>{0.1f, -3}, v1::DTYPE_FLOAT32), ElementsAre(0.1f, -3));
  EXPECT_THAT(from(std::vector<uint16_t>{0x3c00, 0xc000, 0x0001, 0x8000}, v1::DTYPE_FLOAT16),
              ElementsAre(1, -2, 0x1p-24f, -0.0f));
  EXPECT_THAT(from(std::vector<uint16_t>{0x3f80, 0xc040}, v1::DTYPE_BFLOAT16), ElementsAre(1, -3));
}

TEST(CastTest, HalfFloatsAreThere) {
  EXPECT_THAT((Cast<uint16_t>(std::vector<float>{1, 65504, 0x1p-24f}, v1::DTYPE_FLOAT32, v1::DTYPE_FLOAT16)),
              ElementsAre(0x3c00, 0x7bff, 0x0001));
  EXPECT_THAT((Cast<uint16_t>(std::vector<float>{1, -3}, v1::DTYPE_FLOAT32, v1::DTYPE_BFLOAT16)),
              ElementsAre(0x3f80, 0xc040));
}

TEST(CastTest, EveryFloat16AndBfloat16ComesBack) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if (!std::isnan(FromFloat16(half))) {
      ASSERT_EQ(ToFloat16(FromFloat16(half)), half);
    }
    if (!std::isnan(FromBfloat16(half))) {
      ASSERT_EQ(ToBfloat16(FromBfloat16(half)), half);
    }
  }
  EXPECT_TRUE(std::isnan(FromFloat16(0x7e00)) && std::isinf(FromFloat16(0xfc00)));
}

TEST(CastTest, ScalingRunsOverTheElementsAgainAndAgain) {
  const float scale[] = {2, 0.5}, bias[] = {1, -1};
  EXPECT_THAT((Cast<float>(std::vector<uint8_t>{1, 2, 3, 4}, v1::DTYPE_UINT8, v1::DTYPE_FLOAT32, {scale, bias})),
              ElementsAre(3, 0, 7, 1));
}

TEST(CastTest, ManyBytesBecomeWhatFewBecome) {
  std::vector<uint8_t> bytes(5001);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 167 >> 2);
  const std::vector<float> scale = {0.01f, 0.02f, 0.03f}, bias = {-1, 0, 0.7f};
  for (const Scaling& scaling : {Scaling{}, Scaling{scale, bias}})
    for (v1::Dtype to : {v1::DTYPE_FLOAT32, v1::DTYPE_FLOAT16, v1::DTYPE_BFLOAT16}) {
      const size_t size = ByteSize(NumberOf(to));
      std::vector<uint8_t> all(bytes.size() * size), parts(bytes.size() * size);
      CastNumbers(bytes, v1::DTYPE_UINT8, scaling, to, all.data());
      for (size_t i = 0; i < bytes.size(); i += 3)
        CastNumbers(std::span(bytes).subspan(i, 3), v1::DTYPE_UINT8, scaling, to, &parts[i * size]);
      EXPECT_EQ(all, parts);
    }
}

TEST(CastTest, WithoutScalingZerosKeepTheirSigns) {
  const std::vector<float> made = Cast<float>(std::vector<double>{-0.0, 0.0}, v1::DTYPE_FLOAT64, v1::DTYPE_FLOAT32);
  EXPECT_TRUE(std::signbit(made[0]) && !std::signbit(made[1]));
}

}  // namespace
}  // namespace stoker
