#ifndef STOKER_SERVER_READ_FINGERPRINT_H_
#define STOKER_SERVER_READ_FINGERPRINT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "openssl/evp.h"

namespace stoker {

// The SHA-256 of what identifies a dataset, taken piece by piece. Pieces are gathered, for OpenSSL's price per call
// exceeds that of a name. One thread.
class Fingerprint {
 public:
  // `domain` is hashed first and names layout and version of what follows.
  explicit Fingerprint(std::string_view domain);

  // The bytes alone: hash their number before, where it is not fixed.
  void AddBytes(std::string_view bytes);

  // 8 bytes, little-endian.
  void AddNumber(uint64_t number);

  // 32 bytes. Nothing may be added after.
  std::string Finish();

 private:
  void Flush();

  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
  std::array<char, 8192> gathered_;
  size_t gathered_bytes_ = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FINGERPRINT_H_
