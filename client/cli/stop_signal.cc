#include "client/cli/stop_signal.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "common/check.h"

namespace stoker {

StopSignal::StopSignal() {
  sigemptyset(&stop_signals_);
  sigaddset(&stop_signals_, SIGINT);
  sigaddset(&stop_signals_, SIGTERM);
  STOKER_CHECK(pthread_sigmask(SIG_BLOCK, &stop_signals_, &blocked_before_) == 0);
  thread_ = std::thread([this] { Wait(); });
}

StopSignal::~StopSignal() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
}

int StopSignal::exit_code() const {
  absl::MutexLock lock(&mutex_);
  return received_ == 0 ? 0 : 128 + received_;
}

void StopSignal::Wait() {
  while (true) {
    int number = 0;
    STOKER_CHECK(sigwait(&stop_signals_, &number) == 0);
    absl::MutexLock lock(&mutex_);
    if (ending_) return;
    if (received_ != 0 || stop_ == nullptr) _exit(128 + number);
    received_ = number;
    stop_();
  }
}

StopSignal::Handler::Handler(StopSignal& signal, std::function<void()> stop) : signal_(signal) {
  absl::MutexLock lock(&signal_.mutex_);
  signal_.stop_ = std::move(stop);
}

StopSignal::Handler::~Handler() {
  absl::MutexLock lock(&signal_.mutex_);
  signal_.stop_ = nullptr;
}

}  // namespace stoker
