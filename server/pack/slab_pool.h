#ifndef STOKER_SERVER_PACK_SLAB_POOL_H_
#define STOKER_SERVER_PACK_SLAB_POOL_H_

#include <algorithm>
#include <chrono>
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
#include "absl/time/time.h"

namespace stoker {

// Lends reusable buffers for spans, and bounds the memory that streams may hold.
//
// Each stream has an account. Half of the budget can be reserved: an account reserves room for one span and for what
// gRPC buffers. So every open stream can always make one span, whatever others hold. The other half is shared by
// dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998): an account may grow while it
// holds no more of the shared bytes than are free. Hence stalled streams can never take all of them. The reservation of
// an account that has wanted nothing for a while is lent to who needs it, and comes back when the account wants again.
//
// Thread-safe. Never blocks: a request that does not fit now is refused, and `on_release` is called, without any lock,
// when it may fit again. Slabs and accounts may outlive the pool.
class SlabPool {
  struct State;
  struct Shares;

 public:
  // Owns a buffer, and the same number of bytes in its account. Both return when it is destroyed. Movable; a moved-from
  // or default-constructed slab owns nothing. One thread at a time.
  class Slab {
   public:
    Slab() = default;
    Slab(Slab&&) = default;
    Slab& operator=(Slab&& other);
    ~Slab() { Release(); }

    // The buffer's bytes, whose values are arbitrary at first. Empty after DropBuffer.
    std::span<uint8_t> bytes() const { return {buffer_.get(), buffer_ == nullptr ? 0 : used_}; }

    // Leaves out what lies behind the first `bytes`. The account keeps it, as the buffer does.
    void Trim(uint64_t bytes) { used_ = std::min(used_, bytes); }

    // Gives the buffer back early, and keeps its bytes in the account. This is for a span whose payload lies in other
    // memory, which must still count against its stream.
    void DropBuffer();

   private:
    friend class SlabPool;
    void Release();

    std::unique_ptr<uint8_t[]> buffer_;
    uint64_t size_ = 0;
    uint64_t used_ = 0;  // at most size_
    int node_ = 0;       // where the buffer lies
    std::shared_ptr<Shares> shares_;
  };

  // One stream's part of the pool. Its reservation ends when it is destroyed; slabs that are still out count until they
  // return. Thread-safe.
  class Account {
   public:
    explicit Account(std::shared_ptr<Shares> shares) : shares_(std::move(shares)) {}
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;
    ~Account();

    // Says that the stream wants a span of `span_bytes`, and so reserves room for it: does nothing where as much is
    // reserved already. ResourceExhausted if the budget has no room.
    absl::Status Reserve(uint64_t span_bytes);

    // Says that the stream wants nothing more for now. A new account rests.
    void Rest();

    // Takes a slab of `size` bytes. None if the account may not grow by as much now. The slab has no buffer if the
    // machine has no memory. `node` is the NUMA node of the thread that fills it: a new buffer lies where it is written
    // first, and is lent again to threads of that node, unless there is no room for another one.
    std::optional<Slab> TryTake(uint64_t size, int node = 0);

   private:
    std::shared_ptr<Shares> shares_;
  };

  // Bounds the slabs of several accounts together. All of its accounts are of one pool, whose lock guards it.
  class Group {
   public:
    // `most_bytes` is the bound; 0: none.
    explicit Group(uint64_t most_bytes) : most_bytes_(most_bytes) {}

   private:
    friend class SlabPool;
    uint64_t most_bytes_;
    uint64_t held_ = 0;
  };

  // Bytes that gRPC may hold for a stream beside its slabs (measured with a stalled reader: 20 to 40 MB).
  static constexpr uint64_t kStreamOverheadBytes = uint64_t{32} << 20;

  // Tells a time that never goes back. It may be called on any thread.
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  // `on_release` is called on any thread that gives memory back. An account that holds no slab and has rested for
  // `idle` by `clock` lends its reservation.
  SlabPool(uint64_t budget_bytes, std::function<void()> on_release, absl::Duration idle = absl::Seconds(10),
           Clock clock = std::chrono::steady_clock::now);

  // Opens an account that always has room for one span of `span_bytes`. ResourceExhausted, with the figures, if the
  // budget has no room for another stream. With a `group` it takes a slab only while the slabs of the group's accounts
  // have no more bytes than that allows; but where they have none, one slab of any size.
  absl::StatusOr<std::unique_ptr<Account>> OpenAccount(uint64_t span_bytes, std::shared_ptr<Group> group = nullptr);

  // Changes the bound of a group of this pool's accounts.
  void SetMost(Group& group, uint64_t most_bytes);

  // Bytes of the largest span that a stream may ask for: an eighth of the budget, so that a few streams cannot reserve
  // it all.
  uint64_t max_span_bytes() const;

  uint64_t budget_bytes() const;

  // Changes the budget. What is reserved or taken stays, also where it is more than the new budget has.
  void SetBudget(uint64_t bytes);

  // Bytes in slabs that have not returned.
  uint64_t held_bytes() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PACK_SLAB_POOL_H_
