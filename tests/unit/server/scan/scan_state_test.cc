#include "server/scan/scan_state.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kSamples = 3 * kBlockSamples + 5;

class ScanStateTest : public testing::Test {
 protected:
  static ScannedBlock Block(uint64_t number) {
    ScannedBlock block{.number = number, .digests = {}, .findings = {}};
    for (uint64_t i = 0; i < SamplesOfBlock(number, kSamples); ++i) block.digests.push_back({number, i});
    if (number % 2 == 1) block.findings.push_back({number * kBlockSamples, FindingKind::kDamaged, "image", "broken"});
    return block;
  }

  // Opens the state and returns the numbers of the blocks that it knows.
  std::vector<uint64_t> Known(const std::string& key = std::string(32, 'k')) const {
    std::vector<uint64_t> numbers;
    const auto state = ScanState::Open(path_, key, kSamples, [&](ScannedBlock block) {
      EXPECT_EQ(block.digests, Block(block.number).digests);
      EXPECT_EQ(block.findings, Block(block.number).findings);
      numbers.push_back(block.number);
    });
    EXPECT_TRUE(state.ok()) << state.status();
    return numbers;
  }

  void Append(const std::vector<uint64_t>& numbers) const {
    const auto state = ScanState::Open(path_, std::string(32, 'k'), kSamples, [](const ScannedBlock&) {});
    ASSERT_TRUE(state.ok()) << state.status();
    for (const uint64_t number : numbers) EXPECT_EQ(state->Append(Block(number)), absl::OkStatus());
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path("a/new/folder/state");
};

TEST_F(ScanStateTest, KnowsWhatWasAppended) {
  Append({3, 0});
  Append({1});
  EXPECT_THAT(Known(), ElementsAre(3, 0, 1));
}

TEST_F(ScanStateTest, BeginsAnewWithAnotherKey) {
  Append({0, 1});
  EXPECT_THAT(Known(std::string(32, 'o')), IsEmpty());
  EXPECT_THAT(Known(), IsEmpty());
}

TEST_F(ScanStateTest, WhatACrashToreOffIsForgottenAndWrittenAgain) {
  Append({0, 1, 2});
  const std::string whole = folder_.Read("a/new/folder/state");
  for (size_t bytes = 0; bytes < whole.size(); bytes += 13) {
    std::filesystem::resize_file(path_, 0);
    folder_.Write("a/new/folder/state", whole.substr(0, bytes));
    const size_t known = Known().size();
    ASSERT_LT(known, 3) << bytes;
    Append({2});
    ASSERT_EQ(Known().size(), known + 1) << bytes;
  }
}

TEST_F(ScanStateTest, ADamagedBlockEndsIt) {
  Append({0, 1, 2});
  std::string bytes = folder_.Read("a/new/folder/state");
  const std::string whole = bytes;
  for (size_t at = 48; at < whole.size(); at += 13) {
    bytes = whole;
    bytes[at] ^= 0x40;
    folder_.Write("a/new/folder/state", bytes);
    ASSERT_LT(Known().size(), 3) << at;
  }
}

TEST_F(ScanStateTest, OneProcessAtATime) {
  const auto held = ScanState::Open(path_, std::string(32, 'k'), kSamples, [](const ScannedBlock&) {});
  ASSERT_TRUE(held.ok()) << held.status();
  const auto second = ScanState::Open(path_, std::string(32, 'k'), kSamples, [](const ScannedBlock&) {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another process"));
}

TEST_F(ScanStateTest, ErrorsNameTheFile) {
  folder_.Write("file", "");
  const auto state = ScanState::Open(folder_.path("file/state"), std::string(32, 'k'), 1, [](const ScannedBlock&) {});
  EXPECT_THAT(std::string(state.status().message()), HasSubstr("file/state"));
}

TEST(ParseBlockTest, RefusesWhatIsNoBlockOfTheDataset) {
  ScannedBlock block{.number = 1, .digests = {{1, 2}, {3, 4}}, .findings = {{17, FindingKind::kWarning, "", "odd"}}};
  const uint64_t samples = kBlockSamples + 2;
  const std::string body = SerializeBlock(block);
  ASSERT_TRUE(ParseBlock(body, samples).has_value());
  EXPECT_FALSE(ParseBlock(body, samples + 1).has_value());
  EXPECT_FALSE(ParseBlock(body, kBlockSamples).has_value());
  EXPECT_FALSE(ParseBlock(body + "x", samples).has_value());
  for (size_t bytes = 0; bytes < body.size(); ++bytes)
    EXPECT_FALSE(ParseBlock(absl::string_view(body).substr(0, bytes), samples).has_value()) << bytes;
  for (const Finding& wrong :
       {Finding{.id = 0}, Finding{.id = samples}, Finding{.id = 17, .kind = FindingKind::kDuplicate},
        Finding{.id = 17, .kind = static_cast<FindingKind>(200)}}) {
    block.findings = {wrong};
    EXPECT_FALSE(ParseBlock(SerializeBlock(block), samples).has_value());
  }
}

}  // namespace
}  // namespace stoker
