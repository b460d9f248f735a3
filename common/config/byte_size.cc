#include "common/config/byte_size.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/config/text.h"

namespace stoker {
namespace {

constexpr size_t kMaxDecimals = 6;  // So many decimals, times the largest unit, fit 64 bits.

struct Unit {
  const char* name;
  uint64_t bytes;
};

constexpr Unit kBinaryUnits[] = {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1ull << 40}};
constexpr Unit kDecimalUnits[] = {
    {"", 1}, {"KB", 1000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}, {"TB", 1'000'000'000'000}};

std::optional<uint64_t> UnitBytes(const std::string& name) {
  for (const auto& units : {kBinaryUnits, kDecimalUnits})
    for (const Unit* unit = units; unit != units + std::size(kBinaryUnits); ++unit)
      if (absl::EqualsIgnoreCase(unit->name, name)) return unit->bytes;
  return std::nullopt;
}

absl::Status NotASize(const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected a size such as 8GiB, 1.5GiB, 500MB or 4096, found '", Shown(text), "'"));
}

absl::Status TooLarge(const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat("'", Shown(text), "' exceeds 16 EiB"));
}

}  // namespace

absl::StatusOr<uint64_t> ParseByteSize(const std::string& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<uint64_t> unit = UnitBytes(std::string(absl::StripLeadingAsciiWhitespace(text.substr(end))));
  const std::vector<std::string> parts = absl::StrSplit(text.substr(0, end), '.');
  if (!unit || parts.size() > 2 || parts.front().empty() || parts.back().empty()) return NotASize(text);

  uint64_t count = 0, bytes = 0;
  if (!absl::SimpleAtoi(parts[0], &count) || __builtin_mul_overflow(count, *unit, &bytes)) return TooLarge(text);
  if (parts.size() == 1) return bytes;
  if (parts[1].size() > kMaxDecimals) return NotASize(text);
  uint64_t fraction = 0, divisor = 1;
  if (!absl::SimpleAtoi(parts[1], &fraction)) return NotASize(text);
  for (size_t i = 0; i < parts[1].size(); ++i) divisor *= 10;
  if (__builtin_add_overflow(bytes, fraction * *unit / divisor, &bytes)) return TooLarge(text);
  return bytes;
}

std::string FormatByteSize(uint64_t bytes) {
  const Unit* unit = std::end(kBinaryUnits) - 1;
  while (unit != kBinaryUnits && bytes < unit->bytes) --unit;
  const uint64_t whole = bytes / unit->bytes, tenths = bytes % unit->bytes * 10 / unit->bytes;
  if (tenths == 0) return absl::StrCat(whole, unit->name);
  return absl::StrCat(whole, ".", tenths, unit->name);
}

}  // namespace stoker
