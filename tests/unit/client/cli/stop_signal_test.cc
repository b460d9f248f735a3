#include "client/cli/stop_signal.h"

#include <unistd.h>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(StopSignalTest, CallsTheHandlerAndGivesTheShellsExitCode) {
  for (const int number : {SIGINT, SIGTERM}) {
    StopSignal signal;
    absl::Notification stopped;
    const StopSignal::Handler handler(signal, [&] { stopped.Notify(); });
    EXPECT_EQ(signal.exit_code(), 0);
    ASSERT_EQ(kill(getpid(), number), 0);
    stopped.WaitForNotification();
    EXPECT_EQ(signal.exit_code(), 128 + number);
  }
}

TEST(StopSignalTest, IsGoneAfterwards) {
  sigset_t before, after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  { StopSignal signal; }
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGINT), 0);
  EXPECT_EQ(sigismember(&after, SIGINT), 0);
}

void Wait() {
  while (true) pause();
}

void DieOfASignalWithoutHandler() {
  StopSignal signal;
  {
    const StopSignal::Handler handler(signal, [] {});
  }
  kill(getpid(), SIGINT);
  Wait();
}

void DieOfASecondSignal() {
  StopSignal signal;
  const StopSignal::Handler handler(signal, [] { kill(getpid(), SIGTERM); });
  kill(getpid(), SIGINT);
  Wait();
}

TEST(StopSignalDeathTest, EndsTheProcessWhereThereIsNoHandler) {
  EXPECT_EXIT(DieOfASignalWithoutHandler(), testing::ExitedWithCode(130), "");
}

TEST(StopSignalDeathTest, EndsTheProcessUponASecondSignal) {
  EXPECT_EXIT(DieOfASecondSignal(), testing::ExitedWithCode(143), "");
}

}  // namespace
}  // namespace stoker
