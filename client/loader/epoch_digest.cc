#include "client/loader/epoch_digest.h"

// OpenSSL's own SHA-256 and not its EVP interface, which cannot save a hash in the middle.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/check.h"

namespace stoker {

static_assert(std::endian::native == std::endian::little, "numbers are hashed as they lie in memory");

struct EpochDigest::Sha256 {
  Sha256() { STOKER_CHECK(SHA256_Init(&context) == 1); }

  void Add(const void* data, uint64_t bytes) { STOKER_CHECK(SHA256_Update(&context, data, bytes) == 1); }
  void Add(uint64_t number) { Add(&number, sizeof number); }

  uint64_t bytes() const { return (uint64_t{context.Nh} << 32 | context.Nl) / 8; }

  SHA256_CTX context;
};

namespace {

constexpr absl::string_view kMagic = "sha256";
constexpr size_t kParts = 5, kWords = std::size(SHA256_CTX{}.h);

bool ParseWords(absl::string_view text, SHA_LONG* words) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '-');
  if (parts.size() != kWords) return false;
  return std::all_of(parts.begin(), parts.end(),
                     [&](absl::string_view part) { return part.size() == 8 && absl::SimpleHexAtoi(part, words++); });
}

// Bytes in hexadecimal, or "-" for none.
bool ParseBytes(absl::string_view text, std::string& bytes) {
  if (text == "-") return true;
  if (text.empty() || text.size() % 2 != 0 || !std::all_of(text.begin(), text.end(), absl::ascii_isxdigit))
    return false;
  bytes = absl::HexStringToBytes(text);
  return true;
}

}  // namespace

EpochDigest::EpochDigest() : sha_(std::make_unique<Sha256>()) {}
EpochDigest::~EpochDigest() = default;

absl::Status EpochDigest::Add(const Batch& batch) {
  const std::vector<Tensor>& fields = batch.server_tensors();
  for (int64_t row = 0; row < batch.real(); ++row) {
    const uint64_t position = batch.positions()[row];
    if (position != next_position_)
      return absl::InvalidArgumentError(absl::StrCat("the digest of an epoch needs every position in order: after ",
                                                     next_position_, " samples came position ", position));
    sha_->Add(position);
    sha_->Add(batch.sample_ids()[row]);
    for (const Tensor& field : fields) AddSample(field, fields, batch.size(), row);
    ++next_position_;
  }
  return absl::OkStatus();
}

void EpochDigest::AddSample(const Tensor& field, const std::vector<Tensor>& fields, int64_t samples, int64_t row) {
  if (field.name.ends_with(OffsetsName(""))) return;
  const auto* data = static_cast<const uint8_t*>(field.data);
  const auto offsets = std::find_if(fields.begin(), fields.end(),
                                    [&](const Tensor& other) { return other.name == OffsetsName(field.name); });
  if (offsets == fields.end()) {
    const uint64_t bytes = field.bytes / samples;
    sha_->Add(data + row * bytes, bytes);
    return;
  }
  const auto* begin = static_cast<const int64_t*>(offsets->data) + row;
  const uint64_t row_bytes = field.shape[0] == 0 ? 0 : field.bytes / field.shape[0];
  const uint64_t bytes = (begin[1] - begin[0]) * row_bytes;
  sha_->Add(bytes);
  sha_->Add(data + begin[0] * row_bytes, bytes);
}

// "sha256 SAMPLES BYTES WORDS REST": SAMPLES were added as BYTES bytes, of which the last BYTES % 64 are REST, in
// hexadecimal or "-", and those before are in the hash's eight WORDS.
std::string EpochDigest::Save() const {
  const SHA256_CTX& context = sha_->context;
  const auto word = [](std::string* out, SHA_LONG value) { absl::StrAppend(out, absl::Hex(value, absl::kZeroPad8)); };
  const std::string rest(reinterpret_cast<const char*>(context.data), context.num);
  return absl::StrCat(kMagic, " ", next_position_, " ", sha_->bytes(), " ", absl::StrJoin(context.h, "-", word), " ",
                      rest.empty() ? "-" : absl::BytesToHexString(rest));
}

absl::Status EpochDigest::Resume(std::string_view saved) {
  const std::vector<absl::string_view> parts = absl::StrSplit(absl::string_view(saved.data(), saved.size()), ' ');
  Sha256 sha;
  uint64_t samples = 0, bytes = 0;
  std::string rest;
  const bool understood = parts.size() == kParts && parts[0] == kMagic && absl::SimpleAtoi(parts[1], &samples) &&
                          absl::SimpleAtoi(parts[2], &bytes) && ParseWords(parts[3], sha.context.h) &&
                          ParseBytes(parts[4], rest);
  if (!understood || bytes >= uint64_t{1} << 61 || rest.size() != bytes % SHA256_CBLOCK)
    return absl::InvalidArgumentError("it holds a digest in the middle that this build does not understand");
  sha.context.Nl = static_cast<SHA_LONG>(bytes * 8);
  sha.context.Nh = static_cast<SHA_LONG>(bytes * 8 >> 32);
  sha.context.num = static_cast<unsigned>(rest.size());
  std::copy(rest.begin(), rest.end(), reinterpret_cast<char*>(sha.context.data));
  *sha_ = sha;
  next_position_ = samples;
  return absl::OkStatus();
}

std::string EpochDigest::Hex() {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  STOKER_CHECK(SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &sha_->context) == 1);
  return absl::BytesToHexString(digest);
}

}  // namespace stoker
