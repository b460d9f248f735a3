#include "server/request/access.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/jwt_signer.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using Proof = ClientIdentity::Proof;

// SHA-256 of "secret" and "other".
constexpr char kSecret[] = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
constexpr char kOther[] = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa";

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

class AccessTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(testing::TempDir(), "stoker-access-", getpid());
    std::filesystem::create_directories(folder_);
    Write("tokens", absl::StrCat(kSecret, " team-a\n"));
    options_.allowed = {{"open", {}}, {"private", {"team-a"}}};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }

  std::unique_ptr<Access> Make() const {
    auto access = Access::Create(options_, [] { return kNow; });
    EXPECT_TRUE(access.ok()) << access.status();
    return access.ok() ? *std::move(access) : nullptr;
  }
  std::string ErrorOf() const {
    return std::string(Access::Create(options_, [] { return kNow; }).status().message());
  }

  static Evidence Token(const std::string& token) {
    return {.is_private = true, .authorizations = {absl::StrCat("Bearer ", token)}};
  }
  static std::string NameOf(const Access& access, const Evidence& evidence) {
    const auto client = access.Identify(evidence);
    return client.ok() ? client->name : std::string(client.status().message());
  }

  std::string folder_;
  Access::Options options_;
};

TEST_F(AccessTest, WithoutProofsNobodyIsKnownAndTokensMeanNothing) {
  const auto access = Make();
  for (const Evidence& evidence : {Evidence(), Token("secret"), Evidence{.authorizations = {"Bearer secret"}}}) {
    const auto client = access->Identify(evidence);
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_EQ(client->name, "");
    EXPECT_EQ(client->proof, Proof::kNone);
  }
}

TEST_F(AccessTest, WhereTokensAreTakenAClientHasToShowOneOrACertificate) {
  options_.config.set_token_file(Path("tokens"));
  const auto access = Make();
  EXPECT_EQ(access->Identify(Token("secret"))->name, "team-a");
  EXPECT_EQ(access->Identify(Token("secret"))->proof, Proof::kToken);
  EXPECT_EQ(access->Identify({.has_certificate = true, .uris = {"team-c"}})->name, "team-c");
  for (const Evidence& evidence :
       {Evidence(), Token("wrong"), Token(""), Evidence{.authorizations = {"Bearer secret"}}})
    EXPECT_TRUE(absl::IsUnauthenticated(access->Identify(evidence).status()));
  EXPECT_THAT(NameOf(*access, Evidence()), HasSubstr("--token-file"));
  EXPECT_THAT(NameOf(*access, Token("wrong")), HasSubstr("does not know the client's token"));
}

TEST_F(AccessTest, ACertificateGoesBeforeAToken) {
  options_.config.set_token_file(Path("tokens"));
  Evidence both = Token("secret");
  both.has_certificate = true;
  both.uris = {"team-c"};
  EXPECT_EQ(NameOf(*Make(), both), "team-c");
}

TEST_F(AccessTest, ATokenIsLookedUpBeforeItIsTakenForAJwt) {
  const JwtSigner signer(JwtSigner::Kind::kEc);
  Write("keys", signer.Jwks());
  auto& jwt = *options_.config.add_jwt();
  jwt.set_issuer("https://issuer.example");
  jwt.set_audience("stoker");
  jwt.set_keys_file(Path("keys"));
  options_.config.set_token_file(Path("tokens"));
  const auto access = Make();
  const std::string claims =
      absl::StrCat(R"({"iss": "https://issuer.example", "aud": "stoker", "sub": "team-j", "exp": )",
                   absl::ToUnixSeconds(kNow) + 10, "}");
  EXPECT_EQ(NameOf(*access, Token("secret")), "team-a");
  EXPECT_EQ(access->Identify(Token(signer.Sign(claims)))->name, "team-j");
  EXPECT_EQ(access->Identify(Token(signer.Sign(claims)))->proof, Proof::kJwt);
  EXPECT_THAT(NameOf(*access, Token("a.b.c")), HasSubstr("the JSON Web Token is none"));

  const JwtSigner next(JwtSigner::Kind::kEc, "key-2");
  Write("keys", next.Jwks());
  EXPECT_TRUE(access->Refresh().ok());
  EXPECT_EQ(NameOf(*access, Token(next.Sign(claims))), "team-j");
  EXPECT_THAT(NameOf(*access, Token(signer.Sign(claims))), HasSubstr("is not signed"));
}

TEST_F(AccessTest, ATokenFileThatChangedIsReadAgainAndABadOneIsNot) {
  options_.config.set_token_file(Path("tokens"));
  const auto access = Make();
  Write("tokens", absl::StrCat(kOther, " team-b\n"));
  EXPECT_EQ(NameOf(*access, Token("secret")), "team-a");
  EXPECT_TRUE(access->Refresh().ok());
  EXPECT_EQ(NameOf(*access, Token("other")), "team-b");
  EXPECT_THAT(NameOf(*access, Token("secret")), HasSubstr("does not know"));
  for (const char* bad : {"nonsense\n", ""}) {
    std::filesystem::remove(Path("tokens"));
    if (*bad != '\0') Write("tokens", bad);
    EXPECT_THAT(std::string(access->Refresh().message()), testing::StartsWith("access.token_file: "));
    EXPECT_FALSE(access->Refresh().ok()) << "it is wrong until it changes";
    EXPECT_EQ(NameOf(*access, Token("other")), "team-b");
  }
  Write("tokens", "");
  EXPECT_TRUE(access->Refresh().ok());
  EXPECT_THAT(NameOf(*access, Token("other")), HasSubstr("does not know"));
}

TEST_F(AccessTest, ANewPolicyIsTakenUpAsAWholeOrNotAtAll) {
  const auto access = Make();
  EXPECT_TRUE(access->rights()->MayRead("team-a", "private"));
  Access::Options next = options_;
  next.allowed["private"] = {"team-b"};
  next.config.set_token_file(Path("missing"));
  EXPECT_THAT(std::string(access->Apply(next).message()), HasSubstr("access.token_file: cannot be read"));
  EXPECT_TRUE(access->rights()->MayRead("team-a", "private"));
  next.config.set_token_file(Path("tokens"));
  EXPECT_FALSE(access->Apply(next, [] { return absl::InternalError("no"); }).ok());
  EXPECT_TRUE(access->rights()->MayRead("team-a", "private"));
  EXPECT_TRUE(access->Identify({}).ok());
  ASSERT_TRUE(access->Apply(next).ok());
  EXPECT_FALSE(access->rights()->MayRead("team-a", "private"));
  EXPECT_TRUE(access->rights()->MayRead("team-b", "private"));
  EXPECT_FALSE(access->Identify({}).ok());
}

TEST_F(AccessTest, AnIdentityHasAsManyStreamsAsItsQuotaAllows) {
  (*options_.config.mutable_quotas())["team-a"].set_streams(2);
  const auto access = Make();
  auto first = access->Admit({.name = "team-a"}), second = access->Admit({.name = "team-a"});
  ASSERT_TRUE(first.ok() && second.ok());
  const auto third = access->Admit({.name = "team-a"});
  EXPECT_TRUE(absl::IsResourceExhausted(third.status()));
  EXPECT_THAT(std::string(third.status().message()), HasSubstr("2 streams open here, of 2"));
  EXPECT_TRUE(access->Admit({.name = "team-b"}).ok());
  first->reset();
  EXPECT_TRUE(access->Admit({.name = "team-a"}).ok());
}

TEST_F(AccessTest, WhatIsWrongWithTheConfigurationIsNamed) {
  auto& jwt = *options_.config.add_jwt();
  EXPECT_THAT(ErrorOf(), testing::StartsWith("access.jwt[0].issuer: "));
  jwt.set_issuer("i");
  EXPECT_THAT(ErrorOf(), testing::StartsWith("access.jwt[0].audience: "));
  jwt.set_audience("a");
  EXPECT_THAT(ErrorOf(), testing::StartsWith("access.jwt[0].keys_file: "));
  jwt.set_keys_file(Path("tokens"));
  EXPECT_THAT(ErrorOf(), testing::StartsWith("access.jwt[0].keys_file: " + Path("tokens")));
  *options_.config.add_jwt() = jwt;
  EXPECT_THAT(ErrorOf(), testing::StartsWith("access.jwt[1].issuer: "));
  options_.config.clear_jwt();
  options_.allowed["open"] = {""};
  EXPECT_THAT(ErrorOf(), HasSubstr("dataset open: allow: "));
}

}  // namespace
}  // namespace stoker
