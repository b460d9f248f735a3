#include "client/receive/greeting.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/config/pem.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

// What begins a connection of HTTP/2: the preface, and an empty frame SETTINGS (RFC 9113, sections 3.4 and 6.5).
constexpr std::string_view kHello("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", 33);

// The first byte of a TLS record that is an alert or a handshake message (RFC 8446, section 5.1).
constexpr unsigned char kTlsAlert = 21, kTlsHandshake = 22;

class Socket {
 public:
  explicit Socket(int socket) : socket_(socket) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (socket_ >= 0) close(socket_);
  }
  int get() const { return socket_; }

  // Waits until the socket can be read or written. False at the deadline.
  bool Await(short events, absl::Time deadline) const {
    pollfd ready = {.fd = socket_, .events = events, .revents = 0};
    const auto left = std::clamp<int64_t>(absl::ToInt64Milliseconds(deadline - SteadyNow()), 0, 60'000);
    return poll(&ready, 1, static_cast<int>(left)) > 0;
  }

 private:
  const int socket_;
};

Obstacle Certain(std::string reason) { return {.reason = std::move(reason), .definite = true, .lasting = true}; }

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Bio Over(const std::string& text) { return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free}; }
Certificate Next(BIO* bio) { return {PEM_read_bio_X509(bio, nullptr, nullptr, nullptr), X509_free}; }

bool IsAddress(const std::string& name) {
  in6_addr address;
  return inet_pton(AF_INET, name.c_str(), &address) == 1 || inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

std::string Utc(absl::Time time) { return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone()); }

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts = {};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? absl::FromTM(parts, absl::UTCTimeZone()) : absl::InfinitePast();
}

// The hosts and addresses that a certificate is for, for people.
std::string NamesIn(X509* certificate) {
  std::vector<std::string> names;
  auto* found = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(found); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found, i);
    if (name->type != GEN_DNS && name->type != GEN_IPADD) continue;
    const unsigned char* bytes = ASN1_STRING_get0_data(name->d.ia5);
    const int size = ASN1_STRING_length(name->d.ia5);
    char text[INET6_ADDRSTRLEN] = "";
    if (name->type == GEN_DNS) names.emplace_back(reinterpret_cast<const char*>(bytes), size);
    if (name->type == GEN_IPADD && inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes, text, sizeof text) != nullptr)
      names.emplace_back(text);
    if (names.size() == 4) break;
  }
  GENERAL_NAMES_free(found);
  return names.empty() ? "no host" : absl::StrJoin(names, ", ");
}

// One attempt at a TLS handshake, by this client's files.
class TlsAttempt {
 public:
  // `tls` must outlive it.
  TlsAttempt(const Security::Tls& tls, const std::string& name, bool verify)
      : tls_(tls), name_(name), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free), ssl_(nullptr, SSL_free) {
    // OpenSSL calls this where the server asks for a certificate.
    SSL_CTX_set_cert_cb(
        context_.get(),
        [](SSL*, void* attempt) {
          static_cast<TlsAttempt*>(attempt)->asked_ = true;
          return 1;
        },
        this);
    if (verify) Trust();
    Prove();
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_app_data(ssl_.get(), this);
    static constexpr unsigned char kProtocols[] = "\x02h2";
    SSL_set_alpn_protos(ssl_.get(), kProtocols, sizeof kProtocols - 1);
    if (!IsAddress(name)) SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
    if (!verify) return;
    X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl_.get());
    if (IsAddress(name))
      X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str());
    else
      X509_VERIFY_PARAM_set1_host(expected, name.c_str(), name.size());
  }

  TlsAttempt(const TlsAttempt&) = delete;
  TlsAttempt& operator=(const TlsAttempt&) = delete;

  // True when the handshake is done.
  bool Shake(const Socket& socket, absl::Time deadline) {
    SSL_set_fd(ssl_.get(), socket.get());
    ERR_clear_error();
    return Until(socket, deadline, [this] { return SSL_connect(ssl_.get()); });
  }

  // True when the server's first bytes came.
  bool Hear(const Socket& socket, absl::Time deadline) {
    ERR_clear_error();
    char byte = 0;
    return Until(socket, deadline, [&] { return SSL_read(ssl_.get(), &byte, 1); });
  }

  // Whether the other side answered as one that speaks TLS does.
  bool SawTls() const { return SSL_get_peer_cert_chain(ssl_.get()) != nullptr || alert_ != 0; }

  // What the handshake, or what followed, failed with.
  Obstacle Problem() const {
    if (const long verdict = SSL_get_verify_result(ssl_.get()); verdict != X509_V_OK) return Untrusted(verdict);
    if (reason_ == SSL_R_WRONG_VERSION_NUMBER || reason_ == SSL_R_HTTP_REQUEST ||
        reason_ == SSL_R_PACKET_LENGTH_TOO_LONG)
      return Certain(
          "it speaks plaintext, and this client TLS; leave tls_ca_file (--tls-ca) out, or give the server a "
          "certificate");
    const bool said_no = closed_ || alert_ != 0;
    if (asked_ && said_no && !proves_)
      return Certain(
          "it wants a certificate of its clients, and this one has none; give it one (tls_cert_file and tls_key_file, "
          "--tls-cert and --tls-key)");
    if ((asked_ && said_no) || alert_ != 0) return Refused();
    return {};
  }

  // Whether the connection was closed, without a word why. A server that ends does that too.
  bool closed() const { return closed_; }

 private:
  void Trust() {
    X509_STORE* const store = SSL_CTX_get_cert_store(context_.get());
    const Bio bio = Over(tls_.roots);
    while (const Certificate root = Next(bio.get())) X509_STORE_add_cert(store, root.get());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, [](int good, X509_STORE_CTX* store) {
      if (good == 1) return good;
      const void* ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
      X509* const culprit = X509_STORE_CTX_get_current_cert(store);
      if (culprit != nullptr && X509_up_ref(culprit) == 1)
        static_cast<TlsAttempt*>(SSL_get_app_data(static_cast<const SSL*>(ssl)))->culprit_.reset(culprit);
      return good;
    });
  }

  void Prove() {
    if (tls_.certificate.empty()) return;
    const Bio bio = Over(tls_.certificate);
    SSL_CTX_use_certificate(context_.get(), Next(bio.get()).get());
    while (Certificate between = Next(bio.get())) SSL_CTX_add_extra_chain_cert(context_.get(), between.release());
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        PEM_read_bio_PrivateKey(Over(tls_.key).get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
    proves_ = SSL_CTX_use_PrivateKey(context_.get(), key.get()) == 1;
  }

  template <typename Operation>
  bool Until(const Socket& socket, absl::Time deadline, const Operation& operation) {
    while (true) {
      const int result = operation();
      if (result > 0) return true;
      const int error = SSL_get_error(ssl_.get(), result);
      if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        if (!socket.Await(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline)) return false;
        continue;
      }
      reason_ = ERR_GET_REASON(ERR_peek_error());
      if (reason_ > SSL_AD_REASON_OFFSET && reason_ < SSL_AD_REASON_OFFSET + 256)
        alert_ = reason_ - SSL_AD_REASON_OFFSET;
      closed_ =
          error == SSL_ERROR_ZERO_RETURN || error == SSL_ERROR_SYSCALL || reason_ == SSL_R_UNEXPECTED_EOF_WHILE_READING;
      ERR_clear_error();
      return false;
    }
  }

  Obstacle Untrusted(long verdict) const {
    X509* const certificate = culprit_.get();
    switch (verdict) {
      case X509_V_ERR_CERT_HAS_EXPIRED:
      case X509_V_ERR_CERT_NOT_YET_VALID: {
        if (certificate == nullptr) break;
        const absl::Time begin = TimeOf(X509_get0_notBefore(certificate)),
                         end = TimeOf(X509_get0_notAfter(certificate));
        return Certain(absl::StrCat("its certificate, or that of an authority, ",
                                    verdict == X509_V_ERR_CERT_HAS_EXPIRED ? "has expired" : "is not valid yet",
                                    ": it is good from ", Utc(begin), " to ", Utc(end),
                                    "; is this machine's clock right?"));
      }
      case X509_V_ERR_HOSTNAME_MISMATCH:
      case X509_V_ERR_IP_ADDRESS_MISMATCH:
        if (certificate == nullptr) break;
        return Certain(absl::StrCat("its certificate is for ", NamesIn(certificate), ", and not for ", name_,
                                    "; if that is the server, say so by tls_server_name (--tls-name)"));
      case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
      case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
      case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        return Certain(
            "its certificate is by an authority that is unknown here; is tls_ca_file (--tls-ca) the one that signed "
            "it?");
      default: break;
    }
    return Certain(absl::StrCat("its certificate is not trusted: ", X509_verify_cert_error_string(verdict)));
  }

  // The server closed the connection, or said no, after this client's certificate.
  Obstacle Refused() const {
    if (!asked_) return Certain(absl::StrCat("it refuses the handshake (", SSL_alert_desc_string_long(alert_), ")"));
    const auto [begin, end] = ValidTimes(tls_.certificate);
    const absl::Time now = absl::Now();
    if (now < begin || now >= end)
      return Certain(
          absl::StrCat("it refuses this client's certificate, which is good from ", Utc(begin), " to ", Utc(end)));
    return Certain(
        "it refuses this client's certificate; did an authority sign it that the server knows "
        "(tls.client_ca_file there)?");
  }

  const Security::Tls& tls_;
  const std::string name_;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  Certificate culprit_{nullptr, X509_free};  // The certificate that is not trusted.
  bool asked_ = false;
  bool proves_ = false;
  bool closed_ = false;
  int reason_ = 0;
  int alert_ = 0;  // This is what the server sent (RFC 8446, section 6), or 0 for none.
};

Obstacle GreetByTls(const OpenSocket& open, const Security::Tls& tls, const std::string& name, absl::Time deadline) {
  Obstacle found;
  for (int tries = 0; tries < 2; ++tries) {
    const Socket socket(open());
    if (socket.get() < 0) return {};
    TlsAttempt attempt(tls, name, /*verify=*/true);
    // In TLS 1.3 the server looks at the client's certificate when the handshake is over for the client.
    if (attempt.Shake(socket, deadline) && attempt.Hear(socket, deadline)) return {};
    Obstacle problem = attempt.Problem();
    if (tries > 0 && problem.reason != found.reason) return {};
    found = std::move(problem);
    if (found.reason.empty() || !attempt.closed()) break;  // Else it might have been by chance.
  }
  return found;
}

// Whether the server answers a TLS handshake.
bool SpeaksTls(const OpenSocket& open, const std::string& name, absl::Time deadline) {
  const Socket socket(open());
  if (socket.get() < 0) return false;
  const Security::Tls nothing;
  TlsAttempt attempt(nothing, name, /*verify=*/false);
  return attempt.Shake(socket, deadline) || attempt.SawTls();
}

// True if the server answers HTTP/2 in plaintext.
bool SpeaksPlaintext(const OpenSocket& open, absl::Time deadline) {
  const Socket socket(open());
  if (socket.get() < 0 || !socket.Await(POLLOUT, deadline)) return false;
  if (send(socket.get(), kHello.data(), kHello.size(), MSG_NOSIGNAL) < 0) return false;
  unsigned char first = 0;
  if (!socket.Await(POLLIN, deadline) || recv(socket.get(), &first, 1, 0) != 1) return false;
  return first != kTlsAlert && first != kTlsHandshake;
}

}  // namespace

Obstacle FindGreetingObstacle(const OpenSocket& open, const Security::Tls& tls, bool uses_tls, const std::string& name,
                              absl::Time deadline) {
  const auto forget_errors = absl::MakeCleanup([] { ERR_clear_error(); });  // gRPC would take them for its own.
  if (uses_tls) return GreetByTls(open, tls, name, deadline);
  // A server that closes a plaintext connection may have had other reasons, such as too many of them.
  if (SpeaksPlaintext(open, SteadyNow() + (deadline - SteadyNow()) / 2) || !SpeaksTls(open, name, deadline)) return {};
  return Certain(
      "it speaks TLS, and this client plaintext; give it the authority of the server's certificate "
      "(tls_ca_file, --tls-ca)");
}

}  // namespace stoker
