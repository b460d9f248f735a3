#include "common/identity/dataset_name.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

TEST(DatasetNameTest, LettersDigitsDotsUnderscoresAndDashesMakeAName) {
  for (const char* name : {"a", "imagenet-1k", "train.v2", "_x", "-", "0"}) EXPECT_TRUE(IsDatasetName(name)) << name;
  for (const char* name : {"", ".hidden", "..", "a/b", "a b", "caf\xc3\xa9", "a\n"})
    EXPECT_FALSE(IsDatasetName(name)) << name;
  EXPECT_FALSE(IsDatasetName(absl::string_view("a\0b", 3)));
}

TEST(DatasetNameTest, TheLongestNameIsTheOneThatTheRuleTells) {
  EXPECT_TRUE(IsDatasetName(std::string(kMaxDatasetNameBytes, 'a')));
  EXPECT_FALSE(IsDatasetName(std::string(kMaxDatasetNameBytes + 1, 'a')));
  EXPECT_THAT(std::string(kDatasetNameRule), HasSubstr(" " + std::to_string(kMaxDatasetNameBytes) + " letters"));
}

}  // namespace
}  // namespace stoker
