#include "client/fleet/span_checks.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr uint64_t kSecret = 0x5ec2e7;

// A span of samples whose ids begin with 40, from position 8, with two fields of 3 bytes and 1.
struct Span {
  explicit Span(uint32_t count) : id{2, 8, count}, image(3 * count), label(count) {
    for (uint32_t i = 0; i < count; ++i) header.add_sample_ids(40 + i);
    for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint8_t>(i);
    std::fill(label.begin(), label.end(), 7);
  }
  Making By(int endpoint, const std::string& server) {
    const std::vector<FieldSamples> fields = {{image, {}}, {label, {}}};
    return LookAt(endpoint, server, header, fields, kSecret);
  }

  SpanId id;
  v1::SpanHeader header;
  std::vector<uint8_t> image, label;
};

std::string Explained(const SpanCheck& check) { return Explain(check, FindDifference(check), "cat/7.jpg"); }

TEST(SpanChecksTest, TheShareIsKeptAndTheSameSpansAreChosenAgain) {
  for (const double share : {0.0, 0.001, 0.25, 1.0}) {
    int chosen = 0;
    constexpr int kSpans = 100'000;
    for (uint64_t start = 0; start < kSpans; ++start) {
      chosen += IsChecked({1, start * 8, 8}, 5, share) ? 1 : 0;
      ASSERT_EQ(IsChecked({1, start * 8, 8}, 5, share), IsChecked({1, start * 8, 4}, 5, share))
          << "its length counts not";
    }
    EXPECT_NEAR(chosen, share * kSpans, 0.01 * kSpans) << share;
    EXPECT_EQ(chosen == 0, share == 0);
  }
}

TEST(SpanChecksTest, EpochsAndSeedsChooseOthers) {
  int same_epoch = 0, same_seed = 0;
  for (uint64_t start = 0; start < 10'000; ++start) {
    same_epoch += IsChecked({0, start, 1}, 5, 0.1) && IsChecked({1, start, 1}, 5, 0.1) ? 1 : 0;
    same_seed += IsChecked({0, start, 1}, 5, 0.1) && IsChecked({0, start, 1}, 6, 0.1) ? 1 : 0;
  }
  EXPECT_LT(same_epoch, 200);
  EXPECT_LT(same_seed, 200);
}

TEST(SpanChecksTest, MakingsAreEqualIfAllSamplesAre) {
  Span span(4);
  const Making first = span.By(0, "a");
  EXPECT_TRUE(first == span.By(1, "b"));
  span.image[5] ^= 1;
  EXPECT_FALSE(first == span.By(1, "b"));
  span.image[5] ^= 1;
  span.label[3] ^= 1;
  EXPECT_FALSE(first == span.By(1, "b"));
  span.label[3] ^= 1;
  span.header.set_sample_ids(2, 9);
  EXPECT_FALSE(first == span.By(1, "b")) << "another sample with the same bytes";
  span.header.set_sample_ids(2, 42);
  v1::Substitution& substitution = *span.header.add_substitutions();
  substitution.set_offset(1);
  substitution.set_position(10);
  EXPECT_FALSE(first == span.By(1, "b")) << "one stands in for another";
  substitution.set_offset(1'000);
  EXPECT_TRUE(first == span.By(1, "b")) << "a server's word is not trusted";
}

TEST(SpanChecksTest, SamplesThatDifferInSizeAreHashedOneByOne) {
  const Span span(3);
  const auto look = [&](std::vector<uint32_t> sizes, std::string text) {
    const FieldSamples field = {{reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                                {reinterpret_cast<const uint8_t*>(sizes.data()), sizes.size() * sizeof(uint32_t)}};
    return LookAt(0, "a", span.header, std::vector<FieldSamples>{field}, kSecret).samples;
  };
  const auto whole = look({2, 0, 3}, "abcde");
  EXPECT_EQ(whole, look({2, 0, 3}, "abcde"));
  const auto other = look({2, 0, 3}, "abcdX"), moved = look({2, 1, 2}, "abcde");
  EXPECT_EQ(whole[0], other[0]);
  EXPECT_EQ(whole[1], other[1]);
  EXPECT_NE(whole[2], other[2]);
  EXPECT_EQ(whole[0], moved[0]);
  EXPECT_NE(whole[1], moved[1]) << "the same bytes are another sample's";
}

TEST(SpanChecksTest, TheDifferingSampleIsFound) {
  Span span(4);
  SpanCheck check{span.id, {span.By(0, "a:1")}};
  span.label[2] = 0;
  span.image[10] = 0;
  check.makings.push_back(span.By(1, "b:1"));
  const DifferingSample sample = FindDifference(check);
  EXPECT_EQ(sample.id, 42);
  EXPECT_EQ(sample.position, 10);
  EXPECT_EQ(sample.samples, 2);
  EXPECT_EQ(Explained(check),
            "a:1 and b:1 make different bytes of sample 'cat/7.jpg' (id 42, epoch 2, position 10), no other server is "
            "there to say which is right; so do 1 more samples of its span");
}

TEST(SpanChecksTest, TwoOfThreeOutvoteTheThird) {
  Span span(1);
  const Making a = span.By(0, "a:1"), c = span.By(2, "c:1");
  span.image[0] = 99;
  const Making b = span.By(1, "b:1");
  EXPECT_EQ(Explained({span.id, {a, b, c}}),
            "b:1 makes other bytes of sample 'cat/7.jpg' (id 40, epoch 2, position 8) than a:1 and c:1");
  EXPECT_THAT(Explained({span.id, {b, a, c}}), HasSubstr("b:1 makes other bytes"));
  span.image[0] = 98;
  EXPECT_THAT(Explained({span.id, {a, b, span.By(2, "c:1")}}), HasSubstr("a:1, b:1 and c:1 each make different bytes"));
}

TEST(SpanChecksTest, TheFirstServerMayDisagreeWithItself) {
  Span span(1);
  const Making a = span.By(0, "a:1");
  span.image[0] = 99;
  const Making b = span.By(1, "b:1"), again = span.By(0, "a:1");
  EXPECT_THAT(Explained({span.id, {a, b, a}}), HasSubstr("a:1 and b:1 make different bytes of sample"));
  EXPECT_THAT(Explained({span.id, {a, b, a}}), HasSubstr("there is no third server"));
  EXPECT_THAT(Explained({span.id, {a, b, again}}), HasSubstr("a:1 makes different bytes of sample"));
  EXPECT_THAT(Explained({span.id, {a, b, again}}), HasSubstr("the second time they are those of b:1"));
}

TEST(SpanChecksTest, AServerThatFindsASampleBadDiffersFromThoseThatDoNot) {
  Span span(2);
  v1::Error error;
  error.set_message("sample 'cat/7.jpg': no image");
  error.set_sample_id(41);
  error.set_position(9);
  const Making a = span.By(0, "a:1"), b = Refusal(1, "b:1", error), c = span.By(2, "c:1");
  EXPECT_FALSE(a == b);
  EXPECT_EQ(
      Explained({span.id, {a, b, c}}),
      "b:1 finds the bytes of sample 'cat/7.jpg' (id 41, epoch 2, position 9) bad, which a:1 and c:1 do not: sample "
      "'cat/7.jpg': no image");
  EXPECT_THAT(Explained({span.id, {a, b, a}}), HasSubstr("b:1 finds the bytes of sample"));
  EXPECT_THAT(Explained({span.id, {a, b}}), HasSubstr("b:1 finds the bytes of sample"));
  EXPECT_THAT(Explained({span.id, {a, b, Refusal(2, "c:1", error)}}), HasSubstr("a:1 makes sample"));
}

}  // namespace
}  // namespace stoker
