#include "server/read/formats/lmdb/value.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/formats/lmdb/layout.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::string_literals::operator""s;

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// "IMAGE LABEL", or the error.
std::string WordsOf(const absl::StatusOr<LmdbValue>& value) {
  if (!value.ok()) return std::string(value.status().message());
  const std::string image(value->image.begin(), value->image.end());
  return value->label.has_value() ? absl::StrCat(image, " ", *value->label) : image;
}

std::string Pickled(std::string_view value) { return WordsOf(ParsePickle(BytesOf(value))); }
std::string Packed(std::string_view value) { return WordsOf(ParseMsgpack(BytesOf(value))); }
std::string Datum(std::string_view value) { return WordsOf(ParseDatum(BytesOf(value))); }

// What pickle.dumps((b'jpg', LABEL), PROTOCOL) gives.
TEST(LmdbValueTest, ReadsPickledTuplesOfEachProtocol) {
  EXPECT_EQ(Pickled("\x80\x03"
                    "C\x03jpgq\0K\x07\x86q\x01."s),
            "jpg 7");
  EXPECT_EQ(Pickled("\x80\x04\x95\x0d\0\0\0\0\0\0\0C\x03jpg\x94M\xe7\x03\x86\x94."s), "jpg 999");
  EXPECT_EQ(Pickled("\x80\x05\x95\x0f\0\0\0\0\0\0\0C\x03jpg\x94J\xfe\xff\xff\xff\x86\x94."s), "jpg -2");
  EXPECT_EQ(Pickled("\x80\x03"
                    "B\x03\0\0\0jpg\x8a\x05\0\0\0\0\x01\x86."s),
            "jpg 4294967296");
  EXPECT_EQ(Pickled("\x80\x04\x8e\x03\0\0\0\0\0\0\0jpg\x8a\x01\xff\x86."s), "jpg -1");
  EXPECT_EQ(Pickled("\x80\x04]\x94(C\x03jpg\x94K\x01"
                    "e."s),
            "jpg 1");
  EXPECT_EQ(Pickled("\x80\x04"
                    "C\x03jpg\x94."s),
            "jpg");
}

TEST(LmdbValueTest, RefusesPicklesOfAnythingElse) {
  EXPECT_THAT(Pickled("\x80\x03"
                      "cos\nsystem\nX\x02\0\0\0ls\x85R."s),
              HasSubstr("other than bytes and a number (opcode 99)"));
  EXPECT_THAT(Pickled("\x80\x04"
                      "C\x03jpg\x94"
                      "C\x03jpg\x94\x86."s),
              HasSubstr("other than bytes and a number"));
  EXPECT_THAT(Pickled("\x80\x04K\x01"
                      "C\x03jpg\x94\x86."s),
              HasSubstr("other than bytes and a number"));
  EXPECT_THAT(Pickled("\x80\x04"
                      "C\x09jpg\x86."s),
              HasSubstr("other than bytes"));
  EXPECT_THAT(Pickled("\x80\x04"
                      "C\x03jpg\x86.more"s),
              HasSubstr("does not end where it should"));
  EXPECT_THAT(Pickled("\x80\x04."s), HasSubstr("does not end where it should"));
  EXPECT_EQ(Pickled("\x80\x09"
                    "C\x03jpg."s),
            "is no pickle");
  EXPECT_EQ(Pickled(""), "is no pickle");
}

TEST(LmdbValueTest, ReadsMessagePackArrays) {
  EXPECT_EQ(Packed("\x92\xc4\x03jpg\x07"s), "jpg 7");
  EXPECT_EQ(Packed("\x92\xc5\0\x03jpg\xcd\x03\xe7"s), "jpg 999");
  EXPECT_EQ(Packed("\xdc\0\x02\xa3jpg\xff"s), "jpg -1");
  EXPECT_EQ(Packed("\x92\xda\0\x03jpg\xd2\xff\xff\xff\xfe"s), "jpg -2");
  EXPECT_EQ(Packed("\x91\xc4\x03jpg"s), "jpg");
}

TEST(LmdbValueTest, ReadsArraysOfMsgpackNumpy) {
  const std::string image =
      "\x85\xc4\x02nd\xc3\xc4\x04type\xa3|u1\xc4\x04kind\xc4\0\xc4\x05shape\x91\x03\xc4\x04"
      "data\xc4\x03jpg"s;
  EXPECT_EQ(Packed("\x92" + image + "\x05"), "jpg 5");
  EXPECT_EQ(Packed("\x92" + image +
                   "\x83\xc4\x02nd\xc2\xc4\x04type\xa3<i8\xc4\x04"
                   "data\xc4\x08\x09\0\0\0\0\0\0\0"s),
            "jpg 9");
}

TEST(LmdbValueTest, RefusesMessagePackOfAnythingElse) {
  for (const std::string& value :
       {""s, "\x92"s, "\x92\xc4\x09jpg\x07"s, "\x92\xc4\x03jpg"s, "\x92\x07\xc4\x03jpg"s, "\x93\xc4\x03jpg\x07\x07"s,
        "\x92\xc4\x03jpg\x07more"s, "\x92\xc4\x03jpg\xcb\0\0\0\0\0\0\0\0"s, "\x81\xc4\x03jpg\x07"s,
        "\x92\xdf\xff\xff\xff\xff\xc4\x04type\x07\x07"s, "\x92\xc6\xff\xff\xff\xffjpg\x07"s})
    EXPECT_EQ(Packed(value), "is no MessagePack array of bytes and a number");
}

TEST(LmdbValueTest, ReadsDatums) {
  EXPECT_EQ(Datum("\x22\x03jpg\x28\x07\x38\x01"s), "jpg 7");
  EXPECT_EQ(Datum("\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x22\x03jpg\x38\x01"s), "jpg -1");
  EXPECT_EQ(Datum("\x08\x03\x10\x01\x18\x01\x22\x03rgb"s), "rgb 0");
  EXPECT_THAT(Datum("\x08\x03\x10\x02\x18\x01\x22\x03rgb"s), HasSubstr("3×2×1 pixels with 3 bytes"));
  EXPECT_THAT(Datum("\x35\0\0\0\0"s), HasSubstr("without bytes"));
  EXPECT_EQ(Datum("\x22\x7fjpg\x38\x01"s), "is no Datum");
  EXPECT_EQ(Datum("\xff\xff"s), "is no Datum");
  EXPECT_THAT(Datum("\x08\xff\xff\xff\xff\x0f\x10\xff\xff\xff\xff\x0f\x18\xff\xff\xff\xff\x0f\x22\x01x"s),
              HasSubstr("pixels with 1 bytes"));
}

TEST(LmdbValueTest, PixelsBecomeInterleaved) {
  const std::string wide = "\x08\x03\x10\x01\x18\x02\x22\x06rRgGbB\x28\x05",
                    high = "\x08\x03\x10\x02\x18\x01\x22\x06rRgGbB";
  const auto value = ParseDatum(BytesOf(wide)), other = ParseDatum(BytesOf(high));
  ASSERT_TRUE(value.ok()) << value.status();
  const auto columns = ColumnsOf(*value);
  ASSERT_EQ(columns.size(), 2);
  EXPECT_THAT(columns[0].field->shape, ElementsAre(1, 2, 3));
  std::vector<uint8_t> field;
  ASSERT_TRUE(TakeLmdbPart(*value, "image", *columns[0].field, field).ok());
  EXPECT_EQ(std::string(field.begin(), field.end()), "rgbRGB");
  EXPECT_EQ(TakeLmdbPart(*other, "image", *columns[0].field, field).message(),
            "has 2×1×3 pixels, where the first sample has 1×2×3 pixels");
}

TEST(LmdbLayoutTest, AnEntryShowsItsLayout) {
  const std::string jpeg = "\xff\xd8\xff";
  const auto layout_of = [](std::string_view key, std::string_view value) {
    const auto layout = FindLmdbLayout(key, BytesOf(value));
    return layout.has_value() ? std::string(NameOf(*layout)) : "none";
  };
  EXPECT_EQ(layout_of("cat/1", jpeg), "image");
  EXPECT_EQ(layout_of("image-000000001", jpeg), "numbered");
  EXPECT_EQ(layout_of("0",
                      "\x80\x04"
                      "C\x03" +
                          jpeg + "K\x01\x86."),
            "pickle");
  EXPECT_EQ(layout_of("0", "\x92\xc4\x03" + jpeg + "\x01"), "msgpack");
  EXPECT_EQ(layout_of("0", "\x22\x03" + jpeg + "\x38\x01"), "datum");
  EXPECT_EQ(layout_of("0",
                      "\x22\x03"
                      "abc\x38\x01"),
            "none");
  EXPECT_EQ(layout_of("0", "text"), "none");
}

}  // namespace
}  // namespace stoker
