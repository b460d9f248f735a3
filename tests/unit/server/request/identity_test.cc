#include "server/request/identity.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

TEST(IdentityTest, ACertificateIsKnownByItsUriThenDnsThenMailThenCommonName) {
  Evidence evidence{.has_certificate = true, .common_name = "common"};
  EXPECT_EQ(*CertificateIdentity(evidence), "common");
  evidence.emails = {"a@b.example", "second@b.example"};
  EXPECT_EQ(*CertificateIdentity(evidence), "a@b.example");
  evidence.dns_names = {"host.example"};
  EXPECT_EQ(*CertificateIdentity(evidence), "host.example");
  evidence.uris = {"spiffe://team-a"};
  EXPECT_EQ(*CertificateIdentity(evidence), "spiffe://team-a");
}

TEST(IdentityTest, ACertificateWithoutANameIsNobodys) {
  for (const std::string& name : {std::string(), std::string("team-a\0.evil", 12), std::string(257, 'x'),
                                  std::string("\xff"), std::string("a\nb")}) {
    const auto identity = CertificateIdentity({.has_certificate = true, .common_name = name});
    EXPECT_TRUE(absl::IsUnauthenticated(identity.status())) << name;
  }
}

TEST(IdentityTest, ATokenIsTakenOnlyWhereOthersCannotReadIt) {
  EXPECT_EQ(**BearerToken({.is_private = true, .authorizations = {"Bearer abc"}}), "abc");
  EXPECT_EQ(**BearerToken({.is_private = true, .authorizations = {"bearer abc"}}), "abc");
  EXPECT_EQ(*BearerToken({.is_private = true}), std::nullopt);
  EXPECT_EQ(*BearerToken({.is_private = false}), std::nullopt);
  const auto open = BearerToken({.is_private = false, .authorizations = {"Bearer abc"}});
  EXPECT_TRUE(absl::IsUnauthenticated(open.status()));
  EXPECT_THAT(std::string(open.status().message()), HasSubstr("plaintext"));
  EXPECT_EQ(std::string(open.status().message()).find("abc"), std::string::npos);
}

TEST(IdentityTest, OtherHeadersAreRefused) {
  EXPECT_TRUE(absl::IsUnauthenticated(BearerToken({.is_private = true, .authorizations = {"Basic abc"}}).status()));
  EXPECT_TRUE(
      absl::IsUnauthenticated(BearerToken({.is_private = true, .authorizations = {"Bearer a", "Bearer b"}}).status()));
}

}  // namespace
}  // namespace stoker
