#include "client/loader/span_rooms.h"

#include <algorithm>

#include "common/status_macros.h"

namespace stoker {

absl::StatusOr<std::span<uint8_t>> SpanRooms::Take(size_t field, uint64_t bytes) {
  const auto& variable = layout_.variable();
  Room& room = rooms_[std::find(variable.begin(), variable.end(), field) - variable.begin()];
  if (bytes > room.all.size()) {
    const uint64_t most = room.taken ? count_ * layout_.MostBytes(field) : bytes;
    STOKER_ASSIGN_OR_RETURN(room.all, arena_->Take(most));
  }
  room.taken = true;
  room.used = bytes;
  return room.all.first(bytes);
}

std::vector<std::span<uint8_t>> SpanRooms::taken() const {
  std::vector<std::span<uint8_t>> taken;
  taken.reserve(rooms_.size());
  for (const Room& room : rooms_) taken.push_back(room.all.first(room.used));
  return taken;
}

}  // namespace stoker
