#include "server/read/stores/curl/event_loop.h"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/thread_without_signals.h"
#include "common/time/steady_time.h"
#include "server/read/stores/curl/transfer.h"

namespace stoker {
namespace {

// How long the loop sleeps at most while requests are in flight, so that silence is noticed.
constexpr absl::Duration kLongestSleep = absl::Milliseconds(250);

// libcurl is made ready by the first loop, and stays so.
CURLM* NewMulti() {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  STOKER_CHECK(ready);
  CURLM* const multi = curl_multi_init();
  STOKER_CHECK(multi != nullptr);
  return multi;
}

}  // namespace

EventLoop::EventLoop(const HttpLimits& limits)
    : limits_(limits), multi_(NewMulti()), pace_(limits.requests), hedging_(limits.least_patience) {
  const auto most = static_cast<long>(limits_.requests);
  // Left to itself, libcurl keeps four connections for each handle that there is now, and closes some in a lull.
  STOKER_CHECK(curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, most) == CURLM_OK);
  STOKER_CHECK(curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, most) == CURLM_OK);
  thread_ = ThreadWithoutSignals([this] { Run(); });
}

EventLoop::~EventLoop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  curl_multi_wakeup(multi_);
  thread_.join();
  for (void* curl : idle_) curl_easy_cleanup(curl);
  curl_multi_cleanup(multi_);
}

void EventLoop::Start(HttpRequest request, HttpDone done) {
  auto transfer = std::make_unique<Transfer>(std::move(request), std::move(done));
  {
    absl::MutexLock lock(&mutex_);
    started_.push_back(std::move(transfer));
  }
  curl_multi_wakeup(multi_);
}

void EventLoop::Run() {
  while (TakeStarted()) {
    absl::Time now = SteadyNow();
    TakeWaiting(now);
    StartReady(now);
    int running = 0;
    STOKER_CHECK(curl_multi_perform(multi_, &running) == CURLM_OK);
    now = SteadyNow();
    EndLost(now);
    EndFinished(now);
    EndSilent(now);
    StartTwins(now);
    if (!ready_.empty() && pace_.MayStart(static_cast<int>(active_.size()))) continue;
    const auto sleep = static_cast<int>(absl::ToInt64Milliseconds(UntilNext(SteadyNow())));
    STOKER_CHECK(curl_multi_poll(multi_, nullptr, 0, sleep, nullptr) == CURLM_OK);
  }
  EndAll();
}

bool EventLoop::TakeStarted() {
  absl::MutexLock lock(&mutex_);
  for (auto& transfer : started_) ready_.push_back(std::move(transfer));
  started_.clear();
  return !stopping_;
}

void EventLoop::TakeWaiting(absl::Time now) {
  // Those that were tried already come first: others wait for their bytes the longest.
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    ready_.push_front(std::move(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
  }
}

void EventLoop::StartReady(absl::Time now) {
  while (!ready_.empty() && pace_.MayStart(static_cast<int>(active_.size()))) {
    std::unique_ptr<Transfer> transfer = std::move(ready_.front());
    ready_.pop_front();
    Activate(std::move(transfer), now);
  }
}

void EventLoop::Activate(std::unique_ptr<Transfer> transfer, absl::Time now) {
  CURL* curl = nullptr;
  if (idle_.empty()) {
    curl = curl_easy_init();
    STOKER_CHECK(curl != nullptr);
  } else {
    curl = idle_.back();
    idle_.pop_back();
  }
  transfer->Begin(curl, limits_, now);
  STOKER_CHECK(curl_multi_add_handle(multi_, curl) == CURLM_OK);
  active_[curl] = std::move(transfer);
}

std::unique_ptr<Transfer> EventLoop::Deactivate(void* curl) {
  auto active = active_.extract(curl);
  STOKER_CHECK(!active.empty());
  curl_multi_remove_handle(multi_, curl);
  curl_easy_reset(curl);
  idle_.push_back(curl);
  return std::move(active.mapped());
}

void EventLoop::Count(void* curl, const std::string& code) const {
  if (!limits_.backend.has_value()) return;
  curl_off_t bytes = 0;
  curl_easy_getinfo(curl, CURLINFO_SIZE_DOWNLOAD_T, &bytes);
  Traffic::OfProcess().Asked(*limits_.backend, code);
  Traffic::OfProcess().Read(*limits_.backend, static_cast<uint64_t>(bytes));
}

void EventLoop::StartTwins(absl::Time now) {
  const absl::Duration patience = hedging_.patience();
  if (patience == absl::InfiniteDuration() || !ready_.empty()) return;
  std::vector<Transfer*> late;
  for (const auto& [curl, transfer] : active_)
    if (transfer->may_have_twin() && now - transfer->began() > patience) late.push_back(transfer.get());
  for (Transfer* transfer : late) {
    if (!pace_.MayStart(static_cast<int>(active_.size())) || !hedging_.Take()) return;
    Activate(transfer->Twin(), now);
  }
}

void EventLoop::EndLost(absl::Time now) {
  std::vector<void*> lost;
  for (const auto& [curl, transfer] : active_)
    if (transfer->has_lost()) lost.push_back(curl);
  for (void* curl : lost) {
    Count(curl, "cancelled");
    hedging_.OnFirstByte(now - Deactivate(curl)->began());
  }
}

void EventLoop::EndFinished(absl::Time now) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left))
    if (message->msg == CURLMSG_DONE) EndTry(message->easy_handle, message->data.result, now);
}

void EventLoop::EndSilent(absl::Time now) {
  std::vector<void*> silent;
  for (const auto& [curl, transfer] : active_)
    if (now - transfer->last_byte() > limits_.silence) silent.push_back(curl);
  for (void* curl : silent) EndTry(curl, CURLE_OPERATION_TIMEDOUT, now);
}

void EventLoop::EndTry(void* curl, int result, absl::Time now) {
  Count(curl, active_.at(curl)->CodeOf(static_cast<CURLcode>(result)));
  const Verdict verdict = active_.at(curl)->End(curl, static_cast<CURLcode>(result));
  std::unique_ptr<Transfer> transfer = Deactivate(curl);
  if (verdict.throttled) {
    pace_.OnThrottled(transfer->began(), now);
  } else if (verdict.status.ok()) {
    pace_.OnAnswer();
  }
  if (transfer->tries() == 1 && transfer->first_byte_after() != absl::InfiniteDuration())
    hedging_.OnFirstByte(transfer->first_byte_after());
  if (verdict.redirected) {
    ready_.push_front(std::move(transfer));
    return;
  }
  if (transfer->has_twin()) return transfer->YieldToTwin();
  if (!verdict.again) {
    transfer->Finish(verdict.status);
    return;
  }
  const absl::Duration pause =
      std::max(verdict.pause, BackOff(transfer->tries(), limits_.first_pause, limits_.longest_pause, random_));
  const absl::Duration taken = now + pause - transfer->first_began();
  if (transfer->tries() < limits_.tries && taken < limits_.total) {
    waiting_.emplace(now + pause, std::move(transfer));
    return;
  }
  transfer->Finish(absl::UnavailableError(
      absl::StrCat(verdict.status.message(), "; given up after ", transfer->tries(), " tries in ",
                   absl::FormatDuration(absl::Trunc(now - transfer->first_began(), absl::Milliseconds(1))))));
}

absl::Duration EventLoop::UntilNext(absl::Time now) const {
  absl::Duration sleep = active_.empty() ? absl::Hours(1) : std::min(kLongestSleep, limits_.silence / 4);
  for (const auto& [curl, transfer] : active_) {
    const absl::Duration until_late = transfer->began() + hedging_.patience() - now;
    if (until_late > absl::ZeroDuration() && transfer->may_have_twin()) sleep = std::min(sleep, until_late);
  }
  if (!waiting_.empty()) sleep = std::min(sleep, waiting_.begin()->first - now);
  return std::max(sleep, absl::Milliseconds(1));
}

void EventLoop::EndAll() {
  Transfers ending = std::move(ready_);
  for (auto& [curl, transfer] : active_) {
    curl_multi_remove_handle(multi_, curl);
    curl_easy_cleanup(curl);
    ending.push_back(std::move(transfer));
  }
  active_.clear();
  for (auto& [when, transfer] : waiting_) ending.push_back(std::move(transfer));
  waiting_.clear();
  {
    absl::MutexLock lock(&mutex_);
    for (auto& transfer : started_) ending.push_back(std::move(transfer));
    started_.clear();
  }
  for (auto& transfer : ending) transfer->Finish(absl::UnavailableError("the dataset is being closed"));
}

}  // namespace stoker
