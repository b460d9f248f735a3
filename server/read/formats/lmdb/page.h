#ifndef STOKER_SERVER_READ_FORMATS_LMDB_PAGE_H_
#define STOKER_SERVER_READ_FORMATS_LMDB_PAGE_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// The pages of an LMDB data file, as liblmdb 0.9 writes them on a 64-bit little-endian machine. All functions are pure;
// any bytes are safe, and nothing is allocated beyond a small multiple of a page. Errors are DataLoss, and
// Unimplemented for files of other machines and versions.
//
//   page      u64 its number, u16 unused, u16 kind, and then by its kind
//     meta      u32 unused, u32 magic 0xbeefc0de, u32 version 1, 16 bytes unused, the database of free pages,
//               the main database, u64 last page, u64 number of the transaction that wrote it
//     branch,   u16 lower, u16 upper, and u16 for each node: where in the page it begins; these end at `lower`, and
//     leaf      nodes lie from `upper` on
//     overflow  u32 number of pages, and a value that goes on through those behind it
//   database  u32 the page's size (of the one of free pages), u16 flags, u16 depth, u64 branch pages, u64 leaf pages,
//             u64 overflow pages, u64 entries, u64 root's number
//   node      of a branch: u48 number of the page below, its low half-words first, u16 bytes of the key, key
//             of a leaf: u32 bytes of the value, u16 flags, u16 bytes of the key, key, value or u64 overflow page

inline constexpr uint64_t kLmdbPageHeaderBytes = 16;
inline constexpr uint64_t kLeastLmdbPageBytes = 256, kMostLmdbPageBytes = 65536;
inline constexpr uint64_t kLmdbMetaBytes = 152;  // that a meta page needs to be parsed
inline constexpr uint64_t kNoLmdbPage = ~uint64_t{};

enum class LmdbPageKind : uint16_t { kBranch = 1, kLeaf = 2, kOverflow = 4, kMeta = 8 };

struct LmdbDatabase {
  bool has_duplicates = false;  // a key may have several values
  uint16_t depth = 0;           // levels of the tree; 0 where it is empty
  uint64_t entries = 0;
  uint64_t root = kNoLmdbPage;
};

struct LmdbMeta {
  uint64_t page_bytes = 0;  // a power of two
  LmdbDatabase main;
  uint64_t last_page = 0;
  uint64_t transaction = 0;
};

struct LmdbNode {
  std::string_view key;
  uint64_t page = 0;               // of a branch: the one below; of a leaf's large value: the first overflow page
  uint32_t value_bytes = 0;        // of a leaf
  bool is_large = false;           // the value lies in overflow pages
  bool is_database = false;        // the value describes a named database
  uint32_t offset = 0;             // in the page, of a value that lies there
  std::span<const uint8_t> value;  // that value
};

// Parses the begin of a meta page, the first of which shows the page's size.
absl::StatusOr<LmdbMeta> ParseLmdbMeta(std::span<const uint8_t> page);

// Parses what the value of a named database's entry has.
absl::StatusOr<LmdbDatabase> ParseLmdbDatabase(std::span<const uint8_t> value);

// Returns the nodes of the branch or leaf page `number`, which refer to its bytes. They do not overlap.
absl::StatusOr<std::vector<LmdbNode>> ParseLmdbNodes(std::span<const uint8_t> page, uint64_t number, LmdbPageKind kind);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_LMDB_PAGE_H_
