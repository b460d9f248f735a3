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

v1::Field Places(std::vector<int64_t> dense_shape, v1::Dtype dtype = v1::DTYPE_INT32) {
  v1::Field field;
  field.set_name("words"), field.set_dtype(dtype), field.set_kind(v1::FIELD_KIND_SPARSE);
  for (const int64_t extent : dense_shape) field.add_dense_shape(extent);
  field.set_max_bytes(400), field.set_typical_bytes(40);
  return field;
}

v1::Field Values() {
  v1::Field field;
  field.set_name("words.values"), field.set_dtype(v1::DTYPE_FLOAT16), field.set_kind(v1::FIELD_KIND_RAGGED);
  field.set_max_bytes(200);
  return field;
}

TEST(CompanionsTest, PlacesHaveTheTypeThatTheirArrayNeeds) {
  EXPECT_TRUE(CheckKind(Places({50000})).ok()) << CheckKind(Places({50000}));
  EXPECT_TRUE(CheckKind(Places({1 << 16, 1 << 15})).ok());
  EXPECT_FALSE(CheckKind(Places({1 << 16, (1 << 15) + 1})).ok());
  EXPECT_TRUE(CheckKind(Places({1 << 16, (1 << 15) + 1}, v1::DTYPE_INT64)).ok());
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{}, {0}, {-3}, {5, 0}, {int64_t{1} << 40, int64_t{1} << 40}})
    EXPECT_FALSE(CheckKind(Places(shape)).ok());
  v1::Field pairs = Values();
  pairs.add_shape(2);
  EXPECT_TRUE(CheckCompanions(std::vector{Places({9})}).ok());
  EXPECT_TRUE(CheckCompanions(std::vector{Places({9}), Values()}).ok());
  EXPECT_FALSE(CheckCompanions(std::vector{Places({9}), pairs}).ok());
}

TEST(CompanionsTest, PlacesThatCannotBeAreFound) {
  const auto message = [](const std::vector<int64_t>& places) {
    return std::string(CheckPlaces(LittleEndian(places), v1::DTYPE_INT64, 10).message());
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({0, 4, 9}), "");
  EXPECT_EQ(message({0, 4, 10}), "index 2 is 10, and the array of its dense_shape has 10 elements");
  EXPECT_EQ(message({-1}), "index 0 is -1, and the array of its dense_shape has 10 elements");
  EXPECT_EQ(message({3, 3}), "index 1 is 3 and the one before it 3; indices must ascend, and none may stand twice");
  EXPECT_NE(message({3, 2}), "");
}

TEST(CompanionsTest, APlaceNeedsOneValue) {
  const std::vector<v1::Field> fields = {Places({10}), Values()};
  const auto check = [&](const std::vector<int32_t>& places, const std::vector<uint32_t>& lengths,
                         const std::vector<uint32_t>& value_lengths) {
    const auto place_bytes = LittleEndian(places), length_bytes = LittleEndian(lengths),
               value_bytes = LittleEndian(value_lengths);
    const std::vector<uint8_t> values(2 * places.size());
    return CheckTogether(fields, std::vector<FieldSamples>{{place_bytes, length_bytes}, {values, value_bytes}});
  };
  EXPECT_TRUE(check({7, 1, 8}, {4, 8}, {2, 4}).ok());
  EXPECT_EQ(check({7, 1, 8}, {4, 8}, {4, 2}).message(), "a span with a sample of 1 indices and 2 values");
  EXPECT_THAT(check({7, 8, 1}, {4, 8}, {2, 4}).message(), HasSubstr("a span where index 1 is 1"));
  EXPECT_FALSE(check({7, 1, 10}, {4, 8}, {2, 4}).ok());
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
