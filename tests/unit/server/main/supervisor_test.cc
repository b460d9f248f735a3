#include "server/main/supervisor.h"

#include <signal.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(SupervisorTest, ReportsAgainAndAgainUntilASignalComes) {
  BlockStopSignals();
  int reports = 0;
  const auto report = [&] {
    if (++reports == 3) kill(getpid(), SIGINT);
  };
  const std::string signal = AwaitStop({absl::Milliseconds(1), report, [] { return true; }, [] {}});
  EXPECT_EQ(signal, "SIGINT");
  EXPECT_EQ(reports, 3);
  UnblockStopSignals();
}

TEST(SupervisorTest, ReadsTheConfigurationAgainAtSighup) {
  BlockStopSignals();
  kill(getpid(), SIGHUP);
  const auto reload = [] { kill(getpid(), SIGTERM); };
  EXPECT_EQ(AwaitStop({absl::Hours(1), [] {}, [] { return true; }, reload}), "SIGTERM");
  UnblockStopSignals();
}

}  // namespace
}  // namespace stoker
