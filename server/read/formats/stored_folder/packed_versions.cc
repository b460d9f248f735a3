#include "server/read/formats/stored_folder/packed_versions.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

constexpr char kText = 't', kMd5 = 'm';
constexpr size_t kMd5Bytes = 16;

bool IsQuotedMd5(std::string_view version) {
  return version.size() == 2 * kMd5Bytes + 2 && version.front() == '"' && version.back() == '"' &&
         std::all_of(version.begin() + 1, version.end() - 1,
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

void PackedVersions::Add(std::string_view version) {
  if (IsQuotedMd5(version)) {
    bytes += kMd5;
    bytes += absl::HexStringToBytes({version.data() + 1, 2 * kMd5Bytes});
  } else {
    bytes += kText;
    bytes += version;
  }
  ends.push_back(bytes.size());
}

std::string PackedVersions::At(uint64_t i) const {
  const uint64_t begin = i == 0 ? 0 : ends[i - 1];
  const std::string packed = bytes.substr(begin + 1, ends[i] - begin - 1);
  return bytes[begin] == kText ? packed : absl::StrCat("\"", absl::BytesToHexString(packed), "\"");
}

bool PackedVersions::IsWellFormed() const {
  uint64_t begin = 0;
  for (const uint64_t end : ends) {
    if (end <= begin || end > bytes.size()) return false;
    const bool is_text = bytes[begin] == kText && bytes.substr(begin, end - begin).find('\0') == std::string::npos;
    const bool is_md5 = bytes[begin] == kMd5 && end - begin == kMd5Bytes + 1;
    if (!is_text && !is_md5) return false;
    begin = end;
  }
  return begin == bytes.size();
}

}  // namespace stoker
