#ifndef STOKER_SERVER_REQUEST_TOKENS_H_
#define STOKER_SERVER_REQUEST_TOKENS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// The tokens that a server takes, by their hashes. Immutable, hence thread-safe.
//
// The file has a token's SHA-256 in 64 hexadecimal digits, a space and the token's identity in each line. Blank lines
// and what follows a # at a line's beginning mean nothing. Several tokens may stand for one identity, so that one can
// replace another without a gap.
class Tokens {
 public:
  static constexpr size_t kMostTokens = 16384;

  // InvalidArgument names the line, and shows nothing of it.
  static absl::StatusOr<Tokens> Parse(std::string_view text);

  // The identity that `token` stands for; none if it is unknown. The time that it takes depends on the number of tokens
  // alone.
  std::optional<std::string> Find(std::string_view token) const;

  size_t size() const { return entries_.size(); }

 private:
  using Hash = std::array<uint8_t, 32>;
  struct Entry {
    Hash hash;
    std::string identity;
  };

  std::vector<Entry> entries_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_REQUEST_TOKENS_H_
