#ifndef STOKER_SERVER_REQUEST_JWT_H_
#define STOKER_SERVER_REQUEST_JWT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "stoker/v1/config.pb.h"

struct evp_pkey_st;

namespace stoker {

// How far the issuers' clocks may be from this machine's.
inline constexpr absl::Duration kJwtLeeway = absl::Minutes(1);

// The public keys of one issuer: a JSON Web Key Set (RFC 7517). Immutable, hence thread-safe.
//
// Keys for RS256 (RSA of 2048 to 8192 bits) and ES256 (P-256) are taken. Others, and keys that are not for signatures,
// are left out, since a set may have some for other uses. There may be up to 64.
class JwtKeys {
 public:
  enum class Algorithm { kRs256, kEs256 };

  // InvalidArgument for what is no key set, or has no key that can be used.
  static absl::StatusOr<JwtKeys> Parse(std::string_view json);

  // True if one of the keys made `signature` over `signed_text`. With a `key_id` only keys of this id are asked.
  bool Verify(Algorithm algorithm, const std::string& key_id, std::string_view signed_text,
              std::string_view signature) const;

  size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::string id;
    Algorithm algorithm;
    std::shared_ptr<evp_pkey_st> key;
  };
  std::vector<Key> keys_;
};

// An issuer whose tokens a server takes. A value.
struct JwtIssuerKeys {
  v1::JwtIssuer issuer;
  std::shared_ptr<const JwtKeys> keys;
};

// True if `token` has the form of a JSON Web Token: three parts with dots between them.
bool LooksLikeJwt(std::string_view token);

// The identity that `token`, a JSON Web Token (RFC 7519) in compact form, proves at `now`: the issuer's identity_claim.
// Its `iss` must be one of `issuers`, its signature by one of that issuer's keys with RS256 or ES256, `aud` the
// issuer's audience or a list with it, and `exp` to come; `nbf` must be past where it is given. Unauthenticated says
// what is wrong; of claims only where the signature is good.
absl::StatusOr<std::string> VerifyJwt(std::string_view token, const std::vector<JwtIssuerKeys>& issuers,
                                      absl::Time now);

}  // namespace stoker

#endif  // STOKER_SERVER_REQUEST_JWT_H_
