#include "client/cli/captions.h"

#include <numeric>
#include <string>
#include <vector>

#include "client/cli/glyphs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;

template <typename Element>
Tensor TensorOf(const char* name, v1::Dtype dtype, std::vector<int64_t> shape, const std::vector<Element>& values) {
  return {.name = name, .dtype = dtype, .shape = std::move(shape), .data = values.data()};
}

std::vector<std::string> LinesOf(const std::vector<Caption>& captions) {
  std::vector<std::string> lines;
  lines.reserve(captions.size());
  for (const Caption& caption : captions) lines.push_back(caption.field + ": " + caption.value);
  return lines;
}

TEST(CaptionsTest, TellTextsAndNumbersOfEachSample) {
  v1::DescribeResponse description;
  const auto add = [&](const char* name, v1::FieldKind kind = v1::FIELD_KIND_UNSPECIFIED) {
    description.add_fields()->set_name(name);
    description.mutable_fields(description.fields_size() - 1)->set_kind(kind);
  };
  add("image");
  add("text", v1::FIELD_KIND_TEXT);
  add("label");
  add("classes", v1::FIELD_KIND_RAGGED);
  add("blob", v1::FIELD_KIND_BYTES);
  add("vector");
  add("map", v1::FIELD_KIND_LABEL_MAP);
  const std::vector<uint8_t> pixels(24), blob(5);
  const std::string text = "a dogcats";
  const std::vector<char> letters(text.begin(), text.end());
  const std::vector<int64_t> labels = {7, -2}, text_offsets = {0, 5, 9}, class_offsets = {0, 0, 11},
                             blob_offsets = {0, 2, 5};
  std::vector<int32_t> classes(11);
  std::iota(classes.begin(), classes.end(), 0);
  const std::vector<float> vectors = {0.5, -1, 2, 1e9};
  const std::vector<Tensor> fields = {TensorOf("image", v1::DTYPE_UINT8, {2, 2, 2, 3}, pixels),
                                      TensorOf("text", v1::DTYPE_UINT8, {9}, letters),
                                      TensorOf("label", v1::DTYPE_INT64, {2}, labels),
                                      TensorOf("classes", v1::DTYPE_INT32, {11}, classes),
                                      TensorOf("blob", v1::DTYPE_UINT8, {5}, blob),
                                      TensorOf("vector", v1::DTYPE_FLOAT32, {2, 2}, vectors),
                                      TensorOf("map", v1::DTYPE_UINT8, {2, 2, 2}, pixels),
                                      TensorOf("text.offsets", v1::DTYPE_INT64, {3}, text_offsets),
                                      TensorOf("classes.offsets", v1::DTYPE_INT64, {3}, class_offsets),
                                      TensorOf("blob.offsets", v1::DTYPE_INT64, {3}, blob_offsets)};
  const auto captions = CaptionsOf(fields, 2, description.fields());
  ASSERT_EQ(captions.size(), 2);
  EXPECT_THAT(LinesOf(captions[0]),
              ElementsAre("text: a dog", "label: 7", "classes: none", "blob: 2 bytes", "vector: 0.5 -1"));
  EXPECT_THAT(LinesOf(captions[1]), ElementsAre("text: cats", "label: -2", "classes: 0 1 2 3 4 5 6 7 ... of 11",
                                                "blob: 3 bytes", "vector: 2 1e+09"));
  EXPECT_TRUE(captions[0][0].is_text);
  EXPECT_FALSE(captions[0][1].is_text);
  EXPECT_EQ(CaptionsOf(fields, 1, description.fields()).size(), 1);
}

TEST(GlyphsTest, TextsAreBrokenAtSpacesAndCutToWhatFits) {
  EXPECT_THAT(Wrapped("a dog", 5, 3), ElementsAre("a dog"));
  EXPECT_THAT(Wrapped("a dog and a cat", 7, 3), ElementsAre("a dog", "and a", "cat"));
  EXPECT_THAT(Wrapped("a dog and", 9, 3), ElementsAre("a dog and"));
  EXPECT_THAT(Wrapped("abcdefgh", 3, 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(Wrapped("abcdefgh", 3, 2), ElementsAre("abc", "..."));
  EXPECT_THAT(Wrapped("a dogs", 5, 1), ElementsAre("a ..."));
  EXPECT_THAT(Wrapped("abc", 2, 1), ElementsAre(".."));
  EXPECT_THAT(Wrapped("abc", 0, 3), ElementsAre(""));
  EXPECT_THAT(Wrapped("", 5, 3), ElementsAre(""));
  EXPECT_THAT(Wrapped("Füße 犬", 9, 1), ElementsAre("F??e ?"));  // A question mark for each code point beyond ASCII.
}

TEST(GlyphsTest, LettersLookLikeTheirCapitalsAndOthersLikeAQuestionMark) {
  const auto pixels = [](char character) {
    std::string set;
    for (int64_t y = 0; y < kGlyphHeight; ++y)
      for (int64_t x = 0; x < kGlyphWidth; ++x) set += GlyphHas(character, y, x) ? '#' : '.';
    return set;
  };
  EXPECT_EQ(pixels('a'), pixels('A'));
  EXPECT_EQ(pixels('\t'), pixels('?'));
  EXPECT_EQ(pixels(' '), std::string(35, '.'));
  for (char one = ' '; one < '`'; ++one)  // No two look alike.
    for (char other = ' '; other < one; ++other) EXPECT_NE(pixels(one), pixels(other)) << one << other;
}

}  // namespace
}  // namespace stoker
