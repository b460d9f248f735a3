#include "server/request/jwt.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/config/text.h"
#include "common/status_macros.h"
#include "nlohmann/json.hpp"
#include "server/request/identity.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostKeys = 64;
constexpr int kLeastRsaBits = 2048, kMostRsaBits = 8192;
constexpr size_t kP256Bytes = 32;  // of a coordinate, and of each half of an ES256 signature

using BigNumber = std::unique_ptr<BIGNUM, decltype(&BN_free)>;
using ParameterBuilder = std::unique_ptr<OSSL_PARAM_BLD, decltype(&OSSL_PARAM_BLD_free)>;

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

BigNumber ToNumber(std::string_view bytes) {
  return {BN_bin2bn(Bytes(bytes), static_cast<int>(bytes.size()), nullptr), BN_free};
}

// Decodes base64url without padding (RFC 7515, section 2), and nothing that only resembles it.
std::optional<std::string> FromBase64Url(std::string_view text) {
  const auto belongs = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  std::string bytes;
  if (text.size() % 4 == 1 || !std::all_of(text.begin(), text.end(), belongs) ||
      !absl::WebSafeBase64Unescape(absl::string_view(text.data(), text.size()), &bytes))
    return std::nullopt;
  return bytes;
}

// The string at `key` of an object, or none.
std::optional<std::string> Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::string> Binary(const Json& object, const char* key) {
  const auto text = Text(object, key);
  return text.has_value() ? FromBase64Url(*text) : std::nullopt;
}

std::shared_ptr<EVP_PKEY> MakeKey(const char* type, OSSL_PARAM_BLD* builder) {
  const std::unique_ptr<OSSL_PARAM, decltype(&OSSL_PARAM_free)> parameters(OSSL_PARAM_BLD_to_param(builder),
                                                                           OSSL_PARAM_free);
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(
      EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr), EVP_PKEY_CTX_free);
  EVP_PKEY* key = nullptr;
  if (context == nullptr || parameters == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
    return nullptr;
  return {key, EVP_PKEY_free};
}

std::shared_ptr<EVP_PKEY> RsaKey(const Json& jwk) {
  const auto modulus = Binary(jwk, "n"), exponent = Binary(jwk, "e");
  if (!modulus.has_value() || !exponent.has_value() || modulus->size() > kMostRsaBits / 8 + 1 || exponent->size() > 8)
    return nullptr;
  const BigNumber n = ToNumber(*modulus), e = ToNumber(*exponent);
  const int bits = BN_num_bits(n.get());
  if (bits < kLeastRsaBits || bits > kMostRsaBits || !BN_is_odd(e.get()) || BN_is_one(e.get())) return nullptr;
  const ParameterBuilder builder(OSSL_PARAM_BLD_new(), OSSL_PARAM_BLD_free);
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  return MakeKey("RSA", builder.get());
}

std::shared_ptr<EVP_PKEY> EcKey(const Json& jwk) {
  const auto x = Binary(jwk, "x"), y = Binary(jwk, "y");
  if (Text(jwk, "crv") != "P-256" || !x.has_value() || !y.has_value() || x->size() != kP256Bytes ||
      y->size() != kP256Bytes)
    return nullptr;
  const std::string point = absl::StrCat("\x04", *x, *y);  // uncompressed (SEC 1, section 2.3.3)
  const ParameterBuilder builder(OSSL_PARAM_BLD_new(), OSSL_PARAM_BLD_free);
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  return MakeKey("EC", builder.get());
}

const char* NameOf(JwtKeys::Algorithm algorithm) { return algorithm == JwtKeys::Algorithm::kRs256 ? "RS256" : "ES256"; }

// Turns the two numbers of an ES256 signature (RFC 7518, section 3.4) into the form that OpenSSL takes; empty if they
// are none.
std::string ToDer(std::string_view signature) {
  if (signature.size() != 2 * kP256Bytes) return "";
  const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> pair(ECDSA_SIG_new(), ECDSA_SIG_free);
  // The pair takes both numbers.
  ECDSA_SIG_set0(pair.get(), ToNumber(signature.substr(0, kP256Bytes)).release(),
                 ToNumber(signature.substr(kP256Bytes)).release());
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  std::string result;
  if (size > 0) result.assign(reinterpret_cast<char*>(der), size);
  OPENSSL_free(der);
  return result;
}

bool IsSignature(EVP_PKEY* key, std::string_view signed_text, std::string_view signature) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(signed_text), signed_text.size()) ==
             1;
}

}  // namespace

absl::StatusOr<JwtKeys> JwtKeys::Parse(std::string_view text) {
  const auto forget_errors = absl::MakeCleanup([] { ERR_clear_error(); });  // gRPC would take them for its own.
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("keys") || !json["keys"].is_array())
    return absl::InvalidArgumentError("this is no JSON Web Key Set: {\"keys\": [...]}");
  JwtKeys keys;
  for (const Json& jwk : json["keys"]) {
    if (!jwk.is_object()) continue;
    if (const auto use = Text(jwk, "use"); use.has_value() && *use != "sig") continue;
    const auto type = Text(jwk, "kty");
    Key key{.id = Text(jwk, "kid").value_or(""),
            .algorithm = type == "RSA" ? Algorithm::kRs256 : Algorithm::kEs256,
            .key = type == "RSA"  ? RsaKey(jwk)
                   : type == "EC" ? EcKey(jwk)
                                  : nullptr};
    if (const auto named = Text(jwk, "alg"); named.has_value() && *named != NameOf(key.algorithm)) continue;
    if (key.key == nullptr) continue;
    if (keys.keys_.size() == kMostKeys)
      return absl::InvalidArgumentError(absl::StrCat("this key set has more than ", kMostKeys, " keys"));
    keys.keys_.push_back(std::move(key));
  }
  if (keys.keys_.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("this key set has no key for RS256, of at least ", kLeastRsaBits, " bits, or ES256"));
  return keys;
}

bool JwtKeys::Verify(Algorithm algorithm, const std::string& key_id, std::string_view signed_text,
                     std::string_view signature) const {
  const auto forget_errors = absl::MakeCleanup([] { ERR_clear_error(); });
  const std::string der = algorithm == Algorithm::kEs256 ? ToDer(signature) : std::string(signature);
  return std::any_of(keys_.begin(), keys_.end(), [&](const Key& key) {
    return key.algorithm == algorithm && (key_id.empty() || key.id == key_id) &&
           IsSignature(key.key.get(), signed_text, der);
  });
}

namespace {

absl::Status Refused(const std::string& reason) { return absl::UnauthenticatedError("the JSON Web Token " + reason); }

// A token whose parts were decoded, and nothing of it verified.
struct Parts {
  JwtKeys::Algorithm algorithm;
  std::string key_id;
  std::string_view signed_text;
  std::string signature;
  Json claims;
};

std::optional<Json> ObjectOf(std::string_view base64url) {
  const auto text = FromBase64Url(base64url);
  if (!text.has_value()) return std::nullopt;
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

absl::StatusOr<Parts> Split(std::string_view token) {
  const size_t first = token.find('.'), last = token.rfind('.');
  if (!LooksLikeJwt(token)) return Refused("is none: it has not three parts");
  const auto header = ObjectOf(token.substr(0, first));
  auto claims = ObjectOf(token.substr(first + 1, last - first - 1));
  auto signature = FromBase64Url(token.substr(last + 1));
  if (!header.has_value() || !claims.has_value() || !signature.has_value())
    return Refused("is none: its parts are not base64url of JSON objects and a signature");
  const std::string algorithm = Text(*header, "alg").value_or("");
  if (algorithm != "RS256" && algorithm != "ES256") return Refused("is signed by neither RS256 nor ES256");
  if (header->contains("crit")) return Refused("has critical extensions, which this server does not know");
  return Parts{.algorithm = algorithm == "RS256" ? JwtKeys::Algorithm::kRs256 : JwtKeys::Algorithm::kEs256,
               .key_id = Text(*header, "kid").value_or(""),
               .signed_text = token.substr(0, last),
               .signature = *std::move(signature),
               .claims = *std::move(claims)};
}

bool IsFor(const Json& claims, const std::string& audience) {
  const auto found = claims.find("aud");
  if (found == claims.end()) return false;
  if (found->is_string()) return found->get_ref<const std::string&>() == audience;
  return found->is_array() && std::any_of(found->begin(), found->end(), [&](const Json& one) {
           return one.is_string() && one.get_ref<const std::string&>() == audience;
         });
}

// Seconds since 1970 at `key`; none for what is no number, or further than any clock.
std::optional<absl::Time> TimeAt(const Json& claims, const char* key) {
  const auto found = claims.find(key);
  if (found == claims.end() || !found->is_number()) return std::nullopt;
  const double seconds = found->get<double>();
  if (!std::isfinite(seconds) || std::abs(seconds) > 1e15) return std::nullopt;
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

absl::Status CheckTimes(const Json& claims, absl::Time now) {
  const auto expires = TimeAt(claims, "exp"), begins = TimeAt(claims, "nbf");
  if (!expires.has_value()) return Refused("does not say when it expires");
  if (now >= *expires + kJwtLeeway)
    return Refused(absl::StrCat("expired at ", absl::FormatTime(absl::RFC3339_sec, *expires, absl::UTCTimeZone())));
  if (claims.contains("nbf") && !begins.has_value()) return Refused("does not say from when on it is valid");
  if (begins.has_value() && now < *begins - kJwtLeeway)
    return Refused(
        absl::StrCat("is not valid before ", absl::FormatTime(absl::RFC3339_sec, *begins, absl::UTCTimeZone())));
  return absl::OkStatus();
}

}  // namespace

bool LooksLikeJwt(std::string_view token) { return std::count(token.begin(), token.end(), '.') == 2; }

absl::StatusOr<std::string> VerifyJwt(std::string_view token, const std::vector<JwtIssuerKeys>& issuers,
                                      absl::Time now) {
  STOKER_ASSIGN_OR_RETURN(const Parts parts, Split(token));
  const std::string issuer = Text(parts.claims, "iss").value_or("");
  const auto found = std::find_if(issuers.begin(), issuers.end(),
                                  [&](const JwtIssuerKeys& known) { return known.issuer.issuer() == issuer; });
  if (issuer.empty() || found == issuers.end()) return Refused("is by an issuer that this server does not know");
  if (!found->keys->Verify(parts.algorithm, parts.key_id, parts.signed_text, parts.signature))
    return Refused("is not signed by a key of its issuer");
  if (!IsFor(parts.claims, found->issuer.audience()))
    return Refused(absl::StrCat("is for another audience than '", found->issuer.audience(), "'"));
  STOKER_RETURN_IF_ERROR(CheckTimes(parts.claims, now));
  const std::string claim = found->issuer.identity_claim().empty() ? "sub" : found->issuer.identity_claim();
  const std::string identity = Text(parts.claims, claim.c_str()).value_or("");
  if (const auto valid = ValidateIdentity(identity); !valid.ok())
    return Refused(absl::StrCat("does not say who the client is: its claim '", claim, "' ", valid.message()));
  return identity;
}

}  // namespace stoker
