#include "server/read/formats/lmdb/tree.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

// How much of the tree is read at once; a request has at most a quarter of it.
constexpr uint64_t kWindowBytes = 4 << 20, kRangeBytes = 1 << 20;

// So many bytes between two pages cost less than another request.
constexpr uint64_t kGapBytes = 16 << 10;

template <typename... What>
absl::Status Damaged(const What&... what) {
  return absl::DataLossError(absl::StrCat(what...));
}

absl::StatusOr<LmdbMeta> ReadMeta(Store& store, const ObjectInfo& object, uint64_t offset) {
  std::vector<uint8_t> page(std::min(kLmdbMetaBytes, object.size - offset));
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&object, offset, page}));
  return ParseLmdbMeta(page);
}

// Returns the header that was written last. The one before it is good as long as the other one is not whole.
absl::StatusOr<LmdbMeta> LastMeta(Store& store, const ObjectInfo& object) {
  STOKER_ASSIGN_OR_RETURN(const LmdbMeta first, ReadMeta(store, object, 0));
  if (object.size < 2 * first.page_bytes) return Damaged("is too short for an LMDB data file");
  const auto second = ReadMeta(store, object, first.page_bytes);
  const bool is_damaged = absl::IsDataLoss(second.status()) || (second.ok() && second->page_bytes != first.page_bytes);
  if (is_damaged) return first;
  STOKER_RETURN_IF_ERROR(second.status());
  return second->transaction > first.transaction ? *second : first;
}

// Reads ranges at once, and waits for all.
absl::Status ReadAll(Store& store, const std::vector<Store::Range>& ranges) {
  std::vector<absl::Status> statuses(ranges.size());
  absl::BlockingCounter left(static_cast<int>(ranges.size()));
  for (size_t i = 0; i < ranges.size(); ++i)
    store.Read(ranges[i], [&, i](const absl::Status& status) {
      statuses[i] = status;
      left.DecrementCount();
    });
  left.Wait();
  for (const absl::Status& status : statuses) STOKER_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

}  // namespace

struct LmdbTree::Progress {
  const Visit& visit;
  absl::flat_hash_set<uint64_t> met;  // the numbers of the pages that were read
  uint64_t entries = 0;
  uint64_t window = 1;  // pages that are read at once; it grows, since some want the first entries alone
};

LmdbTree::LmdbTree(Store& store, const ObjectInfo& object, const LmdbMeta& meta)
    : store_(&store), object_(&object), page_bytes_(meta.page_bytes), database_(meta.main) {
  const uint64_t whole = object.size / page_bytes_;
  pages_ = meta.last_page < whole ? meta.last_page + 1 : whole;
}

absl::StatusOr<LmdbTree> LmdbTree::Open(Store& store, const ObjectInfo& object, const std::string& name) {
  const auto meta = LastMeta(store, object);
  if (absl::IsDataLoss(meta.status()) || absl::IsUnimplemented(meta.status()))
    return NamedError(object.name, meta.status());
  STOKER_RETURN_IF_ERROR(meta.status());
  LmdbTree tree(store, object, *meta);
  if (name.empty()) return tree;
  std::optional<absl::StatusOr<LmdbDatabase>> found;
  STOKER_RETURN_IF_ERROR(tree.Walk([&](const Entry& entry) {
    if (entry.is_database && entry.key == name) found = ParseLmdbDatabase(entry.value);
    return !found.has_value();
  }));
  if (!found.has_value())
    return NamedError(object.name, absl::NotFoundError(absl::StrCat("there is no named database '",
                                                                    ShortPrintableName(name), "' in it")));
  if (!found->ok()) return NamedError(object.name, found->status());
  tree.database_ = **found;
  return tree;
}

absl::Status LmdbTree::Walk(const Visit& visit) const {
  if (database_.has_duplicates)
    return NamedError(object_->name,
                      absl::UnimplementedError("its keys may have several values (MDB_DUPSORT), which are no samples"));
  if (database_.depth == 0) return absl::OkStatus();
  Progress progress{visit};
  const uint64_t root[] = {database_.root};
  absl::StatusOr<bool> whole = WalkPages(root, 1, progress);
  if (whole.ok() && *whole && progress.entries != database_.entries)
    whole = Damaged("its tree has ", progress.entries, " entries, where its header tells of ", database_.entries);
  if (absl::IsDataLoss(whole.status())) return NamedError(object_->name, whole.status());
  return whole.status();
}

absl::StatusOr<bool> LmdbTree::WalkPages(std::span<const uint64_t> numbers, int depth, Progress& progress) const {
  for (size_t at = 0; at < numbers.size();) {
    const auto window = numbers.subspan(at, std::min<size_t>(progress.window, numbers.size() - at));
    at += window.size();
    progress.window = std::min(progress.window * 2, kWindowBytes / page_bytes_);
    const bool are_leaves = depth == database_.depth;
    for (const uint64_t number : window)
      if (!progress.met.insert(number).second) return Damaged("its tree has the page ", number, " twice");
    STOKER_ASSIGN_OR_RETURN(const Pages read, ReadPages(window));
    std::vector<uint64_t> below;
    for (size_t i = 0; i < window.size(); ++i) {
      if (are_leaves) {
        STOKER_ASSIGN_OR_RETURN(const bool goes_on, WalkLeaf(read.pages[i], window[i], progress));
        if (!goes_on) return false;
        continue;
      }
      STOKER_ASSIGN_OR_RETURN(const auto nodes, ParseLmdbNodes(read.pages[i], window[i], LmdbPageKind::kBranch));
      for (const LmdbNode& node : nodes) below.push_back(node.page);
    }
    if (are_leaves) continue;
    STOKER_ASSIGN_OR_RETURN(const bool goes_on, WalkPages(below, depth + 1, progress));
    if (!goes_on) return false;
  }
  return true;
}

absl::StatusOr<bool> LmdbTree::WalkLeaf(Bytes page, uint64_t number, Progress& progress) const {
  STOKER_ASSIGN_OR_RETURN(const auto nodes, ParseLmdbNodes(page, number, LmdbPageKind::kLeaf));
  for (const LmdbNode& node : nodes) {
    STOKER_ASSIGN_OR_RETURN(const uint64_t offset, OffsetOf(node, number));
    ++progress.entries;
    if (!progress.visit({node.key, offset, node.value_bytes, node.value, node.is_database})) return false;
  }
  return true;
}

absl::StatusOr<uint64_t> LmdbTree::OffsetOf(const LmdbNode& node, uint64_t page) const {
  if (!node.is_large) return page * page_bytes_ + node.offset;
  const bool is_there = node.page > 1 && node.page < pages_;
  const uint64_t most = is_there ? (pages_ - node.page) * page_bytes_ - kLmdbPageHeaderBytes : 0;
  if (is_there && node.value_bytes <= most) return node.page * page_bytes_ + kLmdbPageHeaderBytes;
  return Damaged("page ", page, ": the value of '", ShortPrintableName(node.key), "' does not lie in the file");
}

absl::StatusOr<LmdbTree::Pages> LmdbTree::ReadPages(std::span<const uint64_t> numbers) const {
  for (const uint64_t number : numbers)
    if (number < 2 || number >= pages_) return Damaged("its tree has a page ", number, ", where the file has ", pages_);
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  struct Extent {
    uint64_t begin = 0, end = 0;
  };
  std::vector<Extent> extents;
  std::vector<size_t> extent_of(numbers.size());
  for (const size_t i : order) {
    const uint64_t begin = numbers[i] * page_bytes_, end = begin + page_bytes_;
    if (extents.empty() || begin > extents.back().end + kGapBytes || end - extents.back().begin > kRangeBytes)
      extents.push_back({begin, end});
    extents.back().end = end;
    extent_of[i] = extents.size() - 1;
  }
  Pages read;
  std::vector<Store::Range> ranges;
  read.ranges.reserve(extents.size());
  for (const Extent& extent : extents) {
    read.ranges.emplace_back(extent.end - extent.begin);
    ranges.push_back({object_, extent.begin, read.ranges.back()});
  }
  STOKER_RETURN_IF_ERROR(ReadAll(*store_, ranges));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint64_t within = numbers[i] * page_bytes_ - extents[extent_of[i]].begin;
    read.pages.push_back(Bytes(read.ranges[extent_of[i]]).subspan(within, page_bytes_));
  }
  return read;
}

}  // namespace stoker
