#include "server/read/staged/decompressor.h"

#include <random>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/read/staged/compressed.h"

namespace stoker {
namespace {

using testing::HasSubstr;

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Decompresses `file`, which comes by pieces of `piece` bytes.
absl::StatusOr<std::string> Decompressed(Compression compression, const std::string& file, size_t piece = 1000) {
  const auto decompressor = Decompressor::Create(compression);
  std::string plain;
  for (size_t at = 0; at < file.size(); at += piece) {
    const absl::Status taken = decompressor->Take(BytesOf(std::string_view(file).substr(at, piece)), [&](auto bytes) {
      plain.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return absl::OkStatus();
    });
    if (!taken.ok()) return taken;
  }
  const absl::Status finished = decompressor->Finish();
  if (!finished.ok()) return finished;
  return plain;
}

// Bytes of which half shrink well.
std::string Sample(size_t bytes) {
  std::mt19937 random(1);
  std::string sample;
  while (sample.size() < bytes) sample += sample.size() % 8192 < 4096 ? 'a' : static_cast<char>(random());
  return sample;
}

class DecompressorTest : public testing::TestWithParam<Compression> {
 protected:
  static std::string Compress(const std::string& plain) {
    return GetParam() == Compression::kGzip ? Gzipped(plain) : Zstandard(plain);
  }
  static absl::StatusOr<std::string> Decompress(const std::string& file, size_t piece = 1000) {
    return Decompressed(GetParam(), file, piece);
  }
};

TEST_P(DecompressorTest, GivesBackWhatWasCompressedWhateverThePieces) {
  const std::string plain = Sample(300'000);
  for (const size_t piece : {size_t{1}, size_t{4096}, size_t{1} << 20})
    EXPECT_EQ(Decompress(Compress(plain), piece).value(), plain) << piece;
  EXPECT_EQ(Decompress(Compress("")).value(), "");
}

TEST_P(DecompressorTest, MembersOneAfterAnotherAreOneFile) {
  const std::string a = Sample(100'000), b = Sample(70'001);
  const std::string file = Compress(a) + Compress("") + Compress(b);
  for (const size_t piece : {size_t{1}, size_t{1} << 20}) EXPECT_EQ(Decompress(file, piece).value(), a + b);
}

TEST_P(DecompressorTest, ZerosAfterTheEndArePadding) {
  EXPECT_EQ(Decompress(Compress("abc") + std::string(100, '\0'), 7).value(), "abc");
  for (const size_t piece : {size_t{1}, size_t{1} << 20})
    EXPECT_TRUE(absl::IsDataLoss(Decompress(Compress("abc") + std::string(5, '\0') + Compress("x"), piece).status()));
}

TEST_P(DecompressorTest, WhatIsCutOffOrFollowedByOtherBytesIsRefused) {
  const std::string file = Compress(Sample(20'000));
  for (size_t bytes = 0; bytes < file.size(); bytes += 1 + bytes / 8)
    EXPECT_THAT(Decompress(file.substr(0, bytes)).status().message(), HasSubstr("ends early")) << bytes;
  EXPECT_TRUE(absl::IsDataLoss(Decompress(file + "garbage").status()));
  EXPECT_TRUE(absl::IsDataLoss(Decompress("no such file").status()));
}

TEST_P(DecompressorTest, AFlippedBitIsNoticed) {
  const std::string plain = Sample(5'000), file = Compress(plain);
  for (size_t at = 0; at < file.size(); at += 3) {
    std::string flipped = file;
    flipped[at] ^= 4;
    const auto got = Decompress(flipped);
    // Some bits of a header say nothing about the data, such as the time or the system.
    EXPECT_TRUE(!got.ok() || *got == plain) << at;
  }
}

TEST_P(DecompressorTest, AnErrorOfTheSinkEndsIt) {
  const std::string file = Compress(std::string(1'000'000, 'x'));
  const auto decompressor = Decompressor::Create(GetParam());
  int calls = 0;
  const absl::Status taken = decompressor->Take(BytesOf(file), [&](auto) {
    ++calls;
    return absl::ResourceExhaustedError("full");
  });
  EXPECT_TRUE(absl::IsResourceExhausted(taken));
  EXPECT_EQ(calls, 1);
}

INSTANTIATE_TEST_SUITE_P(All, DecompressorTest, testing::Values(Compression::kGzip, Compression::kZstd));

TEST(CompressionTest, IsKnownByNameOrBeginning) {
  EXPECT_EQ(PlainName("a/t.tar.gz"), "a/t.tar");
  EXPECT_EQ(PlainName("t.tgz"), "t.tar");
  EXPECT_EQ(PlainName("s.mds.zstd"), "s.mds");
  EXPECT_EQ(PlainName("t.tar.zst"), "t.tar");
  EXPECT_EQ(PlainName("a.tfrecord"), "a.tfrecord");
  EXPECT_FALSE(CompressionOf("a.tar").has_value());
  EXPECT_EQ(CompressionByBeginning(BytesOf(Gzipped("x"))), Compression::kGzip);
  EXPECT_EQ(CompressionByBeginning(BytesOf(Zstandard("x"))), Compression::kZstd);
  EXPECT_FALSE(CompressionByBeginning(BytesOf("x")).has_value());
}

}  // namespace
}  // namespace stoker
