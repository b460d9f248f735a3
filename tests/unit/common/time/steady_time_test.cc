#include "common/time/steady_time.h"

#include <thread>

#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr absl::Duration kLong = absl::Seconds(600);  // Longer than a test may last.

TEST(SteadyTimeTest, AWaitThatNobodyEndsLastsItsTime) {
  absl::Mutex mutex;
  absl::CondVar changed;
  absl::MutexLock lock(&mutex);
  const absl::Time begun = SteadyNow();
  while (!changed.WaitWithTimeout(&mutex, absl::Milliseconds(20))) {
  }
  EXPECT_GE(SteadyNow() - begun, absl::Milliseconds(20));
  EXPECT_TRUE(changed.WaitWithTimeout(&mutex, -kLong));
  bool never = false;
  EXPECT_FALSE(mutex.AwaitWithTimeout(absl::Condition(&never), absl::Milliseconds(1)));
}

TEST(SteadyTimeTest, SignalsEndWaitsWithAndWithoutATime) {
  absl::Mutex mutex;
  absl::CondVar changed;
  int turns = 0;
  const auto play = [&](int parity) {
    absl::MutexLock lock(&mutex);
    while (turns < 20'000) {
      if (turns % 2 == parity) {
        ++turns;
        changed.SignalAll();
      } else if (turns % 4 < 2) {
        changed.WaitWithTimeout(&mutex, kLong);
      } else {
        changed.Wait(&mutex);
      }
    }
  };
  const absl::Time begun = SteadyNow();
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turns, 20'000);
  EXPECT_LT(SteadyNow() - begun, kLong);
}

}  // namespace
}  // namespace stoker
