#include "server/read/formats/lmdb/page.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint32_t kMagic = 0xbeefc0de, kMagicReversed = 0xdec0efbe;
constexpr uint64_t kNodeHeaderBytes = 8, kDatabaseBytes = 48;
constexpr uint16_t kMaxDepth = 32;  // liblmdb's own bound

enum DatabaseFlags : uint16_t { kDuplicates = 4 };
enum NodeFlags : uint16_t { kOverflowValue = 1, kDatabaseValue = 2, kDuplicateValues = 4 };

// Requires that the number lies in `bytes`.
template <typename Number>
Number At(Bytes bytes, uint64_t offset) {
  STOKER_CHECK(offset + sizeof(Number) <= bytes.size());
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

template <typename... What>
absl::Status Wrong(const What&... what) {
  return absl::DataLossError(absl::StrCat(what...));
}

// Other bits say how a page was in memory when it was written.
uint16_t KindOf(Bytes page) { return At<uint16_t>(page, 10) & 0x6f; }

// Returns what is wrong with a file whose first page has no magic where one belongs.
absl::Status NoMagic(Bytes page) {
  if (At<uint32_t>(page, kLmdbPageHeaderBytes) == kMagicReversed)
    return absl::UnimplementedError("is an LMDB file of a big-endian machine; copy it by mdb_dump and mdb_load");
  if (At<uint32_t>(page, 12) == kMagic)
    return absl::UnimplementedError("is an LMDB file of a 32-bit machine; copy it by mdb_dump and mdb_load");
  return Wrong("is no LMDB data file, or its header is damaged");
}

}  // namespace

absl::StatusOr<LmdbMeta> ParseLmdbMeta(Bytes page) {
  if (page.size() < kLmdbMetaBytes) return Wrong("is too short for an LMDB data file");
  if (At<uint32_t>(page, 16) != kMagic) return NoMagic(page);
  const auto version = At<uint32_t>(page, 20);
  if (version != 1)
    return absl::UnimplementedError(
        absl::StrCat("is an LMDB file of version ", version, "; this server reads version 1, which LMDB 0.9 writes"));
  if (KindOf(page) != static_cast<uint16_t>(LmdbPageKind::kMeta)) return Wrong("its header is damaged");
  LmdbMeta meta;
  meta.page_bytes = At<uint32_t>(page, 40);
  if (meta.page_bytes < kLeastLmdbPageBytes || meta.page_bytes > kMostLmdbPageBytes ||
      !std::has_single_bit(meta.page_bytes))
    return Wrong("its header is damaged: pages of ", meta.page_bytes, " bytes");
  STOKER_ASSIGN_OR_RETURN(meta.main, ParseLmdbDatabase(page.subspan(88, kDatabaseBytes)));
  meta.last_page = At<uint64_t>(page, 136);
  meta.transaction = At<uint64_t>(page, 144);
  return meta;
}

absl::StatusOr<LmdbDatabase> ParseLmdbDatabase(Bytes value) {
  if (value.size() != kDatabaseBytes) return Wrong("a named database has ", value.size(), " bytes");
  LmdbDatabase database;
  database.has_duplicates = (At<uint16_t>(value, 4) & kDuplicates) != 0;
  database.depth = At<uint16_t>(value, 6);
  database.entries = At<uint64_t>(value, 32);
  database.root = At<uint64_t>(value, 40);
  const bool is_empty = database.root == kNoLmdbPage;
  if (database.depth > kMaxDepth || (database.depth == 0) != is_empty || (is_empty && database.entries != 0))
    return Wrong("a tree of ", database.depth, " levels with ", database.entries, " entries is none");
  return database;
}

absl::StatusOr<std::vector<LmdbNode>> ParseLmdbNodes(Bytes page, uint64_t number, LmdbPageKind kind) {
  const auto wrong = [&](const auto&... what) { return Wrong("page ", number, ": ", what...); };
  STOKER_CHECK(page.size() >= kLeastLmdbPageBytes);
  if (At<uint64_t>(page, 0) != number) return wrong("is another page");
  if (KindOf(page) != static_cast<uint16_t>(kind))
    return wrong("is no ", kind == LmdbPageKind::kLeaf ? "leaf" : "branch", " of the tree");
  const auto lower = At<uint16_t>(page, 12);
  const uint32_t upper = At<uint16_t>(page, 14);
  if (lower < kLmdbPageHeaderBytes || lower % 2 != 0 || lower > upper || upper > page.size())
    return wrong("its nodes do not lie in it");
  const uint64_t count = (lower - kLmdbPageHeaderBytes) / 2;
  if (count == 0) return wrong("is empty");
  std::vector<LmdbNode> nodes(count);
  // Nodes that shared bytes could make many large keys of one page.
  uint64_t free_bytes = page.size() - upper;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = At<uint16_t>(page, kLmdbPageHeaderBytes + 2 * i);
    if (at < upper || at + kNodeHeaderBytes > page.size()) return wrong("node ", i, " does not lie in it");
    const Bytes node = page.subspan(at);
    const uint32_t low = At<uint32_t>(node, 0);
    const auto flags = At<uint16_t>(node, 4);
    const uint64_t key_bytes = At<uint16_t>(node, 6);
    const bool is_branch = kind == LmdbPageKind::kBranch, is_large = !is_branch && (flags & kOverflowValue) != 0;
    const uint64_t here = is_branch ? 0 : is_large ? sizeof(uint64_t) : low;
    const uint64_t node_bytes = kNodeHeaderBytes + key_bytes + here;
    if (node_bytes > node.size() || node_bytes > free_bytes) return wrong("node ", i, " does not lie in it");
    free_bytes -= node_bytes;
    nodes[i].key = {reinterpret_cast<const char*>(node.data()) + kNodeHeaderBytes, key_bytes};
    if (is_branch) {
      nodes[i].page = low | static_cast<uint64_t>(flags) << 32;
      continue;
    }
    if (key_bytes == 0) return wrong("node ", i, " has no key");
    if ((flags & kDuplicateValues) != 0) return wrong("node ", i, " has several values");
    nodes[i].is_database = (flags & kDatabaseValue) != 0;
    nodes[i].value_bytes = low;
    nodes[i].is_large = is_large;
    if (is_large) {
      nodes[i].page = At<uint64_t>(node, kNodeHeaderBytes + key_bytes);
    } else {
      nodes[i].offset = static_cast<uint32_t>(at + kNodeHeaderBytes + key_bytes);
      nodes[i].value = node.subspan(kNodeHeaderBytes + key_bytes, low);
    }
  }
  return nodes;
}

}  // namespace stoker
