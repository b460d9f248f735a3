// Fuzzes what says who a client is: JSON Web Tokens, which any client may send, and the key sets of issuers, by the
// first byte. No token that a fuzzer makes is good, for it does not have the key.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "server/request/jwt.h"

namespace {

// The key of RFC 7515, appendix A.3.
constexpr std::string_view kKeys =
    R"({"keys": [{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})";

std::vector<stoker::JwtIssuerKeys> Issuers() {
  stoker::JwtIssuerKeys issuer;
  issuer.issuer.set_issuer("joe");
  issuer.issuer.set_audience("stoker");
  auto keys = stoker::JwtKeys::Parse(kKeys);
  if (!keys.ok()) std::abort();
  issuer.keys = std::make_shared<const stoker::JwtKeys>(*std::move(keys));
  return {issuer};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<stoker::JwtIssuerKeys> issuers = Issuers();
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    if (stoker::VerifyJwt(text, issuers, absl::FromUnixSeconds(1'300'000'000)).ok()) std::abort();
  } else if (const auto keys = stoker::JwtKeys::Parse(text); keys.ok()) {
    if (keys->size() == 0 || keys->size() > 64) std::abort();
    if (keys->Verify(stoker::JwtKeys::Algorithm::kEs256, "", "text", std::string(64, '\x01'))) std::abort();
  }
  return 0;
}
