#include "common/identity/fingerprint.h"

#include <bit>
#include <cstring>

#include "common/check.h"
#include "openssl/evp.h"

namespace stoker {

static_assert(std::endian::native == std::endian::little);

Fingerprint::Fingerprint(std::string_view domain) : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  STOKER_CHECK(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  AddBytes(domain);
}

void Fingerprint::AddBytes(std::string_view bytes) {
  if (bytes.empty()) return;  // Its pointer may be null, which memcpy does not take.
  if (bytes.size() > gathered_.size() - gathered_bytes_) Flush();
  if (bytes.size() > gathered_.size()) {
    STOKER_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
    return;
  }
  std::memcpy(gathered_.data() + gathered_bytes_, bytes.data(), bytes.size());
  gathered_bytes_ += bytes.size();
}

void Fingerprint::AddNumber(uint64_t number) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  AddBytes({bytes, sizeof(bytes)});
}

std::string Fingerprint::Finish() {
  Flush();
  std::string digest(32, '\0');
  STOKER_CHECK(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr) == 1);
  return digest;
}

void Fingerprint::Flush() {
  STOKER_CHECK(EVP_DigestUpdate(context_.get(), gathered_.data(), gathered_bytes_) == 1);
  gathered_bytes_ = 0;
}

}  // namespace stoker
