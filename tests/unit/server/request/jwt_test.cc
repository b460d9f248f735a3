#include "server/request/jwt.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/jwt_signer.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using Kind = JwtSigner::Kind;

const absl::Time kToday = absl::FromUnixSeconds(1'800'000'000);

// Keys take long to make, so the tests share them.
const JwtSigner& Rsa() {
  static const JwtSigner signer(Kind::kRsa);
  return signer;
}
const JwtSigner& Ec() {
  static const JwtSigner signer(Kind::kEc);
  return signer;
}

JwtIssuerKeys IssuerWith(const std::string& jwks, const std::string& claim = "") {
  JwtIssuerKeys issuer;
  issuer.issuer.set_issuer("https://issuer.example");
  issuer.issuer.set_audience("stoker");
  issuer.issuer.set_identity_claim(claim);
  auto keys = JwtKeys::Parse(jwks);
  EXPECT_TRUE(keys.ok()) << keys.status();
  if (keys.ok()) issuer.keys = std::make_shared<const JwtKeys>(*std::move(keys));
  return issuer;
}

nlohmann::json Claims() {
  return {{"iss", "https://issuer.example"},
          {"aud", "stoker"},
          {"sub", "team-a"},
          {"exp", absl::ToUnixSeconds(kToday + absl::Hours(1))}};
}

// Claims() but for one.
std::string With(const std::string& claim, const nlohmann::json& value) {
  nlohmann::json claims = Claims();
  claims[claim] = value;
  return claims.dump();
}
std::string Without(const std::string& claim) {
  nlohmann::json claims = Claims();
  claims.erase(claim);
  return claims.dump();
}

absl::StatusOr<std::string> Verify(const std::string& token, const std::string& jwks = Ec().Jwks()) {
  return VerifyJwt(token, {IssuerWith(jwks)}, kToday);
}

void ExpectRefused(const std::string& token, const std::string& reason, const std::string& jwks = Ec().Jwks()) {
  const auto identity = Verify(token, jwks);
  EXPECT_TRUE(absl::IsUnauthenticated(identity.status())) << reason << ": " << identity.status();
  EXPECT_THAT(std::string(identity.status().message()), HasSubstr(reason));
}

TEST(JwtTest, ASignedTokenProvesItsSubject) {
  for (const JwtSigner* signer : {&Rsa(), &Ec()}) {
    const auto identity = Verify(signer->Sign(Claims().dump()), signer->Jwks());
    ASSERT_TRUE(identity.ok()) << identity.status();
    EXPECT_EQ(*identity, "team-a");
  }
}

// A token that an implementation of another language made, with its keys: the example of RFC 7515, appendix A.3, whose
// claims name no audience, so that all but the signature is refused.
TEST(JwtTest, TheSignatureOfTheStandardsExampleIsGood) {
  const std::string jwks =
      R"({"keys": [{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
          "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})";
  const std::string text =
      "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0c"
      "nVlfQ";
  const std::string signature =
      "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
  JwtIssuerKeys issuer = IssuerWith(jwks);
  issuer.issuer.set_issuer("joe");
  const auto good = VerifyJwt(absl::StrCat(text, ".", signature), {issuer}, kToday);
  EXPECT_THAT(std::string(good.status().message()), HasSubstr("another audience"));
  const auto bad = VerifyJwt(absl::StrCat(text, ".A", signature.substr(1)), {issuer}, kToday);
  EXPECT_THAT(std::string(bad.status().message()), HasSubstr("is not signed"));
}

TEST(JwtTest, AnotherClaimCanBeTheIdentity) {
  const std::string token = Ec().Sign(With("group", "team-b"));
  EXPECT_EQ(*VerifyJwt(token, {IssuerWith(Ec().Jwks(), "group")}, kToday), "team-b");
}

TEST(JwtTest, AServiceAccountsTokenHasAListOfAudiences) {
  EXPECT_EQ(*Verify(Ec().Sign(With("aud", {"https://kubernetes.default.svc", "stoker"}))), "team-a");
}

TEST(JwtTest, AlgorithmsThatProveNothingAreRefused) {
  const std::string claims = Claims().dump();
  for (const char* algorithm : {"none", "None", "HS256", "RS384", "PS256", "ES384", "EdDSA", ""}) {
    const std::string header = absl::StrCat("{\"alg\": \"", algorithm, "\"}");
    ExpectRefused(Ec().SignWithHeader(header, claims), "neither RS256 nor ES256");
    ExpectRefused(absl::StrCat(Base64Url(header), ".", Base64Url(claims), "."), "neither RS256 nor ES256");
  }
  ExpectRefused(Ec().SignWithHeader("{}", claims), "neither RS256 nor ES256");
  ExpectRefused(Ec().SignWithHeader(R"({"alg": ["ES256"]})", claims), "neither RS256 nor ES256");
}

TEST(JwtTest, AKeyIsUsedWithItsOwnAlgorithmAlone) {
  ExpectRefused(Ec().SignWithHeader(R"({"alg": "RS256"})", Claims().dump()), "is not signed");
  ExpectRefused(Rsa().SignWithHeader(R"({"alg": "ES256"})", Claims().dump()), "is not signed", Rsa().Jwks());
}

TEST(JwtTest, AnotherKeysSignatureIsRefused) {
  const JwtSigner other(Kind::kEc);
  ExpectRefused(other.Sign(Claims().dump()), "is not signed");
  const JwtSigner renamed(Kind::kEc, "key-2");
  ExpectRefused(renamed.Sign(Claims().dump()), "is not signed");
}

TEST(JwtTest, ATokenThatNamesNoKeyIsTriedWithAll) {
  const JwtSigner second(Kind::kEc, "key-2");
  const std::string both = absl::StrCat("{\"keys\": [", Ec().Jwk(), ", ", Rsa().Jwk(), ", ", second.Jwk(), "]}");
  EXPECT_TRUE(Verify(second.SignWithHeader(R"({"alg": "ES256"})", Claims().dump()), both).ok());
  EXPECT_TRUE(Verify(second.Sign(Claims().dump()), both).ok());
}

TEST(JwtTest, WhatWasChangedAfterSigningIsRefused) {
  const std::string token = Ec().Sign(Claims().dump());
  const size_t dot = token.find('.'), last = token.rfind('.');
  const std::string forged = Base64Url(With("sub", "team-b"));
  ExpectRefused(absl::StrCat(token.substr(0, dot + 1), forged, token.substr(last)), "is not signed");
  ExpectRefused(token.substr(0, last + 1), "is not signed");
  ExpectRefused(absl::StrCat(token, "AA"), "is not signed");
}

TEST(JwtTest, ClaimsAreChecked) {
  ExpectRefused(Ec().Sign(With("iss", "https://other.example")), "issuer that this server does not know");
  ExpectRefused(Ec().Sign(Without("iss")), "issuer that this server does not know");
  ExpectRefused(Ec().Sign(With("aud", "other")), "another audience");
  ExpectRefused(Ec().Sign(With("aud", nlohmann::json::array())), "another audience");
  ExpectRefused(Ec().Sign(Without("aud")), "another audience");
  ExpectRefused(Ec().Sign(Without("sub")), "does not say who");
  ExpectRefused(Ec().Sign(With("sub", "")), "does not say who");
  ExpectRefused(Ec().Sign(With("sub", 7)), "does not say who");
  ExpectRefused(Ec().Sign(With("sub", "a\nb")), "does not say who");
  ExpectRefused(Ec().SignWithHeader(R"({"alg": "ES256", "crit": ["b64"], "b64": false})", Claims().dump()),
                "critical extensions");
}

TEST(JwtTest, TimesAreCheckedWithALeeway) {
  const int64_t now = absl::ToUnixSeconds(kToday), leeway = absl::ToInt64Seconds(kJwtLeeway);
  EXPECT_TRUE(Verify(Ec().Sign(With("exp", now - leeway + 1))).ok());
  ExpectRefused(Ec().Sign(With("exp", now - leeway)), "expired at 2027-");
  EXPECT_TRUE(Verify(Ec().Sign(With("nbf", now + leeway))).ok());
  ExpectRefused(Ec().Sign(With("nbf", now + leeway + 1)), "is not valid before 2027-");
  ExpectRefused(Ec().Sign(With("nbf", "soon")), "from when on");
  ExpectRefused(Ec().Sign(Without("exp")), "does not say when it expires");
  ExpectRefused(Ec().Sign(With("exp", "2030")), "does not say when it expires");
  ExpectRefused(Ec().Sign(With("exp", 1e300)), "does not say when it expires");
  EXPECT_TRUE(Verify(Ec().Sign(With("exp", static_cast<double>(now) + 0.5))).ok());
}

TEST(JwtTest, WhatIsNoTokenIsRefused) {
  for (const char* none : {"", "a", "a.b", "a.b.c", "..", "....", "e30.e30.", "e30=.e30.e30", "e 30.e30.e30",
                           "bnVsbA.e30.e30", "W10.W10.W10", "e30.e30.e\n30"})
    ExpectRefused(none, "the JSON Web Token is");
}

TEST(JwtTest, KeysThatProveLittleAreNotTaken) {
  const JwtSigner weak(Kind::kRsa, "weak", 1024);
  EXPECT_TRUE(absl::IsInvalidArgument(JwtKeys::Parse(weak.Jwks()).status()));
  const auto with = [](const char* from, const char* to) { return absl::StrReplaceAll(Ec().Jwks(), {{from, to}}); };
  for (const std::string& none :
       {std::string(), std::string("{}"), std::string("[]"), std::string(R"({"keys": []})"),
        std::string(R"({"keys": [1, null]})"), with("P-256", "P-384"), with("\"x\": \"", "\"x\": \"AA"),
        with("\"crv\"", "\"use\": \"enc\", \"crv\""), with("\"crv\"", "\"alg\": \"ES384\", \"crv\""), with("EC", "oct"),
        with("\"y\": \"", "\"y\": \"*")})
    EXPECT_TRUE(absl::IsInvalidArgument(JwtKeys::Parse(none).status())) << none;
  EXPECT_EQ(JwtKeys::Parse(absl::StrCat("{\"keys\": [", weak.Jwk(), ", ", Ec().Jwk(), "]}"))->size(), 1);
}

TEST(JwtTest, APointThatIsNotOnTheCurveIsNoKey) {
  const std::string jwks = R"({"keys": [{"kty": "EC", "crv": "P-256", "x": ")" + Base64Url(std::string(32, '\x01')) +
                           R"(", "y": ")" + Base64Url(std::string(32, '\x01')) + R"("}]})";
  EXPECT_TRUE(absl::IsInvalidArgument(JwtKeys::Parse(jwks).status()));
}

}  // namespace
}  // namespace stoker
