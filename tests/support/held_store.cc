#include "tests/support/held_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace stoker {

void HeldStore::Read(const Range& range, Done done) {
  {
    absl::MutexLock lock(&mutex_);
    sizes_.push_back(range.into.size());
    if (!open_) {
      held_.push_back({range, std::move(done)});
      return;
    }
  }
  End({range, std::move(done)}, absl::OkStatus());
}

void HeldStore::End(Held held, const absl::Status& status) {
  if (status.ok())
    for (size_t i = 0; i < held.range.into.size(); ++i) held.range.into[i] = ByteAt(held.range.offset + i);
  held.done(status);
}

void HeldStore::Open() {
  std::deque<Held> held;
  {
    absl::MutexLock lock(&mutex_);
    open_ = true;
    held = std::exchange(held_, {});
  }
  for (Held& one : held) End(std::move(one), absl::OkStatus());
}

void HeldStore::AwaitReads(size_t count) {
  absl::MutexLock lock(&mutex_);
  const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return sizes_.size() >= count; };
  mutex_.Await(absl::Condition(&enough));
}

void HeldStore::EndFirst(const absl::Status& status) {
  Held held;
  {
    absl::MutexLock lock(&mutex_);
    STOKER_CHECK(!held_.empty());
    held = std::move(held_.front());
    held_.pop_front();
  }
  End(std::move(held), status);
}

void HeldStore::EndLast() {
  Held held;
  {
    absl::MutexLock lock(&mutex_);
    STOKER_CHECK(!held_.empty());
    held = std::move(held_.back());
    held_.pop_back();
  }
  End(std::move(held), absl::OkStatus());
}

size_t HeldStore::reads() const {
  absl::MutexLock lock(&mutex_);
  return sizes_.size();
}

size_t HeldStore::held() const {
  absl::MutexLock lock(&mutex_);
  return held_.size();
}

std::vector<uint64_t> HeldStore::sizes() const {
  absl::MutexLock lock(&mutex_);
  return sizes_;
}

absl::Status HeldDataset::Read(uint64_t id, SampleBytes& sample) const {
  ++read_now;
  on_read_now();
  const std::vector<uint8_t> bytes = {FieldOf(*this, id)};
  return Parse(id, bytes, sample);
}

absl::Status HeldDataset::Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const {
  on_parse(id);
  if (id == bad) return absl::DataLossError(absl::StrCat("sample ", id, " does not parse"));
  sample.fields.assign(1, {stored.empty() ? uint8_t{0} : stored[0]});
  return absl::OkStatus();
}

absl::Status HeldDataset::ReadError(uint64_t id, const absl::Status& status) const {
  return absl::UnavailableError(absl::StrCat("sample ", id, ": ", status.message()));
}

}  // namespace stoker
