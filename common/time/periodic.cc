#include "common/time/periodic.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "common/check.h"

namespace stoker {

Periodic::Periodic(absl::Duration pause, std::function<void()> work)
    : stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([stop = stop_, pause_ms = static_cast<int>(absl::ToInt64Milliseconds(pause)), work = std::move(work)] {
        while (true) {
          pollfd stopped = {.fd = stop, .events = POLLIN, .revents = 0};
          // An interrupted pause is only shorter.
          if (poll(&stopped, 1, pause_ms) > 0) return;
          work();
        }
      }) {
  STOKER_CHECK(stop_ >= 0);
}

Periodic::~Periodic() {
  eventfd_write(stop_, 1);
  thread_.join();
  close(stop_);
}

}  // namespace stoker
