#ifndef STOKER_TESTS_SUPPORT_CERTIFICATE_H_
#define STOKER_TESTS_SUPPORT_CERTIFICATE_H_

#include <string>

namespace stoker {

// Makes PREFIX.crt, a certificate for `host` that is its own authority, and PREFIX.key, its key, both in PEM. `host` is
// a subjectAltName: "IP:127.0.0.1" or "DNS:cpu1.example". Fails the test where openssl does not make them.
void MakeCertificate(const std::string& prefix, const std::string& host = "IP:127.0.0.1");

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_CERTIFICATE_H_
