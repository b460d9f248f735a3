#include "client/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

constexpr int kBarWidth = 30;
constexpr absl::Duration kTerminalInterval = absl::Milliseconds(100);
constexpr absl::Duration kLogInterval = absl::Seconds(10);

}  // namespace

Progress::Progress(uint64_t total, bool quiet)
    : total_(total), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), begun_(SteadyNow()), shown_(begun_) {}

Progress::~Progress() {
  if (!quiet_ && terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::Update(uint64_t batches, uint64_t samples) {
  const absl::Time now = SteadyNow();
  if (quiet_ || now - shown_ < (terminal_ ? kTerminalInterval : kLogInterval)) return;
  shown_ = now;
  const double share = std::min(1.0, static_cast<double>(batches) / std::max<uint64_t>(1, total_));
  const double seconds = absl::ToDoubleSeconds(now - begun_);
  std::string line = absl::StrFormat("%3.0f %%  %d samples, %.0f/s", share * 100, samples, samples / seconds);
  if (share > 0) absl::StrAppendFormat(&line, ", %.0f s left", seconds / share - seconds);
  if (!terminal_) {
    std::fprintf(stderr, "%s\n", line.c_str());
    return;
  }
  const int filled = static_cast<int>(share * kBarWidth);
  std::fprintf(stderr, "\r[%s%s] %s\033[K", std::string(filled, '#').c_str(),
               std::string(kBarWidth - filled, '.').c_str(), line.c_str());
}

}  // namespace stoker
