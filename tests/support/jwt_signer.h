#ifndef STOKER_TESTS_SUPPORT_JWT_SIGNER_H_
#define STOKER_TESTS_SUPPORT_JWT_SIGNER_H_

#include <memory>
#include <string>

struct evp_pkey_st;

namespace stoker {

// An issuer of JSON Web Tokens with one key. Immutable.
class JwtSigner {
 public:
  enum class Kind { kRsa, kEc };

  // `bits` of an RSA key; an EC key is on P-256.
  explicit JwtSigner(Kind kind, std::string key_id = "key-1", int bits = 2048);

  // The key as a JSON Web Key, and a set with it alone.
  std::string Jwk() const;
  std::string Jwks() const { return "{\"keys\": [" + Jwk() + "]}"; }

  // A token with these claims, a JSON object, signed by RS256 or ES256.
  std::string Sign(const std::string& claims) const;

  // The same with a header of one's own, whatever that says of the algorithm.
  std::string SignWithHeader(const std::string& header, const std::string& claims) const;

 private:
  const Kind kind_;
  const std::string key_id_;
  const std::shared_ptr<evp_pkey_st> key_;
};

// base64url without padding.
std::string Base64Url(const std::string& bytes);

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_JWT_SIGNER_H_
