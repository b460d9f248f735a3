#include "server/read/formats/tar/tar_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// A header with the small members around it. A larger window would read a local disk's images for nothing, whereas to
// wait for a remote store costs as much as some MiB.
constexpr uint64_t kLocalWindow = 16 << 10, kRemoteWindow = 4 << 20;
constexpr uint64_t kMostExtendedBytes = 1 << 20;

// Whether data follows the header of such a member. A link's header may tell the size of what it leads to.
bool HasData(char type) { return type < '1' || type > '6'; }

bool IsRegular(const TarHeader& header) {
  if (header.type == '\0') return !header.name.ends_with('/');  // Before POSIX, folders were told by their names.
  return header.type == '0' || header.type == '7';
}

}  // namespace

absl::Status TarReader::ErrorAt(uint64_t offset, std::string_view what) const {
  return NamedError(archive_.name, absl::DataLossError(absl::StrCat("at byte ", offset, ": ", std::string(what))));
}

absl::StatusOr<std::span<const uint8_t>> TarReader::BytesAt(uint64_t offset, uint64_t size) {
  STOKER_CHECK(size <= kMostExtendedBytes);
  if (offset > archive_.size || size > archive_.size - offset)
    return ErrorAt(offset, absl::StrCat("the archive is cut short: it has only ", archive_.size, " bytes"));
  const bool has = offset >= window_begin_ && offset - window_begin_ <= window_.size() &&
                   size <= window_.size() - (offset - window_begin_);
  if (!has) {
    const uint64_t window = std::max(size, store_.is_remote() ? kRemoteWindow : kLocalWindow);
    window_.resize(std::min(window, archive_.size - offset));
    window_begin_ = offset;
    const absl::Status read = ReadNow(store_, {&archive_, offset, window_});
    if (!read.ok()) window_.clear();
    STOKER_RETURN_IF_ERROR(read);
  }
  return std::span<const uint8_t>(window_).subspan(offset - window_begin_, size);
}

// Returns the data of an extended header at at_.
absl::StatusOr<std::string_view> TarReader::DataOf(const TarHeader& header) {
  if (header.size > kMostExtendedBytes) return ErrorAt(at_, "an extended header is too large");
  STOKER_ASSIGN_OR_RETURN(const auto bytes, BytesAt(at_ + kTarBlock, header.size));
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

absl::Status TarReader::Extend(const TarHeader& header, Extended& extended) {
  STOKER_ASSIGN_OR_RETURN(const std::string_view data, DataOf(header));
  if (header.type == 'L') {
    extended.name = std::string(data.substr(0, data.find('\0')));
    return absl::OkStatus();
  }
  auto records = ParsePaxRecords(data);
  if (!records.ok()) return ErrorAt(at_, std::string(records.status().message()));
  extended.pax = *std::move(records);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<TarMember>> TarReader::Next() {
  for (Extended extended;;) {
    if (at_ == archive_.size)
      return ErrorAt(at_,
                     "the archive ends without a block of zeros: it is cut short, or its writer did not close it; if "
                     "nothing is missing, append 1024 zero bytes");
    STOKER_ASSIGN_OR_RETURN(const auto block, BytesAt(at_, kTarBlock));
    auto header = ParseTarHeader(block.first<kTarBlock>());
    if (!header.ok()) return ErrorAt(at_, absl::StrCat("this is no tar header: ", header.status().message()));
    if (header->is_end) return std::nullopt;
    const bool is_extended = header->type == 'L' || header->type == 'x';
    const bool says_more = is_extended || header->type == 'K' || header->type == 'g';
    const uint64_t size = !says_more && extended.pax.size.has_value() ? *extended.pax.size
                          : HasData(header->type)                     ? header->size
                                                                      : 0;
    const uint64_t data = at_ + kTarBlock;
    if (size > archive_.size - data)
      return ErrorAt(at_, absl::StrCat("the archive is cut short: a member of ", size, " bytes begins here, and only ",
                                       archive_.size - data, " follow"));
    if (is_extended) STOKER_RETURN_IF_ERROR(Extend(*header, extended));
    const uint64_t begin = at_;
    // What fills the last block may be missing, as the block of zeros then is.
    at_ = std::min(archive_.size, data + (size + kTarBlock - 1) / kTarBlock * kTarBlock);
    if (says_more) continue;
    if (header->type == 'S' || extended.pax.is_sparse)
      return ErrorAt(begin, absl::StrCat(ShortPrintableName(header->name),
                                         " is stored as a sparse file, which is not read; write the archive anew "
                                         "without --sparse"));
    const bool is_regular = IsRegular(*header);
    std::string name = extended.pax.path.has_value() ? *std::move(extended.pax.path)
                       : extended.name.has_value()   ? *std::move(extended.name)
                                                     : std::move(header->name);
    extended = {};
    if (is_regular) return TarMember{std::move(name), data, size};
  }
}

}  // namespace stoker
