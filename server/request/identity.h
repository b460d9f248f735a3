#ifndef STOKER_SERVER_REQUEST_IDENTITY_H_
#define STOKER_SERVER_REQUEST_IDENTITY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/server_context.h"

namespace stoker {

// The longest name of an identity, in bytes.
inline constexpr size_t kMaxIdentityBytes = 256;

// Who a client is. A value.
struct ClientIdentity {
  enum class Proof { kNone, kCertificate, kToken, kJwt };

  // What the client is known by, in `allow` and in quotas. Empty for a client without a proof.
  std::string name;
  Proof proof = Proof::kNone;
};

// "certificate", "token", "jwt" or "nothing", for logs.
const char* NameOf(ClientIdentity::Proof proof);

// OK if an identity may be called `name`: 1 to kMaxIdentityBytes of UTF-8 without control characters. The error is a
// clause for after "the identity ", and does not show the name.
absl::Status ValidateIdentity(std::string_view name);

// What a call brought along that says who made it. A value.
struct Evidence {
  // The connection is by TLS or a Unix socket: who sends a token here does not show it to others.
  bool is_private = false;

  // The client proved by TLS that it holds a certificate. The names are its own, by kind.
  bool has_certificate = false;
  std::vector<std::string> uris, dns_names, emails;
  std::string common_name;

  // What each header `authorization` says.
  std::vector<std::string> authorizations;
};

// What the call of `context` brought along. gRPC has verified the certificate in the handshake.
Evidence EvidenceOf(const grpc::CallbackServerContext& context);

// The name that a certificate is known by: of the subject's alternative names the first URI, else the first DNS name,
// else the first address of mail; without any of them the common name. Unauthenticated if there is none, or if it
// cannot be an identity's.
absl::StatusOr<std::string> CertificateIdentity(const Evidence& evidence);

// The bearer token (RFC 6750), or none where no header `authorization` was sent. Unauthenticated for several headers,
// or another scheme; and for a token on a connection that others may read.
absl::StatusOr<std::optional<std::string>> BearerToken(const Evidence& evidence);

}  // namespace stoker

#endif  // STOKER_SERVER_REQUEST_IDENTITY_H_
