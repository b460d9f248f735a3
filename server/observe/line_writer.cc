#include "server/observe/line_writer.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "common/thread_without_signals.h"

namespace stoker {
namespace {

// How often a writer that waits for its reader looks whether it should end.
constexpr int kPollMs = 50;

}  // namespace

LineWriter::LineWriter(int descriptor, std::function<std::string(uint64_t)> dropped, size_t most_bytes)
    : descriptor_(descriptor),
      dropped_line_(std::move(dropped)),
      most_bytes_(most_bytes),
      thread_(ThreadWithoutSignals([this] { Run(); })) {}

LineWriter::~LineWriter() {
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
    changed_.SignalAll();
  }
  const bool done = Flush(kLastWords);
  {
    absl::MutexLock lock(&mutex_);
    cut_off_ = !done;
  }
  thread_.join();
}

void LineWriter::Write(std::string line) {
  absl::MutexLock lock(&mutex_);
  if (bytes_ + line.size() > most_bytes_) {
    ++dropped_;
    return;
  }
  bytes_ += line.size();
  lines_.push_back(std::move(line));
  changed_.Signal();
}

bool LineWriter::Flush(absl::Duration at_most) {
  absl::MutexLock lock(&mutex_);
  const auto written = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return lines_.empty() && !writing_; };
  return mutex_.AwaitWithTimeout(absl::Condition(&written), at_most);
}

bool LineWriter::Next(std::string& line) {
  absl::MutexLock lock(&mutex_);
  writing_ = false;
  while (lines_.empty() && dropped_ == 0 && !closing_) changed_.Wait(&mutex_);
  if (cut_off_ || (lines_.empty() && dropped_ == 0)) return false;
  writing_ = true;
  if (lines_.empty()) {
    line = dropped_line_(std::exchange(dropped_, 0));
    return true;
  }
  line = std::move(lines_.front());
  lines_.pop_front();
  bytes_ -= line.size();
  return true;
}

bool LineWriter::Ends() const {
  absl::MutexLock lock(&mutex_);
  return cut_off_;
}

void LineWriter::Run() {
  std::string line;
  while (Next(line)) WriteOut(line);
}

void LineWriter::WriteOut(const std::string& line) {
  for (size_t begin = 0; begin < line.size() && !Ends();) {
    pollfd wanted = {.fd = descriptor_, .events = POLLOUT};
    const int ready = poll(&wanted, 1, kPollMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    // A pipe that is ready takes this much without blocking.
    const ssize_t written = write(descriptor_, line.data() + begin, std::min<size_t>(line.size() - begin, PIPE_BUF));
    if (written >= 0) {
      begin += static_cast<size_t>(written);
    } else if (errno == EAGAIN) {
      poll(nullptr, 0, kPollMs);
    } else if (errno != EINTR) {
      return;  // Nobody reads it any more, or the disk is full.
    }
  }
}

}  // namespace stoker
