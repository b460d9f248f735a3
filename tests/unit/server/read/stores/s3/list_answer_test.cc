#include "server/read/stores/s3/list_answer.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(ListAnswerTest, HasKeysSizesAndVersions) {
  const auto answer = ParseListAnswer(
      "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>"
      "<IsTruncated>true</IsTruncated><NextContinuationToken>a+b/&amp;c=</NextContinuationToken>"
      "<Contents><Key>train/a+b%2Bc%3D%28%C3%A4%25.npy</Key><ETag>&quot;12-3&quot;</ETag><Size>17</Size></Contents>"
      "<Contents><Size>0</Size><ETag>4</ETag><Key>train/d</Key></Contents></ListBucketResult>");
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->objects.size(), 2);
  EXPECT_EQ(answer->objects[0].name, "train/a b+c=(ä%.npy");
  EXPECT_EQ(answer->objects[0].size, 17);
  EXPECT_EQ(answer->objects[0].version, "\"12-3\"");
  EXPECT_EQ(answer->objects[1].name, "train/d");
  EXPECT_EQ(answer->objects[1].version, "\"4\"");
  EXPECT_EQ(answer->next, "a+b/&c=");
}

TEST(ListAnswerTest, IsNoneWhereItIsDamaged) {
  for (const char* xml : {"", "<html>", "<Error><Code>NoSuchBucket</Code></Error>",
                          "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
                          "<ListBucketResult><Contents><Key>a%00b</Key><Size>1</Size></Contents></ListBucketResult>",
                          "<ListBucketResult><Contents><Key></Key><Size>1</Size></Contents></ListBucketResult>",
                          "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
                          "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"})
    EXPECT_TRUE(absl::IsUnavailable(ParseListAnswer(xml).status())) << xml;
  const std::string whole =
      "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>1</Size></Contents>"
      "<Contents><Key>b</Key><Size>1</Size></Contents></ListBucketResult>";
  ASSERT_TRUE(ParseListAnswer(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(absl::IsUnavailable(ParseListAnswer(whole.substr(0, size)).status())) << "cut to " << size << " bytes";
  EXPECT_TRUE(ParseListAnswer("<ListBucketResult></ListBucketResult>")->objects.empty());
}

}  // namespace
}  // namespace stoker
