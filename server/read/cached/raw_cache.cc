#include "server/read/cached/raw_cache.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/config/byte_size.h"
#include "common/thread_without_signals.h"

namespace stoker {
namespace {

std::unique_ptr<DiskTier> OpenDisk(const RawCache::Options& options) {
  if (!options.disk.has_value()) return nullptr;
  DiskTier::Options disk = *options.disk;
  disk.kind = options.kind;
  auto opened = DiskTier::Open(disk);
  if (opened.ok()) return *std::move(opened);
  disk.warn(absl::StrCat("raw_cache.disk: ", std::string(opened.status().message()),
                         "; the server goes on without the disk until it starts again"));
  return nullptr;
}

uint64_t MostBytes(const RawCache::Options& options, bool has_disk) {
  if (!has_disk) return options.memory_bytes;
  return options.memory_bytes + options.queue_bytes + options.disk->most_records * DiskTier::kTableBytesPerRecord;
}

}  // namespace

RawCache::RawCache(Options options)
    : options_(std::move(options)),
      memory_(options_.memory_bytes, options_.kind),
      disk_(OpenDisk(options_)),
      most_bytes_(MostBytes(options_, disk_ != nullptr)) {
  if (disk_ == nullptr) return;
  for (int i = 0; i < options_.disk_threads; ++i) threads_.push_back(ThreadWithoutSignals([this] { RunReads(); }));
  threads_.push_back(ThreadWithoutSignals([this] { RunWrites(); }));
}

RawCache::~RawCache() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void RawCache::AddDataset(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  dataset_bytes_ += bytes;
  memory_.ExpectBytes(dataset_bytes_);
  if (disk_ != nullptr) disk_->ExpectBytes(dataset_bytes_);
}

void RawCache::RemoveDataset(uint64_t bytes) { AddDataset(-bytes); }

bool RawCache::Has(const SampleKey& key) const { return memory_.Has(key) || (disk_ != nullptr && disk_->Has(key)); }

void RawCache::Miss(uint64_t size) {
  ++misses_;
  memory_.Ask(size);
  if (disk_ != nullptr) disk_->Ask(size);
}

KeptBytes RawCache::GetFromMemory(const SampleKey& key, uint64_t size) {
  KeptBytes kept = memory_.Get(key, size);
  if (kept != nullptr) ++memory_hits_;
  return kept;
}

bool RawCache::ReadNow(const SampleKey& key, std::span<uint8_t> into) {
  if (disk_ == nullptr || !disk_->Read(key, into)) {
    Miss(into.size());
    return false;
  }
  memory_.Ask(into.size());
  ++disk_hits_;
  return true;
}

void RawCache::ReadFromDisk(const SampleKey& key, std::span<uint8_t> into, std::function<void(bool)> done) {
  if (disk_ == nullptr) return done(ReadNow(key, into));
  absl::MutexLock lock(&mutex_);
  reads_.push_back({key, into, std::move(done)});
}

bool RawCache::Read(const SampleKey& key, std::span<uint8_t> into) {
  if (const KeptBytes kept = GetFromMemory(key, into.size()); kept != nullptr) {
    std::copy(kept->begin(), kept->end(), into.begin());
    return true;
  }
  if (!ReadNow(key, into)) return false;
  Put(key, into);  // In memory it is nearer.
  return true;
}

void RawCache::Put(const SampleKey& key, std::span<const uint8_t> bytes) {
  const bool to_memory = memory_.enabled() && !memory_.Has(key) && memory_.Reserve(bytes.size());
  const bool to_disk = disk_ != nullptr && disk_->Wants(key, bytes.size()) && ReserveQueue(bytes.size());
  if (!to_memory && !to_disk) return;
  bool has_memory = to_memory, has_queue = to_disk;
  try {
    const auto kept = std::make_shared<const std::vector<uint8_t>>(bytes.begin(), bytes.end());
    if (to_memory) memory_.Put(key, kept);
    has_memory = false;
    if (!to_disk) return;
    absl::MutexLock lock(&mutex_);
    writes_.push_back({key, kept});
  } catch (const std::bad_alloc&) {
    if (has_memory) memory_.Release(bytes.size());
    if (has_queue) ReleaseQueue(bytes.size());
  }
}

bool RawCache::ReserveQueue(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  const auto has_room = [this, bytes]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return queued_bytes_ == 0 || queued_bytes_ + bytes <= options_.queue_bytes;
  };
  if (options_.waits) mutex_.Await(absl::Condition(&has_room));
  if (!has_room()) {
    ++dropped_;
    return false;
  }
  queued_bytes_ += bytes;
  return true;
}

void RawCache::ReleaseQueue(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  queued_bytes_ -= bytes;
}

void RawCache::RunReads() {
  while (true) {
    ReadRequest request;
    {
      absl::MutexLock lock(&mutex_);
      const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || !reads_.empty(); };
      mutex_.Await(absl::Condition(&has_work));
      if (reads_.empty()) return;
      request = std::move(reads_.front());
      reads_.pop_front();
    }
    request.done(ReadNow(request.key, request.into));
  }
}

void RawCache::RunWrites() {
  while (true) {
    WriteRequest request;
    {
      absl::MutexLock lock(&mutex_);
      const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || !writes_.empty(); };
      mutex_.Await(absl::Condition(&has_work));
      if (writes_.empty()) return;
      request = std::move(writes_.front());
      writes_.pop_front();
    }
    disk_->Write(request.key, *request.bytes);
    const uint64_t size = request.bytes->size();
    request.bytes = nullptr;
    ReleaseQueue(size);
  }
}

void RawCache::Flush() {
  absl::MutexLock lock(&mutex_);
  const auto is_empty = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return queued_bytes_ == 0; };
  mutex_.Await(absl::Condition(&is_empty));
}

RawCache::Stats RawCache::stats() const {
  Stats stats = {.memory_hits = memory_hits_, .disk_hits = disk_hits_, .misses = misses_, .dropped = dropped_};
  stats.memory = memory_.stats();
  if (disk_ != nullptr) stats.disk = disk_->stats();
  return stats;
}

std::string RawCache::Text(const Stats& was) const {
  const Stats is = stats();
  const auto some = [](uint64_t number, const char* what) {
    return number == 0 ? "" : absl::StrCat(", ", number, " ", what);
  };
  return absl::StrCat(
      "raw cache: ", is.memory_hits - was.memory_hits, " samples from memory, ", is.disk_hits - was.disk_hits,
      " from disk, ", is.misses - was.misses, " from stores", some(is.dropped - was.dropped, "faster than the disk"),
      some(is.disk.damaged - was.disk.damaged, "damaged on disk"), "; ", FormatByteSize(is.memory.bytes),
      " in memory, ", FormatByteSize(is.disk.bytes), " on disk", is.disk.fails ? ", which takes nothing now" : "");
}

}  // namespace stoker
