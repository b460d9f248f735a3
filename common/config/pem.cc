#include "common/config/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

// gRPC, on the same thread, would take an error that is left for its own.
auto ForgetErrors() {
  ERR_clear_error();
  return absl::MakeCleanup([] { ERR_clear_error(); });
}

// OpenSSL's own reason for what just failed, to follow another one; empty where it has none.
std::string Why() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason == nullptr ? "" : absl::StrCat(" (", reason, ")");
}

// Whether reading certificates ended for there are no more.
bool IsEndOfPem() {
  const unsigned long error = ERR_peek_last_error();
  return error == 0 || (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE);
}

// Answers no pass phrase, where OpenSSL by itself would ask for one on the terminal.
int NoPassPhrase(char*, int, int, void*) { return 0; }

Bio Over(const std::string& text) { return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free}; }

Certificate Next(BIO* bio) { return {PEM_read_bio_X509(bio, nullptr, NoPassPhrase, nullptr), X509_free}; }

Context NewContext() { return {SSL_CTX_new(TLS_method()), SSL_CTX_free}; }

absl::Time TimeOf(const ASN1_TIME* time, absl::Time otherwise) {
  std::tm parts = {};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? absl::FromTM(parts, absl::UTCTimeZone()) : otherwise;
}

}  // namespace

absl::Status CheckCertificates(const std::string& text) {
  const auto forget = ForgetErrors();
  if (!absl::StrContains(text, "CERTIFICATE-----")) return absl::InvalidArgumentError("holds no CERTIFICATE in PEM");
  const Bio bio = Over(text);
  int found = 0;
  while (Next(bio.get()) != nullptr) ++found;
  if (IsEndOfPem() && found > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("has a damaged certificate after ", found, " good ones", Why()));
}

absl::Status CheckCertificateForTls(const std::string& text) {
  const auto forget = ForgetErrors();
  const Context context = NewContext();
  if (SSL_CTX_use_certificate(context.get(), Next(Over(text).get()).get()) == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("has a certificate that cannot be used", Why()));
}

absl::Status CheckKeyOf(const std::string& certificates, const std::string& key) {
  const auto forget = ForgetErrors();
  if (!absl::StrContains(key, "PRIVATE KEY-----")) return absl::InvalidArgumentError("holds no PRIVATE KEY in PEM");
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> read(
      PEM_read_bio_PrivateKey(Over(key).get(), nullptr, NoPassPhrase, nullptr), EVP_PKEY_free);
  if (read == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("has a key that cannot be read", Why(), "; it must be in PEM without a pass phrase"));
  const Context context = NewContext();
  if (SSL_CTX_use_certificate(context.get(), Next(Over(certificates).get()).get()) == 1 &&
      SSL_CTX_use_PrivateKey(context.get(), read.get()) == 1 && SSL_CTX_check_private_key(context.get()) == 1)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("is not the key of the certificate", Why()));
}

std::pair<absl::Time, absl::Time> ValidTimes(const std::string& text) {
  const auto forget = ForgetErrors();
  const Certificate certificate = Next(Over(text).get());
  if (certificate == nullptr) return {absl::InfinitePast(), absl::InfiniteFuture()};
  return {TimeOf(X509_get0_notBefore(certificate.get()), absl::InfinitePast()),
          TimeOf(X509_get0_notAfter(certificate.get()), absl::InfinitePast())};
}

}  // namespace stoker
