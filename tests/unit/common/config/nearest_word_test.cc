#include "common/config/nearest_word.h"

#include "gtest/gtest.h"

namespace stoker {
namespace {

const std::vector<std::string> kWords = {"name", "image_folder", "synthetic", "RandomCrop", "random_crop", "log"};

TEST(NearestWordTest, ForgivesOneEditInThreeLetters) {
  EXPECT_EQ(NearestWord("image_foldr", kWords), "image_folder");    // left out
  EXPECT_EQ(NearestWord("image_ffolder", kWords), "image_folder");  // added
  EXPECT_EQ(NearestWord("imagf_folder", kWords), "image_folder");   // changed
  EXPECT_EQ(NearestWord("nmae", kWords), "name");                   // swapped
  EXPECT_EQ(NearestWord("sintetic", kWords), "synthetic");
  EXPECT_EQ(NearestWord("logs", kWords), "log");
}

TEST(NearestWordTest, IgnoresCaseAndSeparatorsButPrefersTheSameWriting) {
  EXPECT_EQ(NearestWord("imageFolder", kWords), "image_folder");
  EXPECT_EQ(NearestWord("IMAGE-FOLDER", kWords), "image_folder");
  EXPECT_EQ(NearestWord("RandmCrop", kWords), "RandomCrop");
  EXPECT_EQ(NearestWord("randm_crop", kWords), "random_crop");
}

TEST(NearestWordTest, IsNothingWhereAllAreFar) {
  EXPECT_EQ(NearestWord("zebra", kWords), "");
  EXPECT_EQ(NearestWord("", kWords), "");
  EXPECT_EQ(NearestWord("x", {"y"}), "");
  EXPECT_EQ(NearestWord("name", {}), "");
  EXPECT_EQ(NearestWord(std::string(65, 'a'), {std::string(65, 'a') + 'b'}), "");
}

TEST(NearestWordTest, AsksOnlyIfThereIsOne) {
  EXPECT_EQ(DidYouMean("nam", kWords), "; did you mean 'name'?");
  EXPECT_EQ(DidYouMean("zebra", kWords), "");
}

}  // namespace
}  // namespace stoker
