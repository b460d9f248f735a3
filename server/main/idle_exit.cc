#include "server/main/idle_exit.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "common/time/steady_time.h"
#include "spdlog/spdlog.h"

namespace stoker {

IdleExit::IdleExit(absl::Duration patience, std::function<size_t()> streams)
    : patience_(patience), streams_(std::move(streams)), periodic_(absl::Milliseconds(500), [this] { Look(); }) {}

void IdleExit::Look() {
  if (streams_() > 0) {
    last_stream_ = SteadyNow();
  } else if (!ended_ && SteadyNow() - last_stream_ >= patience_) {
    ended_ = true;
    spdlog::info("no stream for {}: the job is over", absl::FormatDuration(patience_));
    kill(getpid(), SIGTERM);
  }
}

}  // namespace stoker
