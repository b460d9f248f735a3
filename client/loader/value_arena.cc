#include "client/loader/value_arena.h"

#include <algorithm>

#include "common/status_macros.h"

namespace stoker {
namespace {

// Further memory comes in pieces of at least so many bytes: each takes a device a while to allocate.
constexpr uint64_t kLeastMoreBytes = uint64_t{256} << 10;

}  // namespace

absl::StatusOr<std::span<uint8_t>> ValueArena::Take(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  if (bytes > room_.size()) {
    STOKER_ASSIGN_OR_RETURN(auto more, device_->AllocateSlab(std::max(bytes, kLeastMoreBytes), /*needed=*/true));
    room_ = more->bytes();
    more_.push_back(std::move(more));
  }
  const std::span<uint8_t> taken = room_.first(bytes);
  room_ = room_.subspan(bytes);
  taken_ += bytes;
  return taken;
}

uint64_t ValueArena::taken() const {
  absl::MutexLock lock(&mutex_);
  return taken_;
}

}  // namespace stoker
