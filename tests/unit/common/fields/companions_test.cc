#include "common/fields/companions.h"

#include <vector>

#include "common/fields/schema.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

v1::Field Images() {
  v1::Field field;
  field.set_name("image"), field.set_dtype(v1::DTYPE_UINT8), field.add_shape(3);
  field.set_kind(v1::FIELD_KIND_RAGGED_IMAGE), field.set_max_bytes(300), field.set_typical_bytes(75);
  return field;
}

v1::Field Sides() {
  v1::Field field;
  field.set_name("image.sizes"), field.set_dtype(v1::DTYPE_INT32), field.add_shape(2);
  return field;
}

template <typename T>
std::vector<uint8_t> LittleEndian(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {bytes, bytes + values.size() * sizeof(T)};
}

TEST(CompanionsTest, ImagesOfNativeSizeHaveTheirSizesRightBehindThem) {
  ASSERT_TRUE(CheckKind(Images()).ok()) << CheckKind(Images());
  EXPECT_TRUE(CheckCompanions(std::vector{Images(), Sides()}).ok());
  v1::Field wide = Sides(), other = Sides();
  wide.set_dtype(v1::DTYPE_INT64);
  other.set_name("photo.sizes");
  for (const auto& fields : {std::vector{Images()}, {Sides(), Images()}, {Images(), wide}, {Images(), other}})
    EXPECT_THAT(CheckCompanions(fields).message(), HasSubstr("no heights and widths follow it"));
}

TEST(CompanionsTest, SizesThatAreNotThoseOfThePixelsAreFound) {
  const std::vector<v1::Field> fields = {Images(), Sides()};
  const std::vector<uint8_t> pixels(3 * (6 + 1));
  const auto check = [&](const std::vector<int32_t>& sides, const std::vector<uint32_t>& lengths) {
    const std::vector<uint8_t> side_bytes = LittleEndian(sides), length_bytes = LittleEndian(lengths);
    return CheckTogether(fields, std::vector<FieldSamples>{{pixels, length_bytes}, {side_bytes, {}}});
  };
  EXPECT_TRUE(check({2, 3, 1, 1}, {18, 3}).ok());
  EXPECT_TRUE(check({6, 1, 1, 1}, {18, 3}).ok());
  EXPECT_EQ(check({3, 3, 1, 1}, {18, 3}).message(), "a span with an image of 3×3 pixels that has 18 bytes");
  EXPECT_FALSE(check({-2, -3, 1, 1}, {18, 3}).ok());
  EXPECT_FALSE(check({2, 3, 0, 5}, {18, 0}).ok());
  EXPECT_FALSE(check({2147483647, 2147483647, 1, 1}, {18, 3}).ok());
}

}  // namespace
}  // namespace stoker
