#include "tests/support/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

File Open(const std::string& path, const char* mode) { return {std::fopen(path.c_str(), mode), &std::fclose}; }

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  ASSERT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void SetTimes(X509* certificate, absl::Duration life) {
  const int64_t end = absl::ToInt64Seconds(life), begin = std::min<int64_t>(0, end) - 3600;
  X509_gmtime_adj(X509_getm_notBefore(certificate), begin);
  X509_gmtime_adj(X509_getm_notAfter(certificate), end);
}

}  // namespace

void MakeCertificate(const std::string& prefix, const CertificateOptions& options) {
  const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Certificate made(X509_new(), X509_free);
  Certificate authority(nullptr, X509_free);
  Key authority_key(nullptr, EVP_PKEY_free);
  if (!options.authority.empty()) {
    authority.reset(PEM_read_X509(Open(options.authority + ".crt", "r").get(), nullptr, nullptr, nullptr));
    authority_key.reset(PEM_read_PrivateKey(Open(options.authority + ".key", "r").get(), nullptr, nullptr, nullptr));
    ASSERT_TRUE(authority != nullptr && authority_key != nullptr) << options.authority;
  }
  X509* const issuer = authority == nullptr ? made.get() : authority.get();
  X509_set_version(made.get(), X509_VERSION_3);
  uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial);
  SetTimes(made.get(), options.life);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(options.common_name.c_str()), -1, -1, 0);
  X509_set_issuer_name(made.get(), X509_get_subject_name(issuer));
  AddExtension(made.get(), issuer, NID_basic_constraints, options.authority.empty() ? "critical,CA:TRUE" : "CA:FALSE");
  AddExtension(made.get(), issuer, NID_subject_key_identifier, "hash");
  if (!options.names.empty()) AddExtension(made.get(), issuer, NID_subject_alt_name, options.names);
  ASSERT_GT(X509_sign(made.get(), authority_key == nullptr ? key.get() : authority_key.get(), EVP_sha256()), 0);
  {
    const File certificate_file = Open(prefix + ".crt.new", "w"), key_file = Open(prefix + ".key.new", "w");
    ASSERT_TRUE(certificate_file != nullptr && key_file != nullptr) << prefix;
    PEM_write_X509(certificate_file.get(), made.get());
    PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }
  for (const char* ending : {".crt", ".key"})
    ASSERT_EQ(std::rename(absl::StrCat(prefix, ending, ".new").c_str(), (prefix + ending).c_str()), 0);
}

void MakeCertificate(const std::string& prefix, const std::string& host) {
  MakeCertificate(prefix, CertificateOptions{.names = host});
}

}  // namespace stoker
