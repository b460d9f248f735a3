#include "server/decode/flaw.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "server/decode/decoder.h"
#include "server/read/synthetic/photograph.h"

namespace stoker {
namespace {

TEST(FlawTest, IsToldWithTheError) {
  for (const Flaw flaw : {Flaw::kDamaged, Flaw::kTruncated, Flaw::kNotAnImage, Flaw::kOverLimits}) {
    const absl::Status status = FlawError(flaw, "the reason");
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(status.message(), "the reason");
    EXPECT_EQ(FlawOf(status), flaw);
  }
  EXPECT_EQ(FlawOf(absl::DataLossError("another")), Flaw::kDamaged);
}

absl::Status Decode(const std::vector<uint8_t>& file, const DecodeOptions& options) {
  Decoder decoder;
  DecodedImage image;
  const auto size = decoder.Open(file, options);
  return size.ok() ? decoder.Decode({WholeOf(*size)}, image) : size.status();
}

// What a server does not look at, since no pixel depends on it, counts where a file is judged to its end.
TEST(ToEndTest, JudgesWhatComesAfterTheLastPixel) {
  std::vector<uint8_t> jpeg = EncodeJpeg(PaintPhotograph(1, 1, {64, 64}), {64, 64}, 90);
  const DecodeOptions usual = {.warnings = v1::DECODE_WARNINGS_FAIL};
  const DecodeOptions to_end = {.warnings = v1::DECODE_WARNINGS_FAIL, .to_end = true};
  EXPECT_EQ(Decode(jpeg, to_end), absl::OkStatus());
  const uint8_t frame[] = {0xff, 0xc0};
  *(std::search(jpeg.begin(), jpeg.end(), std::begin(frame), std::end(frame)) + 6) = 32;  // rows; the scan has 64
  EXPECT_EQ(Decode(jpeg, usual), absl::OkStatus());
  EXPECT_EQ(Decode(jpeg, to_end).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Decode(jpeg, {.to_end = true}), absl::OkStatus());
}

// A part of an image can be asked for with the same options.
TEST(ToEndTest, APartIsDecodedAsEver) {
  const std::vector<uint8_t> jpeg = EncodeJpeg(PaintPhotograph(1, 1, {64, 64}), {64, 64}, 90);
  Decoder decoder;
  DecodedImage image;
  ASSERT_TRUE(decoder.Open(jpeg, {.to_end = true}).ok());
  EXPECT_EQ(decoder.Decode({{8, 8, {16, 16}}}, image), absl::OkStatus());
}

}  // namespace
}  // namespace stoker
