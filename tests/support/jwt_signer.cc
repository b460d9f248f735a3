#include "tests/support/jwt_signer.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

// A parameter of the key as a big-endian number, of at least `bytes`.
std::string Number(EVP_PKEY* key, const char* name, int bytes = 0) {
  BIGNUM* number = nullptr;
  EXPECT_EQ(EVP_PKEY_get_bn_param(key, name, &number), 1) << name;
  std::string text(std::max(bytes, BN_num_bytes(number)), '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(text.data()), static_cast<int>(text.size()));
  BN_free(number);
  return text;
}

// The form of an ES256 signature in a token: both numbers one after the other.
std::string Pair(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size()));
  std::string text(64, '\0');
  auto* out = reinterpret_cast<unsigned char*>(text.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(pair), out, 32);
  BN_bn2binpad(ECDSA_SIG_get0_s(pair), out + 32, 32);
  ECDSA_SIG_free(pair);
  return text;
}

}  // namespace

std::string Base64Url(const std::string& bytes) {
  std::string text = absl::WebSafeBase64Escape(bytes);
  while (!text.empty() && text.back() == '=') text.pop_back();
  return text;
}

JwtSigner::JwtSigner(Kind kind, std::string key_id, int bits)
    : kind_(kind),
      key_id_(std::move(key_id)),
      key_(kind == Kind::kRsa ? EVP_RSA_gen(static_cast<unsigned>(bits)) : EVP_EC_gen("P-256"), EVP_PKEY_free) {}

std::string JwtSigner::Jwk() const {
  const auto part = [&](const char* name, int bytes = 0) { return Base64Url(Number(key_.get(), name, bytes)); };
  if (kind_ == Kind::kRsa)
    return absl::StrCat("{\"kty\": \"RSA\", \"use\": \"sig\", \"kid\": \"", key_id_, "\", \"n\": \"",
                        part(OSSL_PKEY_PARAM_RSA_N), "\", \"e\": \"", part(OSSL_PKEY_PARAM_RSA_E), "\"}");
  return absl::StrCat("{\"kty\": \"EC\", \"crv\": \"P-256\", \"kid\": \"", key_id_, "\", \"x\": \"",
                      part(OSSL_PKEY_PARAM_EC_PUB_X, 32), "\", \"y\": \"", part(OSSL_PKEY_PARAM_EC_PUB_Y, 32), "\"}");
}

std::string JwtSigner::Sign(const std::string& claims) const {
  const char* algorithm = kind_ == Kind::kRsa ? "RS256" : "ES256";
  return SignWithHeader(absl::StrCat("{\"alg\": \"", algorithm, "\", \"kid\": \"", key_id_, "\"}"), claims);
}

std::string JwtSigner::SignWithHeader(const std::string& header, const std::string& claims) const {
  const std::string text = absl::StrCat(Base64Url(header), ".", Base64Url(claims));
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  EXPECT_EQ(EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key_.get()), 1);
  size_t size = 0;
  EXPECT_EQ(EVP_DigestSign(context, nullptr, &size, bytes, text.size()), 1);
  std::string signature(size, '\0');
  EXPECT_EQ(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size, bytes, text.size()), 1);
  signature.resize(size);
  EVP_MD_CTX_free(context);
  return absl::StrCat(text, ".", Base64Url(kind_ == Kind::kRsa ? signature : Pair(signature)));
}

}  // namespace stoker
