#include "server/observe/stream_log.h"

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace stoker {

void StreamLog::Opened(const std::string& dataset) {
  {
    absl::MutexLock lock(&mutex_);
    dataset_ = dataset;
    opened_ = true;
  }
  service_->Opened();
  spdlog::debug("{}: stream of dataset '{}' opened", peer_, dataset);
}

void StreamLog::Made(const v1::SpanHeader& header) {
  service_->Made(header);
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
    spdlog::warn("{}: epoch {}, position {}: sample '{}' was substituted: {}", peer_, header.epoch(),
                 header.start() + substitution.offset(), substitution.bad_sample_name(), substitution.reason());
  if (header.has_error())
    spdlog::warn("{}: epoch {}, span at {}: {}", peer_, header.epoch(), header.start(), header.error().message());
}

void StreamLog::Ended(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  const std::string end = status.ok() ? "ended" : absl::StrCat("ended: ", status.ToString());
  if (!opened_) {
    service_->Refused();
    spdlog::debug("{}: stream that was not opened {}", peer_, end);
    return;
  }
  service_->Ended();
  spdlog::debug("{}: stream of dataset '{}' {}; {} spans, {} samples, {} substituted, {} spans failed", peer_, dataset_,
                end, spans_, samples_, substituted_, failed_);
}

}  // namespace stoker
