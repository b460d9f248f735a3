#include "server/read/formats/tfrecord/foreign_index.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "common/fields/schema.h"
#include "server/read/formats/tfrecord/record.h"

namespace stoker {
namespace {

// Takes a number and the character after it from the front of `text`.
bool TakeNumber(std::string_view& text, char after, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const size_t digits = end - text.data();
  if (error != std::errc() || digits == text.size() || text[digits] != after) return false;
  text.remove_prefix(digits + 1);
  return true;
}

}  // namespace

std::vector<std::string> ForeignIndexNames(const std::string& shard) {
  const size_t slash = shard.rfind('/'), dot = shard.rfind('.');
  std::vector<std::string> names = {shard + ".idx"};
  if (dot == shard.npos || (slash != shard.npos && dot < slash)) return names;
  const std::string stem = shard.substr(0, dot);
  names.push_back(stem + ".idx");
  names.push_back(stem + ".tfindex");
  return names;
}

bool IsForeignIndexName(std::string_view name) { return name.ends_with(".idx") || name.ends_with(".tfindex"); }

absl::Status ParseForeignIndex(std::string_view text, uint64_t shard_bytes, ShardIndex::Rows& rows) {
  uint64_t line = 0, expected = 0;
  const auto wrong = [&](const auto&... what) {
    return absl::DataLossError(absl::StrCat("line ", line, ": ", what...));
  };
  for (uint64_t offset = 0, bytes = 0; !text.empty(); expected += bytes) {
    ++line;
    if (!TakeNumber(text, ' ', offset) || !TakeNumber(text, '\n', bytes)) return wrong("is not `OFFSET BYTES`");
    if (offset != expected) return wrong("a record begins at ", offset, ", where the one before ends at ", expected);
    if (bytes > shard_bytes - expected) return wrong("a record of ", bytes, " bytes ends beyond the shard's end");
    if (bytes < kRecordFramingBytes || bytes - kRecordFramingBytes > kMaxSampleBytes)
      return wrong("a record cannot have ", bytes, " bytes");
    rows.Add("", {offset, static_cast<uint32_t>(bytes)}, {});
  }
  if (expected == shard_bytes) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("its records end at ", expected, ", where the shard has ", shard_bytes));
}

}  // namespace stoker
