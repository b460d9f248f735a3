// Abseil before 20230802 makes a moment of the wall's clock (CLOCK_REALTIME) of every timeout, and the kernel wakes the
// thread when that clock shows it: an hour late, if the clock was set back by an hour meanwhile. gRPC 1.51 waits for
// its timers in this way, so connections to servers would not be tried again for an hour.
//
// Abseil lets programs replace the function that waits (per_thread_sem.h). This one waits for the same word of memory,
// which its caller increments to wake the thread, for as long as it was from the moment of the call to the one that was
// given, by CLOCK_MONOTONIC.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "absl/base/internal/thread_identity.h"
#include "absl/synchronization/internal/create_thread_identity.h"
#include "absl/synchronization/internal/futex.h"
#include "absl/synchronization/internal/kernel_timeout.h"
#include "absl/synchronization/internal/per_thread_sem.h"
#include "absl/synchronization/internal/waiter.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/time/abseil_waits.h"

namespace {

using absl::base_internal::ThreadIdentity;
using absl::synchronization_internal::Futex;
using absl::synchronization_internal::KernelTimeout;
using absl::synchronization_internal::Waiter;

// A thread's semaphore is all that Abseil keeps there: Waiter::Post increments it, and wakes whoever waits for it to
// differ from 0.
static_assert(ABSL_WAITER_MODE == ABSL_WAITER_MODE_FUTEX && sizeof(Waiter) == sizeof(std::atomic<int32_t>));

std::atomic<int32_t>* SemaphoreOf(ThreadIdentity* identity) {
  return reinterpret_cast<std::atomic<int32_t>*>(Waiter::GetWaiter(identity));
}

bool TryTake(std::atomic<int32_t>* semaphore) {
  int32_t count = semaphore->load(std::memory_order_relaxed);
  while (count != 0)
    if (semaphore->compare_exchange_weak(count, count - 1, std::memory_order_acquire, std::memory_order_relaxed))
      return true;
  return false;
}

absl::Time NowBy(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return absl::TimeFromTimespec(now);
}

// How long it was to `moment` when the caller computed it, a few instructions ago. It had the time from absl::Now(), as
// Abseil has, or from the clock itself, as gRPC has. absl::Now() learns up to two seconds later that the clock was set,
// so until then one of the two is off, by hours.
absl::Duration Until(absl::Time moment) {
  const absl::Duration a = moment - absl::Now(), b = moment - NowBy(CLOCK_REALTIME);
  const absl::Duration least = std::min(a, b), most = std::max(a, b);
  return std::max(least < absl::ZeroDuration() ? most : least, absl::ZeroDuration());
}

// Takes one from the semaphore, and waits for that; false where it is 0 at the timeout.
bool Take(std::atomic<int32_t>* semaphore, KernelTimeout timeout) {
  if (!timeout.has_timeout()) {
    while (!TryTake(semaphore)) Futex::WaitUntil(semaphore, 0, timeout);
    return true;
  }
  const absl::Duration patience = Until(absl::TimeFromTimespec(timeout.MakeAbsTimespec()));
  const timespec until = absl::ToTimespec(NowBy(CLOCK_MONOTONIC) + patience);
  while (!TryTake(semaphore))
    if (Futex::WaitBitsetAbsoluteTimeout(semaphore, 0, FUTEX_BITSET_MATCH_ANY, &until) == -ETIMEDOUT)
      return TryTake(semaphore);
  return true;
}

}  // namespace

extern "C" bool ABSL_INTERNAL_C_SYMBOL(AbslInternalPerThreadSemWait)(KernelTimeout timeout) {
  ThreadIdentity* const identity = absl::synchronization_internal::GetOrCreateCurrentThreadIdentity();
  std::atomic<int>* const blocked = identity->blocked_count_ptr;  // Counts the threads of a pool that wait.
  if (blocked != nullptr) blocked->fetch_add(1, std::memory_order_relaxed);
  const bool taken = Take(SemaphoreOf(identity), timeout);
  if (blocked != nullptr) blocked->fetch_sub(1, std::memory_order_relaxed);
  return taken;
}

namespace stoker {

bool AbseilWaitsAreSteady() { return true; }

}  // namespace stoker
