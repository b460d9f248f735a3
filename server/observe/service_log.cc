#include "server/observe/service_log.h"

#include "absl/strings/str_cat.h"

namespace stoker {

void ServiceLog::Opened(const std::string& dataset) {
  metrics_.Opened(dataset);
  absl::MutexLock lock(&mutex_);
  ++total_.opened;
}

void ServiceLog::Refused() {
  metrics_.Refused();
  absl::MutexLock lock(&mutex_);
  ++total_.refused;
}

void ServiceLog::Ended(const std::string& dataset) {
  metrics_.Ended(dataset);
  absl::MutexLock lock(&mutex_);
  ++total_.ended;
}

void ServiceLog::Made(const std::string& dataset, const v1::SpanHeader& header) {
  metrics_.Made(dataset, header);
  absl::MutexLock lock(&mutex_);
  ++total_.spans;
  total_.samples += header.sample_ids_size();
  total_.substituted += header.substitutions_size();
  total_.failed += header.has_error() ? 1 : 0;
}

ServiceLog::Streams ServiceLog::streams() const {
  absl::MutexLock lock(&mutex_);
  return {total_.opened, total_.opened - total_.ended};
}

std::string ServiceLog::TakeRecent() {
  absl::MutexLock lock(&mutex_);
  if (total_ == told_) return "";
  std::string text = Text(told_);
  told_ = total_;
  return text;
}

std::string ServiceLog::Total() const {
  absl::MutexLock lock(&mutex_);
  return Text({});
}

std::string ServiceLog::Text(const Counts& since) const {
  return absl::StrCat(total_.opened - since.opened, " streams opened, ", total_.ended - since.ended, " ended, ",
                      total_.refused - since.refused, " refused, ", total_.opened - total_.ended, " open now; ",
                      total_.spans - since.spans, " spans, ", total_.samples - since.samples, " samples, ",
                      total_.substituted - since.substituted, " substituted, ", total_.failed - since.failed,
                      " spans failed");
}

}  // namespace stoker
