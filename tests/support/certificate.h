#ifndef STOKER_TESTS_SUPPORT_CERTIFICATE_H_
#define STOKER_TESTS_SUPPORT_CERTIFICATE_H_

#include <string>

#include "absl/time/time.h"

namespace stoker {

// What a certificate says. A value.
struct CertificateOptions {
  // Its subjectAltName: "IP:127.0.0.1", "DNS:cpu1.example", "URI:spiffe://team-a"; several with commas; empty for none.
  std::string names = "IP:127.0.0.1";
  std::string common_name = "stoker";

  // The prefix of the certificate that signs it, which has to be its own authority. Empty: it signs itself.
  std::string authority;

  // When it expires, from now on. Negative: so long ago.
  absl::Duration life = absl::Hours(48);
};

// Makes PREFIX.crt, a certificate, and PREFIX.key, its key, both in PEM. A certificate that signs itself may sign
// others. Files that are there are replaced in one step each. Fails the test where that does not work.
void MakeCertificate(const std::string& prefix, const CertificateOptions& options);

// A certificate that is its own authority, for a host as of CertificateOptions::names.
void MakeCertificate(const std::string& prefix, const std::string& host = "IP:127.0.0.1");

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_CERTIFICATE_H_
