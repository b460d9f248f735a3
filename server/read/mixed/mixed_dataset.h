#ifndef STOKER_SERVER_READ_MIXED_MIXED_DATASET_H_
#define STOKER_SERVER_READ_MIXED_MIXED_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// A dataset made of others, whose samples stand one part after another: see Mix in config.proto. Immutable and
// thread-safe.
//
// The fingerprint is the SHA-256 of
//   "stoker.mix.v1"
//   number of parts, positions of an epoch
//   for each part: its weight or 0, its number of samples, its fingerprint (32 bytes)
// where numbers are 8 bytes, little-endian. What parts are called is no part of it.
class MixedDataset final : public Dataset, private Labels, private StoredSamples {
 public:
  // Returns the dataset of a name, or null.
  using FindDataset = std::function<std::shared_ptr<const Dataset>(const std::string& name)>;

  // Mixes the datasets that `config` names. InvalidArgument names the key at fault: parts that are not there, or whose
  // fields differ.
  static absl::StatusOr<std::unique_ptr<MixedDataset>> Create(const v1::Mix& config, const FindDataset& find);

  uint64_t size() const override { return parts_.back().end; }
  const SourceSchema& schema() const override { return parts_[0].dataset->schema(); }
  const std::string& fingerprint() const override { return fingerprint_; }
  const std::string& content() const override { return content_; }
  uint64_t resident_bytes() const override { return sizeof(*this); }  // The parts are counted by themselves.
  std::string description() const override;
  std::string SampleName(uint64_t id) const override;
  uint64_t StoredBytes(uint64_t id) const override;
  bool names_are_lasting() const override;
  const Labels* labels() const override { return has_labels_ ? this : nullptr; }
  const PartWeights* part_weights() const override { return weights_.parts.empty() ? nullptr : &weights_; }
  std::vector<MixedPart> parts() const override;
  const StoredSamples* stored() const override { return has_stored_ ? this : nullptr; }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;

 private:
  struct Part {
    std::string name;
    std::shared_ptr<const Dataset> dataset;
    uint64_t end = 0;  // one past the id of its last sample
  };

  MixedDataset() = default;

  absl::Status Add(const v1::MixPart& config, const std::string& key, const FindDataset& find);
  void TakeIdentity();

  // Returns the part that has sample `id`, and the sample's id there.
  const Part& PartOf(uint64_t id, uint64_t& own_id) const;

  const std::vector<std::string>& classes() const override { return parts_[0].dataset->labels()->classes(); }
  LabelRun RunAt(uint64_t id) const override;

  // An object's number says which part's it is, and its number there.
  bool Has(uint64_t id, FieldSet wanted) const override;
  Place PlaceOf(uint64_t id, FieldSet wanted) const override;
  Store& StoreOf(uint64_t object) const override;
  ObjectInfo ObjectAt(uint64_t object) const override;
  void EndRead(uint64_t object) const override;
  absl::Status Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const override;
  absl::Status ReadError(uint64_t id, const absl::Status& status) const override;

  // Create sets these; they are constant after it.
  std::vector<Part> parts_;
  PartWeights weights_;
  std::string fingerprint_, content_;
  bool has_labels_ = false, has_stored_ = false;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_MIXED_MIXED_DATASET_H_
