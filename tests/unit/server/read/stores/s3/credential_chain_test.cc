#include "server/read/stores/s3/credential_chain.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/stores/s3/credential_forms.h"
#include "tests/support/http_server.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CredentialChainTest : public testing::Test {
 protected:
  CredentialChainTest() {
    environment_["HOME"] = folder_.path();
    environment_["AWS_EC2_METADATA_DISABLED"] = "true";
  }

  std::unique_ptr<CredentialChain> Chain(const std::string& profile = "") {
    CredentialChain::Options options = {.profile = profile, .region = "us-east-1"};
    options.environment = [this](const std::string& name) {
      const auto found = environment_.find(name);
      return found == environment_.end() ? "" : found->second;
    };
    options.limits.first_pause = absl::Milliseconds(1);
    return std::make_unique<CredentialChain>(std::move(options));
  }

  static std::string Json(const std::string& key, absl::Duration life) {
    return absl::StrCat(R"({"Code": "Success", "AccessKeyId": ")", key, R"(", "SecretAccessKey": "s", "Token": "t", )",
                        R"("Expiration": ")", absl::FormatTime(absl::Now() + life, absl::UTCTimeZone()), "\"}");
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> environment_;
};

TEST_F(CredentialChainTest, TheEnvironmentComesFirst) {
  environment_["AWS_ACCESS_KEY_ID"] = "ENV";
  environment_["AWS_SECRET_ACCESS_KEY"] = "secret";
  environment_["AWS_SESSION_TOKEN"] = "token";
  folder_.Write(".aws/credentials", "[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n");
  EXPECT_EQ(Chain()->Get()->key_id, "ENV");
  EXPECT_EQ(Chain()->Get()->token, "token");
  EXPECT_EQ(Chain("default")->Get()->key_id, "FILE");  // What the configuration says counts more.
}

TEST_F(CredentialChainTest, ProfilesComeFromTheSharedFiles) {
  folder_.Write(".aws/credentials",
                "# mine\n[default]\naws_access_key_id = A\naws_secret_access_key = s/+=\n[b]\naws_access_key_id=B\n"
                "aws_secret_access_key=t\n");
  folder_.Write("config",
                "[profile c]\nregion = eu-west-1\naws_access_key_id = C\naws_secret_access_key = u\ns3 =\n  "
                "region = nested\n");
  environment_["AWS_CONFIG_FILE"] = folder_.path("config");
  EXPECT_EQ(Chain()->Get()->key_id, "A");
  EXPECT_EQ(Chain()->Get()->secret, "s/+=");
  environment_["AWS_PROFILE"] = "b";
  EXPECT_EQ(Chain()->Get()->key_id, "B");
  EXPECT_EQ(Chain("c")->Get()->key_id, "C");
  EXPECT_EQ(CredentialChain::RegionOf("c", [this](const std::string& name) { return environment_[name]; }),
            "eu-west-1");
  EXPECT_THAT(Chain("missing")->Get().status().message(), HasSubstr("'missing'"));
}

TEST_F(CredentialChainTest, AWebIdentityIsExchangedForARole) {
  std::string body;
  HttpServer server([&](const HttpServer::Request& request) {
    body = request.body;
    return HttpServer::Reply{.body =
                                 "<AssumeRoleWithWebIdentityResponse><Credentials><SessionToken>t</SessionToken>"
                                 "<SecretAccessKey>s</SecretAccessKey><Expiration>2999-01-01T00:00:00Z</Expiration>"
                                 "<AccessKeyId>ROLE</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResponse>"};
  });
  folder_.Write("token", "ey.J+\n");
  environment_["AWS_WEB_IDENTITY_TOKEN_FILE"] = folder_.path("token");
  environment_["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/r";
  environment_["AWS_ENDPOINT_URL_STS"] = server.url();
  const auto found = Chain()->Get();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->key_id, "ROLE");
  EXPECT_EQ(found->token, "t");
  EXPECT_THAT(body, HasSubstr("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&"));
  EXPECT_THAT(body, HasSubstr("WebIdentityToken=ey.J%2B"));
}

TEST_F(CredentialChainTest, AContainersServiceIsAskedAgainBeforeTheyExpire) {
  int asked = 0;
  HttpServer server([&](const HttpServer::Request& request) {
    EXPECT_EQ(request.Header("authorization"), "pod");
    return HttpServer::Reply{.body = Json(absl::StrCat("K", ++asked), absl::Minutes(4))};
  });
  environment_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = server.url() + "/creds";
  environment_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "pod";
  const auto chain = Chain();
  EXPECT_EQ(chain->Get()->key_id, "K1");
  EXPECT_EQ(chain->Get()->key_id, "K2");  // They hold for less than five minutes.
  EXPECT_EQ(chain->Latest().key_id, "K2");
}

TEST_F(CredentialChainTest, AnInstancesServiceWantsATokenFirst) {
  HttpServer server([&](const HttpServer::Request& request) {
    if (request.method == "PUT") return HttpServer::Reply{.body = "imds"};
    if (request.Header("x-aws-ec2-metadata-token") != "imds") return HttpServer::Reply{.status = 401};
    const bool role = request.target == "/latest/meta-data/iam/security-credentials/";
    return HttpServer::Reply{.body = role ? "my-role" : Json("INSTANCE", absl::Hours(6))};
  });
  environment_.erase("AWS_EC2_METADATA_DISABLED");
  environment_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = server.url();
  const auto chain = Chain();
  EXPECT_EQ(chain->Get()->key_id, "INSTANCE");
  EXPECT_EQ(chain->Get()->key_id, "INSTANCE");
  EXPECT_EQ(server.counts().requests, 3);
}

TEST_F(CredentialChainTest, OldOnesServeWhileTheServiceIsAway) {
  HttpServer server([&](const HttpServer::Request& request) {
    if (request.number > 1) return HttpServer::Reply{.status = 400, .body = "SECRET"};
    return HttpServer::Reply{.body = Json("K", absl::Minutes(4))};
  });
  environment_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = server.url();
  const auto chain = Chain();
  EXPECT_EQ(chain->Get()->key_id, "K");
  EXPECT_EQ(chain->Get()->key_id, "K");
  EXPECT_EQ(server.counts().requests, 2);
}

TEST_F(CredentialChainTest, ErrorsNameThePlaceAndNoSecret) {
  EXPECT_THAT(Chain()->Get().status().message(), HasSubstr("AWS_ACCESS_KEY_ID"));
  environment_["AWS_ACCESS_KEY_ID"] = "AKIA";
  EXPECT_THAT(Chain()->Get().status().message(),
              testing::AllOf(HasSubstr("AWS_SECRET_ACCESS_KEY is not"), Not(HasSubstr("AKIA"))));
  const auto wrong = ParseMetadata(R"({"SecretAccessKey": "hidden"})");
  EXPECT_THAT(wrong.status().message(), Not(HasSubstr("hidden")));
  EXPECT_FALSE(ParseMetadata("[1").ok());
  EXPECT_FALSE(ParseMetadata(R"({"AccessKeyId": "a\nb", "SecretAccessKey": "c"})").ok());
}

}  // namespace
}  // namespace stoker
