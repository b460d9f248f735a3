#include "server/observe/stream_log.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/observe/peer.h"
#include "spdlog/spdlog.h"

namespace stoker {

void StreamLog::Opened(const std::string& dataset) {
  {
    absl::MutexLock lock(&mutex_);
    dataset_ = dataset;
    opened_ = true;
  }
  service_->Opened(dataset);
  spdlog::debug("{}: stream of dataset '{}' opened", peer_, dataset);
}

void StreamLog::Made(const v1::SpanHeader& header) {
  service_->Made(dataset(), header);
  uint64_t named = 0;
  {
    absl::MutexLock lock(&mutex_);
    ++spans_;
    samples_ += header.sample_ids_size();
    named = substituted_ + failed_;
    substituted_ += header.substitutions_size();
    failed_ += header.has_error() ? 1 : 0;
  }
  if (named >= kMaxNamed) return;
  for (const auto& substitution : header.substitutions())
    Warn("substituted",
         absl::StrCat("epoch ", header.epoch(), ", position ", header.start() + substitution.offset(), ": sample '",
                      substitution.bad_sample_name(), "' was substituted: ", substitution.reason()));
  if (header.has_error())
    Warn("failed",
         absl::StrCat("epoch ", header.epoch(), ", span at ", header.start(), ": ", header.error().message()));
}

std::string StreamLog::dataset() {
  absl::MutexLock lock(&mutex_);
  return dataset_;
}

void StreamLog::Sent(uint64_t bytes, absl::Duration taken) {
  service_->Sent(dataset(), bytes, taken);
  absl::MutexLock lock(&mutex_);
  sent_bytes_ += bytes;
}

StreamLog::Figures StreamLog::figures() const {
  absl::MutexLock lock(&mutex_);
  return {dataset_, SteadyNow() - begun_, waited_, spans_, samples_, sent_bytes_};
}

void StreamLog::Waited(absl::Duration waited, uint32_t streams) {
  std::string dataset;
  {
    absl::MutexLock lock(&mutex_);
    waited = std::min(waited, SteadyNow() - begun_ - waited_);
    waited_ += waited;
    dataset = dataset_;
  }
  service_->Waited(dataset, waited, waited / std::max<int64_t>(streams, 1));
}

void StreamLog::Warn(const std::string& kind, const std::string& text) {
  const std::optional<uint64_t> unsaid = service_->budget().Take(HostOfPeer(peer_), kind);
  if (!unsaid.has_value()) return;
  const std::string more = *unsaid == 0 ? "" : absl::StrCat(" (and ", *unsaid, " more like it from there)");
  spdlog::warn("{}: {}{}", peer_, text, more);
}

void StreamLog::Ended(const absl::Status& status) {
  service_->Called("Stream", status.code(), SteadyNow() - begun_);
  absl::MutexLock lock(&mutex_);
  const std::string end = status.ok() ? "ended" : absl::StrCat("ended: ", status.ToString());
  if (!opened_) {
    service_->Refused();
    spdlog::debug("{}: stream that was not opened {}", peer_, end);
    return;
  }
  service_->Ended(dataset_);
  spdlog::debug("{}: stream of dataset '{}' {}; {} spans, {} samples, {} substituted, {} spans failed", peer_, dataset_,
                end, spans_, samples_, substituted_, failed_);
}

}  // namespace stoker
