#include "server/read/formats/hdf5/global_heap.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/status_macros.h"
#include "server/read/binary.h"

namespace stoker {
namespace {

constexpr uint64_t kHeaderBytes = 16;      // of a collection, and of an object
constexpr uint32_t kMostObjects = 65'535;  // of a collection, since they have numbers of 16 bits

// So much is read to look for objects, which is the size of the smallest collection.
constexpr uint64_t kLookBytes = uint64_t{4} << 10;

absl::Status NoObject() { return absl::DataLossError("refers to a value that its file has not"); }

// Ranges of a file, of which the last one that was looked at is kept.
class Window {
 public:
  Window(Store& store, const ObjectInfo& file) : store_(store), file_(file) {}

  // Sets `header` to the bytes at `offset`. DataLoss beyond the file's end.
  absl::Status Look(uint64_t offset, std::string_view& header) {
    if (offset > file_.size || file_.size - offset < kHeaderBytes) return NoObject();
    if (offset < begin_ || offset - begin_ > size_ || size_ - (offset - begin_) < kHeaderBytes) {
      size_ = 0;  // until it is read
      const uint64_t size = std::min(kLookBytes, file_.size - offset);
      STOKER_RETURN_IF_ERROR(ReadNow(store_, {&file_, offset, {bytes_.data(), size}}));
      begin_ = offset;
      size_ = size;
    }
    header = {reinterpret_cast<const char*>(bytes_.data()) + (offset - begin_), kHeaderBytes};
    return absl::OkStatus();
  }

  // Fills `into` from `offset` on. Requires that the file has as many bytes.
  absl::Status Read(uint64_t offset, std::span<uint8_t> into) {
    const bool is_here = offset >= begin_ && offset - begin_ <= size_ && into.size() <= size_ - (offset - begin_);
    if (!is_here) return ReadNow(store_, {&file_, offset, into});
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset - begin_), into.size(), into.begin());
    return absl::OkStatus();
  }

 private:
  Store& store_;
  const ObjectInfo& file_;
  std::array<uint8_t, kLookBytes> bytes_;
  uint64_t begin_ = 0, size_ = 0;
};

}  // namespace

HeapReference ParseHeapReference(std::span<const uint8_t, kReferenceBytes> bytes) {
  BinaryReader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  HeapReference reference;
  reference.size = reader.Get<uint32_t>();
  reference.collection = reader.Get<uint64_t>();
  reference.object = reader.Get<uint32_t>();
  return reference;
}

absl::Status ReadHeapObject(Store& store, const ObjectInfo& file, const HeapReference& reference,
                            std::vector<uint8_t>& bytes) {
  if (reference.object == 0 || reference.object > kMostObjects) return NoObject();
  Window window(store, file);
  std::string_view header;
  STOKER_RETURN_IF_ERROR(window.Look(reference.collection, header));
  const uint64_t collection_bytes = BinaryReader(header.substr(8)).Get<uint64_t>();
  if (header.substr(0, 5) != std::string_view("GCOL\1") || collection_bytes > file.size - reference.collection)
    return NoObject();
  const uint64_t end = reference.collection + collection_bytes;
  uint64_t at = reference.collection + kHeaderBytes;
  for (uint32_t looked_at = 0; looked_at < kMostObjects && at < end && end - at >= kHeaderBytes; ++looked_at) {
    STOKER_RETURN_IF_ERROR(window.Look(at, header));
    const uint16_t number = BinaryReader(header).Get<uint16_t>();
    const uint64_t size = BinaryReader(header.substr(8)).Get<uint64_t>();
    at += kHeaderBytes;
    if (number == 0 || size > end - at) break;
    if (number == reference.object) {
      if (size != reference.size) break;
      bytes.resize(size);
      return window.Read(at, bytes);
    }
    at += (size + 7) / 8 * 8;  // which is no more than the file's size and 7
  }
  return NoObject();
}

}  // namespace stoker
