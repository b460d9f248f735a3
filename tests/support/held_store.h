#ifndef STOKER_TESTS_SUPPORT_HELD_STORE_H_
#define STOKER_TESTS_SUPPORT_HELD_STORE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/read/dataset.h"

namespace stoker {

// A store whose reads end when a test says so, on the test's thread. The byte at `offset` of any object is ByteAt.
// Thread-safe.
class HeldStore final : public Store {
 public:
  static uint8_t ByteAt(uint64_t offset) { return static_cast<uint8_t>(offset * 7 + offset / 251); }

  std::string description() const override { return "held"; }
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing&) override { return absl::UnimplementedError("held"); }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>&) override {
    return absl::UnimplementedError("held");
  }
  void Read(const Range& range, Done done) override;

  // From now on reads end at once, on the reader's thread, and so do those that are held.
  void Open();

  // Waits for `count` reads in all, of those that have ended too.
  void AwaitReads(size_t count);

  // Ends the read that has been held longest: well, or with `status`. Requires that one is held.
  void EndFirst(const absl::Status& status = absl::OkStatus());

  // Ends the read that has been held for the shortest time.
  void EndLast();

  size_t reads() const;                 // so far
  size_t held() const;                  // now
  std::vector<uint64_t> sizes() const;  // of all reads so far

 private:
  struct Held {
    Range range;
    Done done;
  };
  static void End(Held held, const absl::Status& status);

  mutable absl::Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Held> held_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> sizes_ ABSL_GUARDED_BY(mutex_);
};

// Samples of `sample_bytes` in one object of a HeldStore, with `gap` bytes between them. A sample's field is its first
// byte.
class HeldDataset final : public Dataset, public StoredSamples {
 public:
  HeldDataset(uint64_t size, uint64_t sample_bytes, uint64_t gap)
      : size_(size), sample_bytes_(sample_bytes), gap_(gap), object_{"object", size * (sample_bytes + gap), "1"} {}

  static uint8_t FieldOf(const HeldDataset& dataset, uint64_t id) {
    return HeldStore::ByteAt(dataset.PlaceOf(id, FieldSet::All()).offset);
  }

  uint64_t size() const override { return size_; }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return "held"; }
  std::string SampleName(uint64_t id) const override { return "held/" + std::to_string(id); }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;
  const StoredSamples* stored() const override { return is_stored ? this : nullptr; }

  HeldStore& store() const { return store_; }
  Store& StoreOf(uint64_t) const override { return store_; }
  Place PlaceOf(uint64_t id, FieldSet) const override { return {0, id * (sample_bytes_ + gap_), sample_bytes_}; }
  ObjectInfo ObjectAt(uint64_t) const override { return object_; }
  absl::Status Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const override;
  absl::Status ReadError(uint64_t id, const absl::Status& status) const override;

  bool is_stored = true;
  uint64_t bad = ~uint64_t{};                 // this sample does not parse
  mutable std::atomic<int> read_now = 0;      // calls of Read
  std::function<void()> on_read_now = [] {};  // is called by Read
  std::function<void(uint64_t id)> on_parse = [](uint64_t) {};

 private:
  const uint64_t size_, sample_bytes_, gap_;
  const ObjectInfo object_;
  const SourceSchema schema_ = {{.name = "byte", .dtype = v1::DTYPE_UINT8}};
  const std::string fingerprint_ = std::string(32, 'h');
  mutable HeldStore store_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_HELD_STORE_H_
