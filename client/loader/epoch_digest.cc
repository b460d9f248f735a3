#include "client/loader/epoch_digest.h"

#include <openssl/evp.h>

#include <bit>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace stoker {

static_assert(std::endian::native == std::endian::little, "numbers are hashed as they lie in memory");

struct EpochDigest::Sha256 {
  Sha256() { STOKER_CHECK(context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1); }

  void Add(const void* data, uint64_t bytes) { STOKER_CHECK(EVP_DigestUpdate(context.get(), data, bytes) == 1); }
  void Add(uint64_t number) { Add(&number, sizeof number); }

  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  const std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
};

EpochDigest::EpochDigest() : sha_(std::make_unique<Sha256>()) {}
EpochDigest::~EpochDigest() = default;

absl::Status EpochDigest::Add(const Batch& batch) {
  for (int64_t row = 0; row < batch.real(); ++row) {
    const uint64_t position = batch.positions()[row];
    if (position != next_position_)
      return absl::InvalidArgumentError(absl::StrCat("the digest of an epoch needs every position in order: after ",
                                                     next_position_, " samples came position ", position));
    sha_->Add(position);
    sha_->Add(batch.sample_ids()[row]);
    for (const Tensor& field : batch.server_tensors()) {
      const uint64_t bytes = field.bytes / batch.size();
      sha_->Add(static_cast<const uint8_t*>(field.data) + row * bytes, bytes);
    }
    ++next_position_;
  }
  return absl::OkStatus();
}

std::string EpochDigest::Hex() {
  std::string digest(EVP_MD_size(EVP_sha256()), '\0');
  STOKER_CHECK(EVP_DigestFinal_ex(sha_->context.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr) == 1);
  return absl::BytesToHexString(digest);
}

}  // namespace stoker
