#include "server/request/identity.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/config/text.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/security/auth_context.h"

namespace stoker {
namespace {

constexpr char kScheme[] = "Bearer ";

std::vector<std::string> Values(const grpc::AuthContext& context, const char* property) {
  std::vector<std::string> values;
  for (const grpc::string_ref& value : context.FindPropertyValues(property))
    values.emplace_back(value.data(), value.size());
  return values;
}

std::string First(const std::vector<std::string>& values) { return values.empty() ? "" : values.front(); }

}  // namespace

const char* NameOf(ClientIdentity::Proof proof) {
  switch (proof) {
    case ClientIdentity::Proof::kCertificate: return "certificate";
    case ClientIdentity::Proof::kToken: return "token";
    case ClientIdentity::Proof::kJwt: return "jwt";
    case ClientIdentity::Proof::kNone: break;
  }
  return "nothing";
}

absl::Status ValidateIdentity(std::string_view name) {
  if (name.empty()) return absl::InvalidArgumentError("is empty");
  if (name.size() > kMaxIdentityBytes)
    return absl::InvalidArgumentError(absl::StrCat("has ", name.size(), " bytes, more than ", kMaxIdentityBytes));
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (!IsUtf8(name) || std::any_of(name.begin(), name.end(), is_control))
    return absl::InvalidArgumentError("has control characters, or is not UTF-8");
  return absl::OkStatus();
}

Evidence EvidenceOf(const grpc::CallbackServerContext& context) {
  Evidence evidence;
  evidence.is_private = absl::StartsWith(context.peer(), "unix:");
  if (const auto auth = context.auth_context(); auth != nullptr) {
    const std::string transport = First(Values(*auth, GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME));
    if (transport == GRPC_SSL_TRANSPORT_SECURITY_TYPE || transport == GRPC_TLS_TRANSPORT_SECURITY_TYPE)
      evidence.is_private = true;
    evidence.has_certificate = !Values(*auth, GRPC_X509_PEM_CERT_PROPERTY_NAME).empty();
    evidence.uris = Values(*auth, GRPC_PEER_URI_PROPERTY_NAME);
    evidence.dns_names = Values(*auth, GRPC_PEER_DNS_PROPERTY_NAME);
    evidence.emails = Values(*auth, GRPC_PEER_EMAIL_PROPERTY_NAME);
    evidence.common_name = First(Values(*auth, GRPC_X509_CN_PROPERTY_NAME));
  }
  const auto [begin, end] = context.client_metadata().equal_range("authorization");
  for (auto header = begin; header != end; ++header)
    evidence.authorizations.emplace_back(header->second.data(), header->second.size());
  return evidence;
}

absl::StatusOr<std::string> CertificateIdentity(const Evidence& evidence) {
  std::string name = evidence.common_name;
  for (const auto* names : {&evidence.emails, &evidence.dns_names, &evidence.uris})
    if (!names->empty()) name = names->front();
  if (const auto valid = ValidateIdentity(name); !valid.ok())
    return absl::UnauthenticatedError(
        absl::StrCat("the client's certificate does not say who the client is: its name ", valid.message(),
                     "; give it a URI, a DNS name or an address of mail as subjectAltName"));
  return name;
}

absl::StatusOr<std::optional<std::string>> BearerToken(const Evidence& evidence) {
  if (evidence.authorizations.empty()) return std::nullopt;
  if (evidence.authorizations.size() > 1)
    return absl::UnauthenticatedError("the call has more than one header `authorization`");
  const std::string& header = evidence.authorizations.front();
  if (!absl::StartsWithIgnoreCase(header, kScheme))
    return absl::UnauthenticatedError("the header `authorization` is no bearer token");
  if (!evidence.is_private)
    return absl::UnauthenticatedError(
        "a token came in plaintext, where others may read it, and is not taken; connect by TLS or a Unix socket, and "
        "replace the token");
  return header.substr(sizeof kScheme - 1);
}

}  // namespace stoker
