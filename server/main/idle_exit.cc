#include "server/main/idle_exit.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "common/time/steady_time.h"
#include "spdlog/spdlog.h"

namespace stoker {

IdleExit::IdleExit(absl::Duration patience, std::function<ServiceLog::Streams()> streams)
    : patience_(patience), streams_(std::move(streams)), periodic_(absl::Milliseconds(500), [this] { Look(); }) {}

void IdleExit::Look() {
  const ServiceLog::Streams streams = streams_();
  if (streams.open > 0 || streams.opened != opened_) {  // One may have come and gone between two looks.
    last_stream_ = SteadyNow();
    opened_ = streams.opened;
    told_ = false;
    return;
  }
  const absl::Duration idle = SteadyNow() - last_stream_;
  if (idle >= patience_ / 2 && !std::exchange(told_, true))
    spdlog::info("no stream for {}; after {} the job counts as over (--exit-when-idle)", absl::FormatDuration(idle),
                 absl::FormatDuration(patience_));
  if (ended_ || idle < patience_) return;
  ended_ = true;
  spdlog::info("no stream for {}: the job is over", absl::FormatDuration(patience_));
  kill(getpid(), SIGTERM);
}

}  // namespace stoker
