#ifndef STOKER_SERVER_PACK_SLAB_POOL_H_
#define STOKER_SERVER_PACK_SLAB_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace stoker {

// Buffers for spans, reused, and the memory that streams may hold.
//
// Each stream has an account. Half of the budget is for what accounts reserve, room for one span and for what gRPC
// runs ahead, so that no stream can take another's last span or keep one from opening. The other half is shared by
// dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998): an account grows while it
// holds no more of the shared bytes than are free, hence stalled streams can never take all of them.
//
// Thread-safe. Never blocks: what does not fit now is refused, and `on_release` is called, without any lock, when
// it may fit again. Slabs and accounts may outlive the pool.
class SlabPool {
  struct State;
  struct Shares;

 public:
  // A buffer that returns to its pool when it is destroyed. Movable; one owner.
  class Slab {
   public:
    Slab() = default;
    Slab(Slab&&) = default;
    Slab& operator=(Slab&& other);
    ~Slab() { Release(); }

    // Empty after DropBuffer.
    std::span<uint8_t> bytes() const { return {buffer_.get(), buffer_ == nullptr ? 0 : size_}; }

    // Leaves the buffer to others and keeps its room in the account, for memory from elsewhere.
    void DropBuffer();

   private:
    friend class SlabPool;
    void Release();

    std::unique_ptr<uint8_t[]> buffer_;
    uint64_t size_ = 0;
    std::shared_ptr<Shares> shares_;
  };

  // One stream's part of the pool. Its reservation ends with it; its slabs count until they return.
  class Account {
   public:
    explicit Account(std::shared_ptr<Shares> shares) : shares_(std::move(shares)) {}
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;
    ~Account();

    // Raises the reservation to one span of `span_bytes`, if that is more. ResourceExhausted if the budget
    // has no room.
    absl::Status Reserve(uint64_t span_bytes);

    // A slab of `size` bytes, or none if the account may not grow by as much now.
    std::optional<Slab> TryTake(uint64_t size);

   private:
    std::shared_ptr<Shares> shares_;
  };

  // What gRPC may hold for a stream beside its slabs (measured: 20 to 40 MB with a stalled reader).
  static constexpr uint64_t kStreamOverheadBytes = uint64_t{32} << 20;

  SlabPool(uint64_t budget_bytes, std::function<void()> on_release);

  // An account that always has room for one span of `span_bytes`. ResourceExhausted, with the figures, if the
  // budget has no room for another stream.
  absl::StatusOr<std::unique_ptr<Account>> OpenAccount(uint64_t span_bytes);

  // The largest span that a stream may ask for: an eighth of the budget, so that a few cannot reserve it all.
  uint64_t max_span_bytes() const;

  uint64_t budget_bytes() const;

  // Bytes in slabs that have not returned.
  uint64_t held_bytes() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PACK_SLAB_POOL_H_
