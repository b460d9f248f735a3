#include "server/pack/slab_pool.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"

namespace stoker {

struct SlabPool::State {
  const std::function<void()> on_release;
  const absl::Duration idle_time;
  const Clock now;

  absl::Mutex mutex;
  uint64_t budget ABSL_GUARDED_BY(mutex);
  uint64_t reserved ABSL_GUARDED_BY(mutex) = 0;          // bytes that open accounts reserve
  uint64_t shared ABSL_GUARDED_BY(mutex) = 0;            // bytes that accounts hold beyond their reservations
  uint64_t held ABSL_GUARDED_BY(mutex) = 0;              // bytes of slabs that have not returned
  uint64_t streams ABSL_GUARDED_BY(mutex) = 0;           // number of open accounts that lend nothing
  std::vector<Shares*> accounts ABSL_GUARDED_BY(mutex);  // the open ones
  struct Idle {
    std::unique_ptr<uint8_t[]> buffer;
    uint64_t size;
    int node;
  };
  std::vector<Idle> idle ABSL_GUARDED_BY(mutex);
  uint64_t idle_bytes ABSL_GUARDED_BY(mutex) = 0;

  State(uint64_t bytes, std::function<void()> callback, absl::Duration idle_time, Clock clock)
      : on_release(std::move(callback)), idle_time(idle_time), now(std::move(clock)), budget(bytes) {}

  uint64_t free_shared() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return budget / 2 - std::min(budget / 2, shared);
  }
  uint64_t free_to_reserve() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return budget / 2 - std::min(budget / 2, reserved);
  }

  // Makes room to reserve `needed` bytes, if that takes no more than what resting accounts lend. Returns whether there
  // is room.
  bool MakeRoom(uint64_t needed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  absl::Status NoRoom(uint64_t needed) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for another stream: it needs ", needed,
                                                     " bytes, and of ", budget / 2, " to reserve ", free_to_reserve(),
                                                     " are free; raise memory_limit or add servers"));
  }

  // True if the budget allows `idle_bytes` of idle buffers beside the slabs that are out and what gRPC may hold.
  bool Fits(uint64_t idle_bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return held + idle_bytes + streams * kStreamOverheadBytes <= budget;
  }

  // Keeps the buffer for the next slab of its size, if the budget allows. Otherwise the caller still owns it.
  void Recycle(Idle& buffer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // Returns a buffer of exactly `size` bytes: an idle one of the node if there is one; or one of another node if the
  // budget has no room for a new one; or else a new one, for which idle buffers of other sizes are freed until the
  // budget holds. None if the machine has no memory.
  Idle TakeBuffer(uint64_t size, int node) ABSL_LOCKS_EXCLUDED(mutex);
};

// The state of one account. The account and its slabs share it, since slabs may outlive the account. state->mutex
// guards all members but `state`.
struct SlabPool::Shares {
  const std::shared_ptr<State> state;
  const std::shared_ptr<Group> group;                        // may be null
  uint64_t span_bytes = 0;                                   // what is reserved for one span
  bool open = true;                                          // whether the account still exists
  bool lent = false;                                         // whether others have the reservation
  bool wanting = false;                                      // whether the stream wants a span
  uint64_t held = 0;                                         // bytes of this account's slabs
  std::chrono::steady_clock::time_point resting_since = {};  // while it wants and holds nothing

  // Whether the group's bound allows a slab of `size`.
  bool GroupAllows(uint64_t size) const {
    return group == nullptr || group->most_bytes_ == 0 || group->held_ == 0 ||
           group->held_ + size <= group->most_bytes_;
  }

  uint64_t reservation() const { return open && !lent ? span_bytes : 0; }

  void RestIfIdle() {
    if (!wanting && held == 0) resting_since = state->now();
  }

  // Bytes of the shared half that the account would use if its slabs had `bytes`.
  uint64_t SharedIfHeld(uint64_t bytes) const { return bytes - std::min(bytes, reservation()); }
};

SlabPool::SlabPool(uint64_t budget_bytes, std::function<void()> on_release, absl::Duration idle, Clock clock)
    : state_(std::make_shared<State>(budget_bytes, std::move(on_release), idle, std::move(clock))) {}

uint64_t SlabPool::budget_bytes() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->budget;
}

void SlabPool::SetBudget(uint64_t bytes) {
  {
    absl::MutexLock lock(&state_->mutex);
    state_->budget = bytes;
  }
  state_->on_release();
}

uint64_t SlabPool::held_bytes() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->held;
}

uint64_t SlabPool::max_span_bytes() const { return budget_bytes() / 8; }

absl::StatusOr<std::unique_ptr<SlabPool::Account>> SlabPool::OpenAccount(uint64_t span_bytes,
                                                                         std::shared_ptr<Group> group) {
  absl::MutexLock lock(&state_->mutex);
  const uint64_t needed = span_bytes + kStreamOverheadBytes;
  if (!state_->MakeRoom(needed)) return state_->NoRoom(needed);
  state_->reserved += needed;
  ++state_->streams;
  auto shares = std::make_shared<Shares>(Shares{.state = state_, .group = std::move(group), .span_bytes = span_bytes});
  shares->RestIfIdle();
  state_->accounts.push_back(shares.get());
  return std::make_unique<Account>(std::move(shares));
}

void SlabPool::SetMost(Group& group, uint64_t most_bytes) {
  absl::MutexLock lock(&state_->mutex);
  group.most_bytes_ = most_bytes;
}

bool SlabPool::State::MakeRoom(uint64_t needed) {
  std::vector<Shares*> resting;
  const auto now_is = now();
  for (Shares* shares : accounts)
    if (!shares->lent && !shares->wanting && shares->held == 0 &&
        absl::FromChrono(now_is - shares->resting_since) >= idle_time)
      resting.push_back(shares);
  std::sort(resting.begin(), resting.end(),
            [](const Shares* a, const Shares* b) { return a->resting_since < b->resting_since; });
  uint64_t room = free_to_reserve();
  size_t lenders = 0;
  while (room < needed && lenders < resting.size()) room += resting[lenders++]->span_bytes + kStreamOverheadBytes;
  if (room < needed) return false;
  for (size_t i = 0; i < lenders; ++i) {
    resting[i]->lent = true;
    reserved -= resting[i]->span_bytes + kStreamOverheadBytes;
    --streams;
  }
  return true;
}

absl::Status SlabPool::Account::Reserve(uint64_t span_bytes) {
  State& state = *shares_->state;
  absl::MutexLock lock(&state.mutex);
  const bool wanted = std::exchange(shares_->wanting, true);  // From here on it lends nothing.
  const uint64_t has = shares_->lent ? 0 : shares_->span_bytes + kStreamOverheadBytes;
  const uint64_t needs = std::max(span_bytes, shares_->span_bytes) + kStreamOverheadBytes;
  if (needs <= has) return absl::OkStatus();
  if (!state.MakeRoom(needs - has)) {
    shares_->wanting = wanted;
    return state.NoRoom(needs - has);
  }
  const uint64_t before = shares_->SharedIfHeld(shares_->held);
  if (std::exchange(shares_->lent, false)) ++state.streams;
  shares_->span_bytes = needs - kStreamOverheadBytes;
  state.reserved += needs - has;
  state.shared -= before - shares_->SharedIfHeld(shares_->held);
  return absl::OkStatus();
}

void SlabPool::Account::Rest() {
  absl::MutexLock lock(&shares_->state->mutex);
  shares_->wanting = false;
  shares_->RestIfIdle();
}

SlabPool::Account::~Account() {
  State& state = *shares_->state;
  {
    absl::MutexLock lock(&state.mutex);
    const uint64_t before = shares_->SharedIfHeld(shares_->held);
    shares_->open = false;
    state.shared += shares_->SharedIfHeld(shares_->held) - before;
    std::erase(state.accounts, shares_.get());
    if (!shares_->lent) {
      state.reserved -= shares_->span_bytes + kStreamOverheadBytes;
      --state.streams;
    }
  }
  state.on_release();
}

std::optional<SlabPool::Slab> SlabPool::Account::TryTake(uint64_t size, int node) {
  State& state = *shares_->state;
  {
    absl::MutexLock lock(&state.mutex);
    if (!shares_->GroupAllows(size)) return std::nullopt;
    const uint64_t before = shares_->SharedIfHeld(shares_->held);
    const uint64_t after = shares_->SharedIfHeld(shares_->held + size);
    if (after - before > state.free_shared()) return std::nullopt;
    if (shares_->held > 0 && after > state.free_shared()) return std::nullopt;  // This is the dynamic threshold.
    shares_->held += size;
    if (shares_->group != nullptr) shares_->group->held_ += size;
    state.shared += after - before;
    state.held += size;
  }
  Slab slab;
  State::Idle taken = state.TakeBuffer(size, node);
  slab.buffer_ = std::move(taken.buffer);
  slab.node_ = taken.node;
  slab.size_ = slab.used_ = size;
  slab.shares_ = shares_;
  return slab;
}

SlabPool::State::Idle SlabPool::State::TakeBuffer(uint64_t size, int node) {
  std::vector<Idle> unfit;  // Declared outside of the lock's scope, hence freed without the lock.
  {
    absl::MutexLock lock(&mutex);
    const auto of_node = [&](const Idle& entry) { return entry.size == size && entry.node == node; };
    auto found = std::find_if(idle.begin(), idle.end(), of_node);
    if (found == idle.end() && !Fits(idle_bytes))
      found = std::find_if(idle.begin(), idle.end(), [&](const Idle& entry) { return entry.size == size; });
    if (found != idle.end()) {
      Idle taken = std::move(*found);
      *found = std::move(idle.back());
      idle.pop_back();
      idle_bytes -= size;
      return taken;
    }
    while (!idle.empty() && !Fits(idle_bytes)) {
      idle_bytes -= idle.front().size;
      unfit.push_back(std::move(idle.front()));
      idle.erase(idle.begin());
    }
  }
  return {std::unique_ptr<uint8_t[]>(new (std::nothrow) uint8_t[size]), size, node};
}

SlabPool::Slab& SlabPool::Slab::operator=(Slab&& other) {
  Release();
  buffer_ = std::move(other.buffer_);
  size_ = std::exchange(other.size_, 0);
  used_ = std::exchange(other.used_, 0);
  node_ = other.node_;
  shares_ = std::move(other.shares_);
  return *this;
}

void SlabPool::Slab::Release() {
  if (shares_ == nullptr) return;
  const std::shared_ptr<Shares> shares = std::move(shares_);
  State& state = *shares->state;
  State::Idle unfit = {std::move(buffer_), size_, node_};
  {
    absl::MutexLock lock(&state.mutex);
    state.shared -= shares->SharedIfHeld(shares->held) - shares->SharedIfHeld(shares->held - size_);
    shares->held -= size_;
    if (shares->group != nullptr) shares->group->held_ -= size_;
    shares->RestIfIdle();
    state.held -= size_;
    if (unfit.buffer != nullptr) state.Recycle(unfit);
  }
  state.on_release();
}

void SlabPool::Slab::DropBuffer() {
  if (shares_ == nullptr) return;
  State::Idle unfit = {std::move(buffer_), size_, node_};  // Declared before the lock, hence freed after its release.
  absl::MutexLock lock(&shares_->state->mutex);
  if (unfit.buffer != nullptr) shares_->state->Recycle(unfit);
}

void SlabPool::State::Recycle(Idle& buffer) {
  if (!Fits(idle_bytes + buffer.size)) return;
  try {
    idle.reserve(idle.size() + 1);
  } catch (const std::bad_alloc&) {
    return;  // Then the buffer is freed, which is what is needed.
  }
  idle_bytes += buffer.size;
  idle.push_back(std::move(buffer));
}

}  // namespace stoker
