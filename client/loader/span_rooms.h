#ifndef STOKER_CLIENT_LOADER_SPAN_ROOMS_H_
#define STOKER_CLIENT_LOADER_SPAN_ROOMS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/loader/value_arena.h"
#include "common/fields/span_layout.h"

namespace stoker {

// Where the samples of one span go that differ in size. A span that comes garbled comes again; it takes no further room
// than once the most that it can have. One thread at a time.
class SpanRooms {
 public:
  // `layout` must outlive it.
  SpanRooms(std::shared_ptr<ValueArena> arena, const SpanLayout& layout, uint32_t count)
      : arena_(std::move(arena)), layout_(layout), count_(count), rooms_(layout.variable().size()) {}

  // Returns room for `bytes` of a field whose samples differ in size. The errors are ValueArena's.
  absl::StatusOr<std::span<uint8_t>> Take(size_t field, uint64_t bytes);

  // What was returned last for each such field, in order.
  std::vector<std::span<uint8_t>> taken() const;

 private:
  struct Room {
    std::span<uint8_t> all;
    uint64_t used = 0;
    bool taken = false;
  };

  const std::shared_ptr<ValueArena> arena_;
  const SpanLayout& layout_;
  const uint32_t count_;
  std::vector<Room> rooms_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_SPAN_ROOMS_H_
