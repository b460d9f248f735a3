#include "server/read/formats/tar/sample_rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/fields/schema.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {

std::optional<MemberName> SplitMemberName(std::string_view name) {
  const size_t slash = name.rfind('/'), base = slash == name.npos ? 0 : slash + 1;
  if (base == 0 && name.starts_with("__") && name.ends_with("__")) return std::nullopt;
  const size_t dot = name.find('.', base);
  if (dot == name.npos || dot == base) return std::nullopt;
  std::string extension(name.substr(dot + 1));
  absl::AsciiStrToLower(&extension);
  return MemberName{std::string(name.substr(0, dot)), std::move(extension)};
}

SampleRows::SampleRows(const std::vector<Extensions>& wanted, std::vector<bool> may_be_empty)
    : wanted_(wanted),
      may_be_empty_(may_be_empty.empty() ? std::vector<bool>(wanted.size()) : std::move(may_be_empty)),
      rows_(static_cast<int>(wanted.size())),
      parts_(wanted.size()) {}

absl::Status SampleRows::Add(const TarMember& member) {
  const std::optional<MemberName> name = SplitMemberName(member.name);
  if (!name.has_value()) return absl::OkStatus();
  if (groups_ == 0 || name->key != key_) {
    STOKER_RETURN_IF_ERROR(EndSample());
    ++groups_;
    key_ = name->key;
  }
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const size_t place = std::find(wanted_[i].begin(), wanted_[i].end(), name->extension) - wanted_[i].begin();
    if (place == wanted_[i].size() || place > parts_[i].place) continue;
    if (place == parts_[i].place)
      return absl::DataLossError(
          absl::StrCat("sample ", ShortPrintableName(key_), " has two members .", ShortPrintableName(name->extension)));
    parts_[i] = {place, member.offset, member.size};
  }
  return absl::OkStatus();
}

absl::Status SampleRows::EndSample() {
  uint64_t begin = ~uint64_t{}, end = 0;
  const auto has_place = [&](size_t i) {
    return parts_[i].size > 0 || (may_be_empty_[i] && parts_[i].place != ~size_t{});
  };
  std::vector<bool> placed;
  for (size_t i = 0; i < parts_.size(); ++i) {
    placed.push_back(has_place(i));
    if (!placed[i]) continue;
    begin = std::min(begin, parts_[i].offset - (parts_[i].size == 0 ? 1 : 0));
    end = std::max(end, parts_[i].offset + parts_[i].size);
  }
  const bool has_any =
      std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.place != ~size_t{}; });
  const std::vector<Part> parts = std::exchange(parts_, std::vector<Part>(wanted_.size()));
  if (!has_any) return absl::OkStatus();
  if (end == 0) begin = 0;
  if (end - begin > kMaxSampleBytes)
    return absl::DataLossError(absl::StrCat("sample ", ShortPrintableName(key_), ": its wanted members span ",
                                            end - begin, " bytes, and ", kMaxSampleBytes, " is the most"));
  std::vector<StoredPart> stored;
  for (size_t i = 0; i < parts.size(); ++i)
    stored.push_back(
        placed[i] ? StoredPart{static_cast<uint32_t>(parts[i].offset - begin), static_cast<uint32_t>(parts[i].size)}
                  : StoredPart{});
  rows_.Add(key_, {begin, static_cast<uint32_t>(end - begin)}, stored);
  return absl::OkStatus();
}

absl::StatusOr<ShardIndex::Rows> SampleRows::Finish() {
  STOKER_RETURN_IF_ERROR(EndSample());
  return std::move(rows_);
}

}  // namespace stoker
