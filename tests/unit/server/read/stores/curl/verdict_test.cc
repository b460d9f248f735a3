#include "server/read/stores/curl/verdict.h"

#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Bytes 10 to 19 of an object of 100.
class JudgeRangeTest : public testing::Test {
 protected:
  JudgeRangeTest() {
    request_.range = HttpRange{.offset = 10, .into = into_, .object_size = 100, .version = "\"1\""};
    response_.status = 206;
    response_.headers = {{"etag", "\"1\""}, {"content-range", "bytes 10-19/100"}, {"content-length", "10"}};
  }
  Verdict Judge(uint64_t got = 0) const { return JudgeHead(request_, response_, got); }

  std::array<uint8_t, 10> into_;
  HttpRequest request_;
  HttpResponse response_;
};

TEST_F(JudgeRangeTest, TakesTheRangeThatIsAskedFor) {
  EXPECT_TRUE(Judge().status.ok());
  response_.headers["content-range"] = "bytes 14-19/100";
  response_.headers["content-length"] = "6";
  EXPECT_TRUE(Judge(4).status.ok());
}

TEST_F(JudgeRangeTest, RefusesAnotherObject) {
  response_.headers["etag"] = "\"2\"";
  EXPECT_TRUE(absl::IsFailedPrecondition(Judge().status));
  response_.headers["etag"] = "\"1\"";
  response_.headers["content-range"] = "bytes 10-19/101";
  EXPECT_TRUE(absl::IsFailedPrecondition(Judge().status));
  response_.status = 412;
  EXPECT_THAT(Judge().status.message(), HasSubstr("changed since it was indexed"));
}

TEST_F(JudgeRangeTest, RefusesAServerWithoutRanges) {
  response_.status = 200;
  EXPECT_THAT(Judge().status.message(), HasSubstr("ignores the range"));
  EXPECT_FALSE(Judge().again);
}

TEST_F(JudgeRangeTest, TriesAgainAfterALie) {
  for (const char* range :
       {"bytes 0-9/100", "bytes 10-18/100", "bytes 10-20/100", "", "bytes */100", "lines 10-19/100"}) {
    response_.headers["content-range"] = range;
    EXPECT_TRUE(absl::IsUnavailable(Judge().status)) << range;
    EXPECT_TRUE(Judge().again) << range;
  }
  response_.headers["content-range"] = "bytes 10-19/100";
  response_.headers["content-length"] = "11";
  EXPECT_TRUE(Judge().again);
}

TEST(JudgeHeadTest, KnowsWhichStatusesPass) {
  for (const int status : {408, 429, 500, 502, 503, 504})
    EXPECT_TRUE(JudgeHead({}, {.status = status}, 0).again) << status;
  for (const int status : {301, 400, 401, 403, 404, 410, 412, 416, 501})
    EXPECT_FALSE(JudgeHead({}, {.status = status}, 0).again) << status;
  EXPECT_TRUE(JudgeHead({}, {.status = 503}, 0).throttled);
  EXPECT_TRUE(JudgeHead({}, {.status = 429}, 0).throttled);
  EXPECT_FALSE(JudgeHead({}, {.status = 500}, 0).throttled);
}

TEST(JudgeHeadTest, PausesAsLongAsAskedButNotForever) {
  EXPECT_EQ(JudgeHead({}, {.status = 503, .headers = {{"retry-after", "7"}}}, 0).pause, absl::Seconds(7));
  EXPECT_EQ(JudgeHead({}, {.status = 503, .headers = {{"retry-after", "86400"}}}, 0).pause, absl::Seconds(30));
  EXPECT_EQ(JudgeHead({}, {.status = 503, .headers = {{"retry-after", "soon"}}}, 0).pause, absl::ZeroDuration());
}

TEST(JudgeRefusalTest, ShowsTheCodeAndNothingElse) {
  const HttpResponse response = {.status = 403};
  const Verdict verdict =
      JudgeRefusal(JudgeHead({}, response, 0), response,
                   "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>");
  EXPECT_THAT(verdict.status.message(), HasSubstr("403 SignatureDoesNotMatch"));
  EXPECT_THAT(verdict.status.message(), Not(HasSubstr("AKIA")));
  EXPECT_TRUE(absl::IsPermissionDenied(verdict.status));
}

TEST(JudgeRefusalTest, SaysWhichRegionTheBucketHas) {
  const HttpResponse response = {.status = 301, .headers = {{"x-amz-bucket-region", "eu-west-1"}}};
  EXPECT_THAT(JudgeRefusal(JudgeHead({}, response, 0), response, "").status.message(), HasSubstr("eu-west-1"));
}

TEST(RedirectTest, NeverLeadsFromHttpsToHttp) {
  EXPECT_TRUE(MayRedirect("https://a/", "https://b/"));
  EXPECT_TRUE(MayRedirect("http://a/", "https://a/"));
  EXPECT_TRUE(MayRedirect("http://a/", "http://b/"));
  EXPECT_FALSE(MayRedirect("https://a/", "http://a/"));
  EXPECT_FALSE(MayRedirect("http://a/", "file:///etc/passwd"));
}

TEST(RedirectTest, KnowsOrigins) {
  EXPECT_TRUE(SameOrigin("https://a/b", "https://A/c?d"));
  EXPECT_FALSE(SameOrigin("https://a/b", "https://a:444/b"));
  EXPECT_FALSE(SameOrigin("https://a/b", "http://a/b"));
  EXPECT_FALSE(SameOrigin("https://a", "https://a.b"));
}

}  // namespace
}  // namespace stoker
