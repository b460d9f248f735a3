#include "server/read/stores/object_names.h"

#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

absl::Status Error(absl::string_view pattern, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("'", pattern, "': ", what));
}

// Returns the place of the brace that closes the one at `open`, or npos.
size_t ClosingOf(absl::string_view pattern, size_t open) {
  int depth = 0;
  for (size_t i = open; i < pattern.size(); ++i) {
    if (pattern[i] == '{') ++depth;
    if (pattern[i] == '}' && --depth == 0) return i;
  }
  return pattern.npos;
}

// Splits at the commas that stand outside of inner braces.
std::vector<absl::string_view> PartsOf(absl::string_view inside) {
  std::vector<absl::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '{') ++depth;
    if (inside[i] == '}') --depth;
    if (inside[i] != ',' || depth > 0) continue;
    parts.push_back(inside.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(inside.substr(begin));
  return parts;
}

bool AllDigits(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the numbers that "0000..0146" stands for; none where `inside` is no range.
absl::StatusOr<std::optional<std::vector<std::string>>> RangeOf(absl::string_view inside) {
  const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(inside, absl::MaxSplits("..", 1));
  if (!AllDigits(ends.first) || !AllDigits(ends.second)) return std::nullopt;
  uint64_t first = 0, last = 0;
  if (!absl::SimpleAtoi(ends.first, &first) || !absl::SimpleAtoi(ends.second, &last))
    return Error(inside, "a number of the range is too large");
  if (last < first) return Error(inside, "the range runs backwards");
  if (last - first >= kMostBraceNames) return Error(inside, absl::StrCat("more than ", kMostBraceNames, " names"));
  // A zero in front asks for as many digits as the longer end has, as it does in shells.
  const bool padded =
      (ends.first.size() > 1 && ends.first[0] == '0') || (ends.second.size() > 1 && ends.second[0] == '0');
  const int digits = padded ? static_cast<int>(std::max(ends.first.size(), ends.second.size())) : 1;
  std::vector<std::string> numbers;
  for (uint64_t number = first; number <= last; ++number) numbers.push_back(absl::StrFormat("%0*d", digits, number));
  return numbers;
}

absl::StatusOr<std::vector<std::string>> Expand(absl::string_view pattern, int depth);

// Returns what a brace's inside stands for.
absl::StatusOr<std::vector<std::string>> ExpandInside(absl::string_view inside, int depth) {
  STOKER_ASSIGN_OR_RETURN(auto range, RangeOf(inside));
  if (range.has_value()) return *std::move(range);
  std::vector<std::string> names;
  for (absl::string_view part : PartsOf(inside)) {
    STOKER_ASSIGN_OR_RETURN(auto expanded, Expand(part, depth + 1));
    names.insert(names.end(), expanded.begin(), expanded.end());
  }
  return names;
}

absl::StatusOr<std::vector<std::string>> Expand(absl::string_view pattern, int depth) {
  constexpr int kMostDepth = 16;
  const size_t open = pattern.find('{');
  if (open == pattern.npos) return std::vector<std::string>{std::string(pattern)};
  const size_t close = ClosingOf(pattern, open);
  if (close == pattern.npos) return Error(pattern, "a brace is not closed");
  if (depth > kMostDepth) return Error(pattern, "braces are nested too deep");
  STOKER_ASSIGN_OR_RETURN(const auto middles, ExpandInside(pattern.substr(open + 1, close - open - 1), depth));
  STOKER_ASSIGN_OR_RETURN(const auto ends, Expand(pattern.substr(close + 1), depth + 1));
  if (middles.size() * ends.size() > kMostBraceNames)
    return Error(pattern, absl::StrCat("more than ", kMostBraceNames, " names"));
  std::vector<std::string> names;
  names.reserve(middles.size() * ends.size());
  for (const std::string& middle : middles)
    for (const std::string& end : ends) names.push_back(absl::StrCat(pattern.substr(0, open), middle, end));
  return names;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandBraces(absl::string_view pattern) { return Expand(pattern, 0); }

bool HasWildcards(absl::string_view name) { return name.find_first_of("*?[") != name.npos; }

bool MatchesWildcards(const std::string& name, const std::string& pattern) {
  return fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME | FNM_NOESCAPE) == 0;
}

}  // namespace stoker
