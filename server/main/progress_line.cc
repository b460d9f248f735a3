#include "server/main/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

volatile std::sig_atomic_t caught_signal = 0;
std::atomic<bool> stop = false;

}  // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) != 0), last_(SteadyNow()) {}

bool ProgressLine::IsDue() {
  const absl::Time now = SteadyNow();
  if (now - last_ < (terminal_ ? absl::Milliseconds(200) : absl::Seconds(5))) return false;
  last_ = now;
  return true;
}

void ProgressLine::Show(uint64_t done, uint64_t all, const std::string& text) const {
  const size_t filled = done * 24 / std::max<uint64_t>(all, 1);
  Show(terminal_ ? absl::StrCat("[", std::string(filled, '#'), std::string(24 - filled, '.'), "] ", text) : text);
}

void ProgressLine::Show(const std::string& text) const {
  std::fprintf(stderr, terminal_ ? "\r%s\033[K" : "%s\n", text.c_str());
  std::fflush(stderr);
}

void ProgressLine::Clear() const {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

CommandPace::CommandPace() : began_(SteadyNow()) {}

double CommandPace::Seconds() const { return std::max(absl::ToDoubleSeconds(SteadyNow() - began_), 1e-3); }

double CommandPace::PerSecond(uint64_t done) const { return static_cast<double>(done) / Seconds(); }

std::string CommandPace::TimeLeft(uint64_t done, uint64_t left) const {
  if (done == 0) return "?";
  return absl::FormatDuration(absl::Seconds(static_cast<int64_t>(static_cast<double>(left) / PerSecond(done) + 1)));
}

void StopOnSignals() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) {
    caught_signal = signal;
    stop = true;  // A signal handler may set it, since it is lock-free.
  };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

const std::atomic<bool>& StopRequested() { return stop; }

int StatusOfSignal() { return 128 + caught_signal; }

}  // namespace stoker
