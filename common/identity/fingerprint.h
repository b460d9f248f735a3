#ifndef STOKER_COMMON_IDENTITY_FINGERPRINT_H_
#define STOKER_COMMON_IDENTITY_FINGERPRINT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace stoker {

// Computes the SHA-256 of what identifies something, such as a dataset, piece by piece. It gathers the pieces, because
// a call of OpenSSL costs more than hashing a name. One thread at a time.
class Fingerprint {
 public:
  // Hashes `domain` first. It names the layout and version of what follows.
  explicit Fingerprint(std::string_view domain);

  // Hashes the bytes, but not how many they are. Where their number is not fixed, add it before them.
  void AddBytes(std::string_view bytes);

  // Hashes a number as 8 bytes, little-endian.
  void AddNumber(uint64_t number);

  // Returns the 32 bytes of the hash. Nothing may be added after that.
  std::string Finish();

 private:
  void Flush();

  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
  std::array<char, 8192> gathered_;
  size_t gathered_bytes_ = 0;
};

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_FINGERPRINT_H_
