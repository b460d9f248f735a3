#include "server/read/formats/tar/dali_index.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// A line of text for each member of 512 bytes at least.
constexpr uint64_t kMostIndexBytes = uint64_t{1} << 30;

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("the .idx file: ", what)); }

// Checks that a header before `member` tells of it.
absl::Status CheckMember(TarReader& reader, const TarMember& member) {
  STOKER_ASSIGN_OR_RETURN(const auto block, reader.BytesAt(member.offset - kTarBlock, kTarBlock));
  STOKER_ASSIGN_OR_RETURN(const TarHeader header, ParseTarHeader(block.first<kTarBlock>()));
  // Names that do not fit into a header are told before it: a scan finds these.
  if (header.is_end || header.size != member.size || header.name != member.name) return Wrong("is of another archive");
  return absl::OkStatus();
}

}  // namespace

std::string DaliIndexName(std::string_view shard) {
  absl::string_view name(shard.data(), shard.size());
  absl::ConsumeSuffix(&name, ".tar");
  return absl::StrCat(name, ".idx");
}

absl::StatusOr<std::vector<TarMember>> ParseDaliIndex(std::string_view text) {
  absl::string_view rest(text.data(), text.size());
  if (!absl::ConsumePrefix(&rest, "v1.2 ")) return Wrong("is not of version 1.2");
  size_t line_end = rest.find('\n');
  uint64_t samples = 0, lines = 0;
  if (line_end == rest.npos || !absl::SimpleAtoi(rest.substr(0, line_end), &samples)) return Wrong("has no number");
  std::vector<TarMember> members;
  uint64_t end = 0;
  for (rest.remove_prefix(line_end + 1); !rest.empty(); rest.remove_prefix(line_end + 1), ++lines) {
    line_end = rest.find('\n');
    if (line_end == rest.npos) return Wrong("is cut short");
    const std::vector<absl::string_view> words = absl::StrSplit(rest.substr(0, line_end), ' ');
    if (words.size() % 4 != 0) return Wrong("has a line that is not of four words for each member");
    for (size_t i = 0; i < words.size(); i += 4) {
      TarMember member;
      const bool numbers =
          absl::SimpleAtoi(words[i + 1], &member.offset) && absl::SimpleAtoi(words[i + 2], &member.size);
      if (!numbers || member.offset % kTarBlock != 0 || member.offset < end + kTarBlock ||
          member.size > (uint64_t{1} << 62) - member.offset)
        return Wrong("has members that cannot lie so");
      end = member.offset + member.size;
      member.name = std::string(words[i + 3]);
      if (member.name.find('\0') != member.name.npos) return Wrong("has a name with a zero byte");
      members.push_back(std::move(member));
    }
  }
  if (lines != samples || members.empty()) return Wrong("has another number of samples than it says");
  return members;
}

absl::StatusOr<std::vector<TarMember>> MembersByDaliIndex(Store& store, const ObjectInfo& shard) {
  STOKER_ASSIGN_OR_RETURN(const auto described, store.Describe({DaliIndexName(shard.name)}));
  const ObjectInfo& index = described[0];
  if (index.size > kMostIndexBytes || index.size > shard.size) return Wrong("is too large");
  std::vector<uint8_t> bytes(index.size);
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&index, 0, bytes}));
  STOKER_ASSIGN_OR_RETURN(auto members, ParseDaliIndex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  TarReader reader(store, shard);
  STOKER_RETURN_IF_ERROR(CheckMember(reader, members.front()));
  STOKER_RETURN_IF_ERROR(CheckMember(reader, members.back()));
  // So all others lie in the archive too: they lie one after another before the last one, whose size is as it says.
  const TarMember& last = members.back();
  const uint64_t end = (last.offset + last.size + kTarBlock - 1) / kTarBlock * kTarBlock;
  STOKER_ASSIGN_OR_RETURN(const auto block, reader.BytesAt(end, kTarBlock));
  STOKER_ASSIGN_OR_RETURN(const TarHeader header, ParseTarHeader(block.first<kTarBlock>()));
  if (!header.is_end) return Wrong("tells of fewer members than the archive has");
  return members;
}

}  // namespace stoker
