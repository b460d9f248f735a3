#include "server/read/warm/warm.h"

#include <deque>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "server/read/ahead/read_ahead.h"
#include "server/read/cached/sample_key.h"

namespace stoker {
namespace {

// Samples are asked for in groups of so many, or of so many bytes, and so many groups at once. Neighbours in a group
// are one read.
constexpr size_t kGroupSamples = 256, kGroups = 64;
constexpr uint64_t kGroupBytes = uint64_t{4} << 20;

constexpr size_t kMostProblems = 10;

// Progress is told after so many samples that were looked up.
constexpr uint64_t kStep = 4096;

class Warming {
 public:
  explicit Warming(const WarmOptions& options)
      : options_(options),
        ahead_({.budget_bytes = options.ahead_bytes,
                .cache = options.cache,
                .on_ready =
                    [this] {
                      absl::MutexLock lock(&mutex_);
                      changed_.SignalAll();
                    }}),
        reader_(ahead_.OpenReader()) {}

  // Finds out what of a dataset is there. That is not given up for what is read later.
  void Look(const Dataset& dataset) {
    ForEach(dataset, [this](uint64_t id, const std::optional<SampleKey>& key, uint64_t size) {
      if (!key.has_value()) return ++report_.without_version, void();
      report_.progress.all.Add(size);
      if (options_.cache->UseOnDisk(*key)) report_.progress.before.Add(size);
      if (id % kStep == 0) options_.progress(report_.progress);
    });
  }

  void Fill(const std::shared_ptr<const Dataset>& dataset) {
    ForEach(*dataset, [&](uint64_t id, const std::optional<SampleKey>& key, uint64_t size) {
      if (!key.has_value() || options_.cache->Has(*key)) return;
      if (!next_.empty() && (next_.size() == kGroupSamples || next_bytes_ + size > kGroupBytes)) Begin(dataset);
      next_.push_back({id, size});
      next_bytes_ += size;
    });
    if (!next_.empty()) Begin(dataset);
    while (!groups_.empty()) EndFirst();
  }

  WarmReport Finish(const std::map<std::string, std::shared_ptr<const Dataset>>& datasets) {
    options_.cache->Flush();
    LookAtDisk();
    const bool was_stopped = std::exchange(report_.stopped, false);
    is_counting_ = true;
    for (const auto& [name, dataset] : datasets)
      ForEach(*dataset, [this](uint64_t, const std::optional<SampleKey>& key, uint64_t size) {
        if (key.has_value() && options_.cache->Has(*key)) report_.kept.Add(size);
      });
    report_.stopped = was_stopped;
    return std::move(report_);
  }

 private:
  struct Wanted {
    uint64_t id = 0, size = 0;
  };
  struct Group {
    std::shared_ptr<const Dataset> dataset;
    std::vector<Wanted> samples;
    std::shared_ptr<ReadAhead::Group> ahead;
  };

  // Whether to read no more.
  bool Ends() {
    if (is_counting_) return false;
    if (options_.stop != nullptr && *options_.stop) report_.stopped = true;
    return report_.stopped || report_.is_full || report_.disk_failed;
  }

  void LookAtDisk() {
    const DiskTier::Stats disk = options_.cache->stats().disk;
    report_.is_full = disk.refused > 0;
    report_.disk_failed = disk.fails;
  }

  // Calls `visit` for each sample of a dataset on slow storage, until Ends().
  template <typename Visit>
  void ForEach(const Dataset& dataset, Visit visit) {
    const StoredSamples* stored = dataset.stored();
    if (stored == nullptr) return;
    for (uint64_t id = 0; id < dataset.size() && !Ends(); ++id) {
      if (!stored->Has(id, FieldSet::All())) continue;
      const StoredSamples::Place place = stored->PlaceOf(id, FieldSet::All());
      if (place.size == 0) continue;  // It has no bytes of its own to keep.
      visit(id, KeyOf(stored->StoreOf(place.object), stored->ObjectAt(place.object), place.offset, place.size),
            place.size);
    }
  }

  void Begin(const std::shared_ptr<const Dataset>& dataset) {
    std::vector<uint64_t> ids;
    for (const Wanted& wanted : next_) ids.push_back(wanted.id);
    auto group = reader_->Add({dataset, dataset->stored()}, [ids = std::move(ids)] { return ids; });
    groups_.push_back({dataset, std::exchange(next_, {}), std::move(group)});
    next_bytes_ = 0;
    while (groups_.size() > kGroups) EndFirst();
  }

  // Waits for the first group, and keeps its samples.
  void EndFirst() {
    const Group group = std::move(groups_.front());
    groups_.pop_front();
    if (Ends()) return;
    {
      absl::MutexLock lock(&mutex_);
      while (!group.ahead->ready()) changed_.Wait(&mutex_);
    }
    SampleBytes sample;
    for (const auto& [id, size] : group.samples) {
      if (Ends()) return;
      const auto ahead = group.ahead->Read(id, sample);
      const absl::Status read = ahead.has_value() ? *ahead : group.dataset->Read(id, sample);
      report_.progress.read.Add(size);
      if (read.ok()) continue;
      ++report_.failed;
      if (report_.problems.size() < kMostProblems) report_.problems.emplace_back(read.message());
    }
    LookAtDisk();
    options_.progress(report_.progress);
  }

  const WarmOptions& options_;
  WarmReport report_;
  bool is_counting_ = false;
  std::vector<Wanted> next_;  // the group that is being gathered
  uint64_t next_bytes_ = 0;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  ReadAhead ahead_;
  const std::unique_ptr<ReadAhead::Reader> reader_;
  std::deque<Group> groups_;
};

}  // namespace

WarmReport Warm(const std::map<std::string, std::shared_ptr<const Dataset>>& datasets, const WarmOptions& options) {
  Warming warming(options);
  for (const auto& [name, dataset] : datasets) warming.Look(*dataset);
  for (const auto& [name, dataset] : datasets) warming.Fill(dataset);
  return warming.Finish(datasets);
}

}  // namespace stoker
