#ifndef STOKER_COMMON_CONFIG_PEM_H_
#define STOKER_COMMON_CONFIG_PEM_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace stoker {

// These look at certificates and keys as a TLS handshake would, so that what they accept works there. Errors are
// InvalidArgument; their messages are clauses for after a file's name, such as "holds no CERTIFICATE in PEM". All are
// pure but for the calling thread's queue of OpenSSL's errors, which they leave empty.

// OK if `text` has at least one certificate in PEM, and no damaged one.
absl::Status CheckCertificates(const std::string& text);

// OK if the first of the certificates in `text` may be used for TLS.
absl::Status CheckCertificateForTls(const std::string& text);

// OK if `key` is a private key in PEM without a pass phrase, and belongs to the first of `certificates`, which passed
// CheckCertificateForTls.
absl::Status CheckKeyOf(const std::string& certificates, const std::string& key);

// From when until when the first of the certificates in `text` is valid; from the past on for ever where it is none.
std::pair<absl::Time, absl::Time> ValidTimes(const std::string& text);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_PEM_H_
