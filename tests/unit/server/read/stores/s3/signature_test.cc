#include "server/read/stores/s3/signature.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// The examples of "Signature Calculations for the Authorization Header" in Amazon's reference of S3.
const S3Credentials kExample = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
const absl::Time kTime = absl::FromCivil(absl::CivilSecond(2013, 5, 24), absl::UTCTimeZone());

SignedRequest Get(const std::string& path) { return {.host = "examplebucket.s3.amazonaws.com", .path = path}; }

TEST(SignTest, SignsARangeAsAmazonsExampleDoes) {
  SignedRequest request = Get("/test.txt");
  request.headers["range"] = "bytes=0-9";
  EXPECT_THAT(Sign(request, kExample, "us-east-1", kTime),
              Contains("Authorization: AWS4-HMAC-SHA256 "
                       "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                       "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                       "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
}

TEST(SignTest, SignsAListingAsAmazonsExampleDoes) {
  SignedRequest request = Get("/");
  request.query = {{"prefix", "J"}, {"max-keys", "2"}};
  EXPECT_THAT(Sign(request, kExample, "us-east-1", kTime),
              Contains(HasSubstr("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")));
}

TEST(SignTest, SendsTheTokenOfASession) {
  S3Credentials credentials = kExample;
  credentials.token = "TOKEN";
  const auto headers = Sign(Get("/"), credentials, "us-east-1", kTime);
  EXPECT_THAT(headers, Contains("x-amz-security-token: TOKEN"));
  EXPECT_THAT(headers, Contains(HasSubstr("x-amz-date;x-amz-security-token,")));
}

}  // namespace
}  // namespace stoker
