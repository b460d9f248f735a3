#include "server/request/tokens.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/check.h"
#include "server/request/identity.h"

namespace stoker {
namespace {

constexpr size_t kHexDigits = 64;

absl::Status BadLine(size_t line, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

}  // namespace

absl::StatusOr<Tokens> Tokens::Parse(std::string_view text) {
  Tokens tokens;
  std::set<Hash> known;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const absl::string_view hex = line.substr(0, kHexDigits);
    if (hex.size() < kHexDigits || !std::all_of(hex.begin(), hex.end(), absl::ascii_isxdigit) ||
        (line.size() > kHexDigits && !absl::ascii_isspace(line[kHexDigits])))
      return BadLine(number, "expected a token's SHA-256 in 64 hexadecimal digits, a space and an identity");
    const std::string identity(absl::StripAsciiWhitespace(line.substr(kHexDigits)));
    if (const auto valid = ValidateIdentity(identity); !valid.ok())
      return BadLine(number, absl::StrCat("the identity ", valid.message()));
    Entry entry{.hash = {}, .identity = identity};
    const std::string bytes = absl::HexStringToBytes(hex);
    std::copy(bytes.begin(), bytes.end(), entry.hash.begin());
    if (!known.insert(entry.hash).second) return BadLine(number, "this token stands in the file already");
    tokens.entries_.push_back(std::move(entry));
    if (tokens.entries_.size() > kMostTokens)
      return BadLine(number, absl::StrCat("more than ", kMostTokens, " tokens"));
  }
  return tokens;
}

std::optional<std::string> Tokens::Find(std::string_view token) const {
  Hash hash;
  unsigned int size = 0;
  STOKER_CHECK(EVP_Digest(token.data(), token.size(), hash.data(), &size, EVP_sha256(), nullptr) == 1);
  const Entry* found = nullptr;
  for (const Entry& entry : entries_)
    if (CRYPTO_memcmp(entry.hash.data(), hash.data(), hash.size()) == 0) found = &entry;
  return found == nullptr ? std::nullopt : std::optional(found->identity);
}

}  // namespace stoker
