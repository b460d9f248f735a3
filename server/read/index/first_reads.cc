#include "server/read/index/first_reads.h"

#include <algorithm>

namespace stoker {

std::vector<FirstRead> RecordingStore::reads() const {
  absl::MutexLock lock(&mutex_);
  return reads_;
}

void RecordingStore::Read(const Range& range, Done done) {
  below().Read(range, [this, range, done = std::move(done)](const absl::Status& status) {
    if (status.ok()) Remember(range);
    done(status);
  });
}

void RecordingStore::Remember(const Range& range) {
  absl::MutexLock lock(&mutex_);
  if (range.into.size() > kMostFirstBytes - bytes_) return;
  bytes_ += range.into.size();
  reads_.push_back({*range.object, range.offset, std::string(range.into.begin(), range.into.end())});
}

void ReplayingStore::Forget() {
  absl::MutexLock lock(&mutex_);
  reads_.clear();
}

void ReplayingStore::Read(const Range& range, Done done) {
  if (Replay(range)) return done(absl::OkStatus());
  below().Read(range, std::move(done));
}

bool ReplayingStore::Replay(const Range& range) const {
  absl::MutexLock lock(&mutex_);
  const auto found = std::find_if(reads_.begin(), reads_.end(), [&](const FirstRead& read) {
    return read.offset == range.offset && read.bytes.size() == range.into.size() &&
           CheckUnchanged(read.object, *range.object, place_).ok();
  });
  if (found == reads_.end()) return false;
  std::copy(found->bytes.begin(), found->bytes.end(), range.into.begin());
  return true;
}

}  // namespace stoker
