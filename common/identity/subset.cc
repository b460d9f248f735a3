#include "common/identity/subset.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "xxhash.h"

namespace stoker {
namespace {

constexpr int kMaxIdRanges = 4096, kMaxHashRanges = 256;
constexpr uint64_t kMostParts = 1'000'000'000;

// One side of a slice: a place among the ids, or a part of the whole.
struct Bound {
  int64_t id = 0;
  uint64_t numerator = 0, denominator = 0;  // The denominator is 0 for an id.
};

absl::Status SplitError(absl::string_view split, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("split: '", absl::CHexEscape(split.substr(0, 100)), "': ", reason,
                   "; write \"[:90%]\", \"[1/3:2/3]\" or \"[:50000]\", several with a + between them"));
}

// Reads "12.5" of "12.5%".
std::optional<Bound> ParsePercentage(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('.', 1));
  Bound bound = {.denominator = 100};
  if (!absl::SimpleAtoi(parts.first, &bound.numerator) || bound.numerator > 100 || !absl::ascii_isdigit(text[0]))
    return std::nullopt;
  if (parts.second.size() > 7 || absl::EndsWith(text, ".")) return std::nullopt;
  for (const char digit : parts.second) {
    if (!absl::ascii_isdigit(digit)) return std::nullopt;
    bound.numerator = bound.numerator * 10 + (digit - '0');
    bound.denominator *= 10;
  }
  return bound;
}

std::optional<Bound> ParseBound(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  Bound bound;
  if (text.size() > 1 && absl::ConsumeSuffix(&text, "%")) return ParsePercentage(text);
  if (absl::StrContains(text, '/')) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('/', 1));
    if (!absl::SimpleAtoi(parts.first, &bound.numerator) || !absl::SimpleAtoi(parts.second, &bound.denominator) ||
        bound.denominator < 1 || bound.denominator > kMostParts)
      return std::nullopt;
    return bound;
  }
  return absl::SimpleAtoi(text, &bound.id) ? std::optional(bound) : std::nullopt;
}

// Returns the first hash that belongs to what lies above numerator/denominator: the least h with h / 2^64 not below it.
// Requires numerator < denominator.
uint64_t FirstHash(const Bound& bound) {
  using Wide = unsigned __int128;
  return static_cast<uint64_t>(((Wide{bound.numerator} << 64) + bound.denominator - 1) / bound.denominator);
}

absl::Status AddPart(absl::string_view split, const Bound& begin, const Bound& end, v1::Subset& subset) {
  if (begin.numerator > begin.denominator || end.numerator > end.denominator)
    return SplitError(split, "a part lies past the whole");
  const bool to_the_end = end.numerator == end.denominator;
  if (begin.numerator == begin.denominator || (!to_the_end && FirstHash(begin) >= FirstHash(end)))
    return SplitError(split, "a part is empty");
  v1::HashRange& range = *subset.add_name_hashes();
  range.set_first(FirstHash(begin));
  range.set_last(to_the_end ? std::numeric_limits<uint64_t>::max() : FirstHash(end) - 1);
  return absl::OkStatus();
}

absl::Status AddSlice(absl::string_view split, absl::string_view slice, v1::Subset& subset) {
  slice = absl::StripAsciiWhitespace(slice);
  if (!absl::ConsumePrefix(&slice, "[") || !absl::ConsumeSuffix(&slice, "]"))
    return SplitError(split, "it is not in brackets");
  const std::vector<absl::string_view> sides = absl::StrSplit(slice, ':');
  if (sides.size() != 2) return SplitError(split, "a slice has a beginning and an end");
  const bool from = !absl::StripAsciiWhitespace(sides[0]).empty(), to = !absl::StripAsciiWhitespace(sides[1]).empty();
  std::optional<Bound> begin = Bound{}, end = Bound{};
  if (from) begin = ParseBound(sides[0]);
  if (to) end = ParseBound(sides[1]);
  if (!begin.has_value() || !end.has_value()) return SplitError(split, "that is no number, percentage or fraction");
  const bool parts = begin->denominator != 0 || end->denominator != 0;
  if (parts && from && begin->denominator == 0) return SplitError(split, "percentages and ids cannot be mixed");
  if (parts && to && end->denominator == 0) return SplitError(split, "percentages and ids cannot be mixed");
  if (parts) return AddPart(split, from ? *begin : Bound{0, 0, 1}, to ? *end : Bound{0, 1, 1}, subset);
  v1::IdRange& range = *subset.add_ids();
  range.set_begin(begin->id);
  if (to) range.set_end(end->id);
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateSubset(const v1::Subset& subset) {
  if (subset.ids_size() > kMaxIdRanges)
    return absl::InvalidArgumentError(
        absl::StrCat("subset: ", subset.ids_size(), " ranges of ids are more than ", kMaxIdRanges,
                     "; give long lists of samples to the servers, as `lists` of the dataset in their configuration"));
  if (subset.name_hashes_size() > kMaxHashRanges)
    return absl::InvalidArgumentError(
        absl::StrCat("subset: ", subset.name_hashes_size(), " ranges of names' hashes are more than ", kMaxHashRanges));
  for (const v1::HashRange& range : subset.name_hashes())
    if (range.first() > range.last())
      return absl::InvalidArgumentError("subset: a range of names' hashes ends before it begins");
  if (subset.split_seed() != 0 && subset.name_hashes().empty())
    return absl::InvalidArgumentError("subset: split_seed means nothing without ranges of names' hashes");
  return absl::OkStatus();
}

uint64_t HashOfName(std::string_view name, uint64_t split_seed) {
  return XXH3_64bits_withSeed(name.data(), name.size(), split_seed);
}

absl::Status ParseSplit(std::string_view split, v1::Subset& subset) {
  const absl::string_view text(split.data(), split.size());
  v1::Subset sliced;
  for (const absl::string_view slice : absl::StrSplit(text, '+')) STOKER_RETURN_IF_ERROR(AddSlice(text, slice, sliced));
  if (sliced.ids_size() > 0 && sliced.name_hashes_size() > 0)
    return SplitError(text, "percentages and ids cannot be mixed");
  subset.MergeFrom(sliced);
  return absl::OkStatus();
}

absl::Status AddIds(std::vector<uint64_t> ids, v1::Subset& subset) {
  if (subset.ids_size() > 0)
    return absl::InvalidArgumentError("indices: the split names ids already; give one of both");
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) return absl::InvalidArgumentError(absl::StrCat("indices: ", *twice, " is there twice"));
  if (!ids.empty() && ids.back() >= uint64_t{1} << 63)
    return absl::InvalidArgumentError(absl::StrCat("indices: ", ids.back(), " is no sample's id"));
  for (const uint64_t id : ids) {
    const bool follows = subset.ids_size() > 0 && subset.ids().rbegin()->end() == static_cast<int64_t>(id);
    v1::IdRange& range = follows ? *subset.mutable_ids()->rbegin() : *subset.add_ids();
    if (!follows) range.set_begin(static_cast<int64_t>(id));
    range.set_end(static_cast<int64_t>(id) + 1);
  }
  return absl::OkStatus();
}

}  // namespace stoker
