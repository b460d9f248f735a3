#ifndef STOKER_SERVER_READ_CONTENT_CONTENT_DATASET_H_
#define STOKER_SERVER_READ_CONTENT_CONTENT_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/content/content_hashes.h"
#include "server/read/dataset.h"

namespace stoker {

// A dataset whose bytes are known: `fingerprint: content` in config.proto. Each sample that is read is compared with
// the hash that it had when it was indexed. Everything else is the dataset's below it.
//
// Immutable and thread-safe. A sample takes 16 bytes of memory beside those that it takes below.
class ContentDataset final : public Dataset, private StoredSamples {
 public:
  struct Options {
    std::string name;       // the dataset's name, which errors of Read begin with
    std::string cache_dir;  // the folder that keeps the hashes; where this is empty, none are kept
    int threads = 16;       // threads that read all samples
    // If set, it is called now and then with the number of samples read so far, by any thread, but by one at a time.
    std::function<void(uint64_t samples)> progress;
  };

  // Takes the hashes of `dataset` from the cache folder, or else reads all samples once. Errors are those of
  // Dataset::Read.
  static absl::StatusOr<std::unique_ptr<ContentDataset>> Open(std::unique_ptr<Dataset> dataset, const Options& options);

  uint64_t size() const override { return dataset_->size(); }
  const SourceSchema& schema() const override { return dataset_->schema(); }
  const std::string& fingerprint() const override { return dataset_->fingerprint(); }
  const std::string& content() const override { return content_; }
  uint64_t resident_bytes() const override;
  std::string description() const override { return dataset_->description(); }
  std::string SampleName(uint64_t id) const override { return dataset_->SampleName(id); }
  uint64_t StoredBytes(uint64_t id) const override { return dataset_->StoredBytes(id); }
  bool names_are_lasting() const override { return dataset_->names_are_lasting(); }
  const Labels* labels() const override { return dataset_->labels(); }
  const PartWeights* part_weights() const override { return dataset_->part_weights(); }
  std::vector<MixedPart> parts() const override { return dataset_->parts(); }
  const StoredSamples* stored() const override { return dataset_->stored() == nullptr ? nullptr : this; }

  // Returns Unavailable, which says what to do, where the bytes are not those that were indexed.
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;

  // Returns lines that the operator should see, such as that the hashes cannot be kept.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  ContentDataset(std::unique_ptr<Dataset> dataset, const Options& options);

  // Reads all samples.
  absl::StatusOr<std::vector<SampleHashes>> ReadAll(const Options& options) const;

  // OK if the sample's bytes are those that were indexed.
  absl::Status Check(uint64_t id, const SampleBytes& sample) const;

  bool Has(uint64_t id, FieldSet) const override { return dataset_->stored()->Has(id, FieldSet::All()); }
  Place PlaceOf(uint64_t id, FieldSet) const override { return dataset_->stored()->PlaceOf(id, FieldSet::All()); }
  Store& StoreOf(uint64_t object) const override { return dataset_->stored()->StoreOf(object); }
  ObjectInfo ObjectAt(uint64_t object) const override { return dataset_->stored()->ObjectAt(object); }
  void EndRead(uint64_t object) const override { dataset_->stored()->EndRead(object); }
  absl::Status Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const override;
  absl::Status ReadError(uint64_t id, const absl::Status& status) const override {
    return dataset_->stored()->ReadError(id, status);
  }

  const std::unique_ptr<Dataset> dataset_;
  const std::string name_;
  const std::string path_;  // that of the file of hashes; empty where none is kept

  // Open sets these; they are constant after it.
  std::vector<std::array<uint64_t, 2>> quick_;
  std::string content_;
  std::vector<std::string> warnings_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CONTENT_CONTENT_DATASET_H_
