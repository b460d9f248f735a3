#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/fields/schema.h"
#include "server/prepare/shard_builder.h"

namespace stoker {
namespace {

constexpr size_t kBlockBytes = 512;
constexpr size_t kNameBytes = 100, kPrefixBytes = 155;
// tar(1) writes whole records of 20 blocks, and readers expect at least two blocks of zeros.
constexpr size_t kEndBlocks = 2;

// A header of ustar, as POSIX.1-1988 lays it out. Numbers are octal digits and end with a NUL.
struct Header {
  char name[kNameBytes];
  char mode[8], uid[8], gid[8];
  char size[12], mtime[12];
  char checksum[8];
  char type;
  char link[100];
  char magic[6], version[2];
  char user[32], group[32];
  char major[8], minor[8];
  char prefix[kPrefixBytes];
  char rest[12];
};
static_assert(sizeof(Header) == kBlockBytes);

// Where a name is cut in prefix and name; npos where it cannot be. 0: it needs no prefix.
size_t CutOf(std::string_view name) {
  if (name.size() <= kNameBytes) return 0;
  if (name.size() > kPrefixBytes + 1 + kNameBytes) return std::string_view::npos;
  const size_t cut = name.find('/', name.size() - kNameBytes - 1);
  return cut == std::string_view::npos || cut == 0 || cut > kPrefixBytes || cut + 1 == name.size()
             ? std::string_view::npos
             : cut;
}

template <size_t N>
void Put(char (&field)[N], std::string_view text) {
  std::copy_n(text.data(), std::min(N, text.size()), field);
}

template <size_t N>
void PutOctal(char (&field)[N], uint64_t number) {
  Put(field, absl::StrFormat("%0*o", static_cast<int>(N - 1), number));
}

std::string HeaderOf(std::string_view name, uint64_t size, char type) {
  Header header = {};
  const size_t cut = CutOf(name);
  if (cut != 0 && cut != std::string_view::npos) {
    Put(header.prefix, name.substr(0, cut));
    name.remove_prefix(cut + 1);
  }
  Put(header.name, name);
  PutOctal(header.mode, 0444);
  PutOctal(header.uid, 0);
  PutOctal(header.gid, 0);
  PutOctal(header.size, size);
  PutOctal(header.mtime, 0);
  header.type = type;
  Put(header.magic, "ustar");
  Put(header.version, "00");
  PutOctal(header.major, 0);
  PutOctal(header.minor, 0);
  std::fill_n(header.checksum, sizeof header.checksum, ' ');
  std::array<unsigned char, kBlockBytes> bytes;
  std::memcpy(bytes.data(), &header, sizeof header);
  uint64_t sum = 0;
  for (const unsigned char byte : bytes) sum += byte;
  Put(header.checksum, absl::StrFormat("%06o%c ", sum, '\0'));
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

uint64_t Padded(uint64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes; }

// Returns the record "LENGTH path=NAME\n", whose length counts its own digits.
std::string PathRecord(std::string_view name) {
  const size_t rest = name.size() + 7;  // " path=" and "\n"
  size_t length = rest + 1;
  while (absl::StrCat(length).size() + rest != length) length = absl::StrCat(length).size() + rest;
  return absl::StrCat(length, " path=", absl::string_view(name.data(), name.size()), "\n");
}

class TarBuilder final : public ShardBuilder {
 public:
  explicit TarBuilder(std::vector<ShardColumn> columns) : columns_(std::move(columns)) {}

  std::string NameOf(uint64_t number) const override { return absl::StrFormat("shard-%06d.tar", number); }

  bool IsName(std::string_view name) const override {
    return name.size() >= 16 && name.starts_with("shard-") && name.ends_with(".tar") &&
           name.find_first_not_of("0123456789", 6) == name.size() - 4;
  }

  uint64_t BytesWith(const ShardSample& sample) const override {
    uint64_t bytes = bytes_.size() + kEndBlocks * kBlockBytes;
    for (size_t i = 0; i < columns_.size(); ++i)
      bytes += MemberBytes(NameOf(sample, i), columns_[i].kind == ShardColumn::Kind::kLabel
                                                  ? TextOf(sample.values[i]).size()
                                                  : columns_[i].head.size() + sample.values[i].size());
    return bytes;
  }

  void Add(const ShardSample& sample) override {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string_view value(reinterpret_cast<const char*>(sample.values[i].data()), sample.values[i].size());
      if (columns_[i].kind == ShardColumn::Kind::kLabel)
        AddMember(NameOf(sample, i), "", TextOf(sample.values[i]));
      else
        AddMember(NameOf(sample, i), columns_[i].head, value);
    }
    ++samples_;
  }

  uint64_t samples() const override { return samples_; }

  std::string Finish() override {
    bytes_.resize(bytes_.size() + kEndBlocks * kBlockBytes, '\0');
    samples_ = 0;
    return std::exchange(bytes_, {});
  }

 private:
  std::string NameOf(const ShardSample& sample, size_t column) const {
    return absl::StrCat(absl::string_view(sample.key.data(), sample.key.size()), ".", columns_[column].extension);
  }

  static std::string TextOf(std::span<const uint8_t> label) {
    return absl::StrCat(WholeNumberAt(label.data(), v1::DTYPE_INT64, 0));
  }

  static uint64_t MemberBytes(const std::string& name, uint64_t size) {
    const uint64_t extended = CutOf(name) == std::string_view::npos ? kBlockBytes + Padded(PathRecord(name).size()) : 0;
    return extended + kBlockBytes + Padded(size);
  }

  // Adds a member that has `head` and then `content`.
  void AddMember(const std::string& name, std::string_view head, std::string_view content) {
    if (CutOf(name) == std::string_view::npos) {
      const std::string record = PathRecord(name);
      bytes_ += HeaderOf("PaxHeaders/path", record.size(), 'x');
      bytes_ += record;
      Pad();
    }
    bytes_ += HeaderOf(name, head.size() + content.size(), '0');
    bytes_ += head;
    bytes_ += content;
    Pad();
  }

  void Pad() { bytes_.resize(Padded(bytes_.size()), '\0'); }

  const std::vector<ShardColumn> columns_;
  std::string bytes_;
  uint64_t samples_ = 0;
};

}  // namespace

std::unique_ptr<ShardBuilder> CreateTarBuilder(std::vector<ShardColumn> columns) {
  return std::make_unique<TarBuilder>(std::move(columns));
}

}  // namespace stoker
