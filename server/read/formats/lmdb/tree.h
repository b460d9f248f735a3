#ifndef STOKER_SERVER_READ_FORMATS_LMDB_TREE_H_
#define STOKER_SERVER_READ_FORMATS_LMDB_TREE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/formats/lmdb/page.h"
#include "server/read/stores/store.h"

namespace stoker {

// One database of an LMDB data file, in the state of the last transaction that was committed. Only the tree's pages are
// read: values that are too large for them lie elsewhere, and where they lie is known without reading them. Pages are
// read many at once, and those that are near each other by one request.
//
// Single owner. Store and object must outlive it. Any bytes are safe: a walk reads no page twice, keeps up to a few
// dozen MiB and 16 bytes a page, and gives no range beyond the file. Errors name the object; they are DataLoss for what
// is damaged, Unimplemented for what other machines and versions wrote and for keys with several values, and the
// store's.
class LmdbTree {
 public:
  struct Entry {
    std::string_view key;
    uint64_t offset = 0;             // of the value, in the file
    uint32_t size = 0;               // bytes of the value
    std::span<const uint8_t> value;  // if it lies in the tree's pages
    bool is_database = false;        // it is no value, but a named database
  };

  // Returns whether the walk goes on.
  using Visit = std::function<bool(const Entry&)>;

  // Opens the database `name`, or without one the main database. NotFound where there is none of the name.
  static absl::StatusOr<LmdbTree> Open(Store& store, const ObjectInfo& object, const std::string& name);

  // Calls `visit` for each entry, in the order of the keys.
  absl::Status Walk(const Visit& visit) const;

  uint64_t entries() const { return database_.entries; }

 private:
  struct Progress;

  LmdbTree(Store& store, const ObjectInfo& object, const LmdbMeta& meta);

  // Walks the pages `numbers`, which lie at `depth`, counted from 1, and what is below them. Returns whether the walk
  // goes on.
  absl::StatusOr<bool> WalkPages(std::span<const uint64_t> numbers, int depth, Progress& progress) const;
  absl::StatusOr<bool> WalkLeaf(std::span<const uint8_t> page, uint64_t number, Progress& progress) const;

  // The pages that were asked for, in the order of asking, and the memory that they lie in.
  struct Pages {
    std::vector<std::vector<uint8_t>> ranges;
    std::vector<std::span<const uint8_t>> pages;
  };
  absl::StatusOr<Pages> ReadPages(std::span<const uint64_t> numbers) const;

  // Returns the offset in the file of a leaf's value.
  absl::StatusOr<uint64_t> OffsetOf(const LmdbNode& node, uint64_t page) const;

  Store* store_;
  const ObjectInfo* object_;
  uint64_t page_bytes_ = 0;
  uint64_t pages_ = 0;  // of the file, that were committed
  LmdbDatabase database_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_LMDB_TREE_H_
