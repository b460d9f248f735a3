#include "server/send/unopened_streams.h"

#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace stoker {

absl::Duration UnopenedStreams::SteadyTime() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

std::unique_ptr<UnopenedStreams::Ticket> UnopenedStreams::Begin(const std::string& host,
                                                                std::function<void(const absl::Status&)> expire) {
  absl::MutexLock lock(&mutex_);
  if (streams_.size() >= limits_.streams) return nullptr;
  size_t& count = of_host_[host];
  if (count >= limits_.streams_per_host) return nullptr;
  ++count;
  streams_.push_back({clock_() + limits_.timeout, host, std::move(expire)});
  return std::make_unique<Ticket>(this, std::prev(streams_.end()));
}

size_t UnopenedStreams::Expire() {
  const absl::Duration now = clock_();
  std::vector<std::function<void(const absl::Status&)>> expired;
  {
    absl::MutexLock lock(&mutex_);
    while (!streams_.empty() && streams_.front().expires <= now) {
      expired.push_back(std::exchange(streams_.front().expire, nullptr));
      Uncount(streams_.begin());
    }
  }
  // Without the lock: what ends a stream may give its ticket back.
  for (const auto& expire : expired)
    expire(absl::DeadlineExceededError(
        absl::StrCat("the stream sent no `open` within ", absl::FormatDuration(limits_.timeout))));
  return expired.size();
}

size_t UnopenedStreams::size() const {
  absl::MutexLock lock(&mutex_);
  return streams_.size();
}

void UnopenedStreams::End(Streams::iterator stream) {
  absl::MutexLock lock(&mutex_);
  if (stream->expire != nullptr) Uncount(stream);
  expired_.erase(stream);
}

// Takes `stream` off the count.
void UnopenedStreams::Uncount(Streams::iterator stream) {
  if (const auto host = of_host_.find(stream->host); --host->second == 0) of_host_.erase(host);
  expired_.splice(expired_.end(), streams_, stream);
}

}  // namespace stoker
