#include "server/main/supervisor.h"

#include <signal.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(SupervisorTest, ReportsAgainAndAgainUntilASignalComes) {
  BlockStopSignals();
  int reports = 0;
  const std::string signal = AwaitStop(absl::Milliseconds(1), [&] {
    if (++reports == 3) kill(getpid(), SIGINT);
  });
  EXPECT_EQ(signal, "SIGINT");
  EXPECT_EQ(reports, 3);
  UnblockStopSignals();
}

}  // namespace
}  // namespace stoker
