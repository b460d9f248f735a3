// bench-ahead [--data DIR] [--latency-ms 30] …: images per second of a worker pool whose photographs come from memory
// at once, from a store that lets each read wait, and from the same store without reading ahead; then from that store
// with a raw cache that has them, in memory and on a disk, as a second epoch finds it. The ways take turns, so that a
// machine's drift hits all alike.

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/work/worker_pool.h"
#include "tests/bench/engine_photos.h"
#include "tests/bench/engine_ways.h"

namespace stoker {
namespace {

// Photographs as objects of a store. Reads end after a time, as many at once as are asked for.
class SlowStore final : public Store {
 public:
  SlowStore(const Photos& photos, absl::Duration latency)
      : photos_(photos), latency_(latency), thread_([this] { Run(); }) {}
  ~SlowStore() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::string description() const override { return "slow"; }
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing&) override { return absl::UnimplementedError("slow"); }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>&) override {
    return absl::UnimplementedError("slow");
  }
  void Read(const Range& range, Done done) override {
    {
      std::lock_guard lock(mutex_);
      waiting_.push_back({absl::Now() + latency_, range, std::move(done)});
    }
    changed_.notify_all();
  }

 private:
  struct Waiting {
    absl::Time until;
    Range range;
    Done done;
  };

  void Run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (waiting_.empty()) {
        changed_.wait(lock);
        continue;
      }
      Waiting first = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      absl::SleepFor(first.until - absl::Now());
      const auto& bytes = photos_.samples[std::stoul(first.range.object->name)].fields[0];
      std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(first.range.offset), first.range.into.size(),
                  first.range.into.begin());
      first.done(absl::OkStatus());
      lock.lock();
    }
  }

  const Photos& photos_;
  const absl::Duration latency_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

class PhotoDataset final : public Dataset, private StoredSamples {
 public:
  // Without a latency the photographs are local.
  PhotoDataset(const Photos& photos, absl::Duration latency) : photos_(photos) {
    for (size_t i = 0; i < photos.samples.size(); ++i)
      objects_.push_back({std::to_string(i), photos.samples[i].fields[0].size(), "1"});
    if (latency > absl::ZeroDuration()) store_ = std::make_unique<SlowStore>(photos, latency);
  }

  uint64_t size() const override { return objects_.size(); }
  const SourceSchema& schema() const override { return FileSchema(); }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return "photographs"; }
  std::string SampleName(uint64_t id) const override { return objects_[id].name; }
  const StoredSamples* stored() const override { return store_ == nullptr ? nullptr : this; }

  // Puts all samples, as an epoch does.
  void PutAll(RawCache& cache) const {
    for (size_t i = 0; i < objects_.size(); ++i)
      cache.Put(*KeyOf(*store_, objects_[i], 0, objects_[i].size), photos_.samples[i].fields[0]);
    cache.Flush();
  }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override {
    if (store_ == nullptr) return Parse(id, photos_.samples[id].fields[0], sample);
    std::vector<uint8_t> bytes(objects_[id].size);
    const absl::Status status = ReadNow(*store_, {&objects_[id], 0, bytes});
    return status.ok() ? Parse(id, bytes, sample) : status;
  }

 private:
  Store& StoreOf(uint64_t) const override { return *store_; }
  Place PlaceOf(uint64_t id, FieldSet) const override { return {id, 0, objects_[id].size}; }
  ObjectInfo ObjectAt(uint64_t object) const override { return objects_[object]; }
  absl::Status Parse(uint64_t, std::span<const uint8_t> stored, SampleBytes& sample) const override {
    sample.fields.resize(1);
    sample.fields[0].assign(stored.begin(), stored.end());
    return absl::OkStatus();
  }
  absl::Status ReadError(uint64_t, const absl::Status& status) const override { return status; }

  const Photos& photos_;
  std::vector<ObjectInfo> objects_;
  const std::string fingerprint_ = std::string(32, 'p');
  std::unique_ptr<SlowStore> store_;
};

struct Options {
  std::string data;
  double latency_ms = 30, seconds = 3;
  int workers = 1, rounds = 3;
  uint64_t window = 64;
  uint64_t ahead_mib = 64;
  std::string disk;  // where the raw cache has its folder
};

StreamPlan PlanOf(const Dataset& dataset) {
  v1::Identity identity;
  identity.set_samples(dataset.size());
  auto pipeline = ServerPipeline::Create(TrainingPipeline(v1::JPEG_SCALING_K2), dataset.schema());
  return *StreamPlan::Create("photographs", *std::move(pipeline), identity, 1, {}, false);
}

// The payloads' hashes of the first epoch's spans, by their starts.
using Hashes = std::map<uint64_t, uint64_t>;

// Keeps as many wants outstanding for each way, so that none is faster for having more, and returns images per second.
double ImagesPerSecond(const std::shared_ptr<const Dataset>& dataset, uint64_t ahead_bytes,
                       const std::shared_ptr<RawCache>& cache, const Options& options, Hashes& hashes) {
  WorkerPool pool(
      {.workers = options.workers, .slab_bytes = uint64_t{2} << 30, .ahead_bytes = ahead_bytes, .raw_cache = cache});
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t answered = 0;
  const StreamPlan plan = PlanOf(*dataset);
  const auto stream = *pool.AddStream(dataset, plan, [&](const FinishedSpan& span) {
    if (span.header.has_error()) std::abort();
    std::lock_guard lock(mutex);
    ++answered;
    if (span.header.epoch() == 0) hashes[span.header.start()] = span.payload_hash;
    changed.notify_all();
  });
  const uint64_t count = std::min<uint64_t>(plan.pipeline().span_samples(), dataset->size());
  const uint64_t window = options.window;
  uint64_t wanted = 0;
  const auto until = [&](absl::Time end) {
    for (std::unique_lock lock(mutex); absl::Now() < end;) {
      if (wanted < answered + window) {
        lock.unlock();
        const uint64_t spans = dataset->size() / count;
        if (!stream->Want({wanted / spans, wanted % spans * count, static_cast<uint32_t>(count)}).ok()) std::abort();
        ++wanted;
        lock.lock();
      } else {
        changed.wait_for(lock, std::chrono::milliseconds(10));
      }
    }
    std::lock_guard lock(mutex);
    return answered;
  };
  const uint64_t before = until(absl::Now() + absl::Seconds(0.5));
  const absl::Time begun = absl::Now();
  const uint64_t after = until(begun + absl::Seconds(options.seconds));
  return static_cast<double>((after - before) * count) / absl::ToDoubleSeconds(absl::Now() - begun);
}

// Returns a cache that has all samples.
std::shared_ptr<RawCache> CacheOf(const PhotoDataset& dataset, const RawCache::Options& options) {
  auto cache = std::make_shared<RawCache>(options);
  dataset.PutAll(*cache);
  return cache;
}

// Has a folder for a raw cache: `given`, or a temporary one that goes with it.
struct DiskFolder {
  explicit DiskFolder(const std::string& given) : path(given), is_temporary(given.empty()) {
    if (is_temporary) path = std::filesystem::temp_directory_path() / absl::StrFormat("stoker-bench-%d", getpid());
  }
  ~DiskFolder() {
    if (is_temporary) std::filesystem::remove_all(path);
  }
  std::string path;
  const bool is_temporary;
};

RawCache::Options OnDisk(const std::string& path) {
  RawCache::Options options{.waits = true};
  options.disk = {
      .path = path, .size_bytes = uint64_t{4} << 30, .most_records = 1 << 20, .warn = [](const std::string& line) {
        absl::FPrintF(stderr, "%s\n", line);
      }};
  return options;
}

int Main(const Options& options) {
  absl::StatusOr<std::string> folder = options.data.empty() ? PaintedPhotos() : options.data;
  auto photos = folder.ok() ? LoadPhotos(*folder, 400) : folder.status();
  if (!photos.ok()) {
    absl::FPrintF(stderr, "%s\n", photos.status().ToString());
    return 1;
  }
  const absl::Duration latency = absl::Milliseconds(options.latency_ms);
  struct Way {
    const char* name;
    std::shared_ptr<const Dataset> dataset;
    uint64_t ahead_bytes;
    std::shared_ptr<RawCache> cache;
    std::vector<double> speeds;
    Hashes hashes;
  };
  const uint64_t ahead_bytes = options.ahead_mib << 20;
  const auto remote = std::make_shared<PhotoDataset>(*photos, latency);
  const DiskFolder disk(options.disk);
  std::vector<Way> ways = {
      {"local", std::make_shared<PhotoDataset>(*photos, absl::ZeroDuration()), ahead_bytes, nullptr, {}, {}},
      {"read ahead", remote, ahead_bytes, nullptr, {}, {}},
      {"by workers", remote, 0, nullptr, {}, {}},
      {"from memory", remote, ahead_bytes, CacheOf(*remote, {.memory_bytes = uint64_t{1} << 30}), {}, {}},
      {"from disk", remote, ahead_bytes, CacheOf(*remote, OnDisk(disk.path)), {}, {}}};
  for (int round = 0; round < options.rounds; ++round)
    for (Way& way : ways)
      way.speeds.push_back(ImagesPerSecond(way.dataset, way.ahead_bytes, way.cache, options, way.hashes));
  for (const Way& way : ways)
    for (const auto& [start, hash] : way.hashes)
      if (const auto of_local = ways[0].hashes.find(start);
          of_local != ways[0].hashes.end() && of_local->second != hash) {
        absl::FPrintF(stderr, "%s: the span at %d has other bytes than locally\n", way.name, start);
        return 1;
      }
  absl::PrintF("%d workers, %.0f ms to the first byte, images of %.0f KB\n", options.workers, options.latency_ms,
               photos->mean_bytes / 1e3);
  for (const Way& way : ways) {
    std::vector<double> ratios;
    for (size_t i = 0; i < way.speeds.size(); ++i) ratios.push_back(way.speeds[i] / ways[0].speeds[i]);
    std::sort(ratios.begin(), ratios.end());
    std::vector<double> speeds = way.speeds;
    std::sort(speeds.begin(), speeds.end());
    // Medians, and how far rounds lie apart: on a busy machine that is far.
    absl::PrintF("  %-12s %7.1f images/s (%.1f to %.1f), %.3f of local (%.3f to %.3f)\n", way.name,
                 speeds[speeds.size() / 2], speeds.front(), speeds.back(), ratios[ratios.size() / 2], ratios.front(),
                 ratios.back());
  }
  return 0;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  stoker::Options options;
  CLI::App app("Images per second from slow storage, beside local ones");
  app.add_option("--data", options.data, "Folder of JPEG files; painted ones if not given");
  app.add_option("--latency-ms", options.latency_ms, "Until a read's first byte");
  app.add_option("--workers", options.workers)->check(CLI::Range(1, 1024));
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 1000));
  app.add_option("--seconds", options.seconds, "Of each turn");
  app.add_option("--window", options.window, "Wants that are outstanding at once")->check(CLI::Range(1, 512));
  app.add_option("--disk", options.disk, "Where the raw cache has its folder; a temporary one if not given");
  app.add_option("--ahead-mib", options.ahead_mib, "MiB of what is read ahead");
  CLI11_PARSE(app, argc, argv);
  return stoker::Main(options);
}
