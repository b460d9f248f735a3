#ifndef STOKER_SERVER_READ_FORMATS_FEATURES_FEATURE_VECTORS_H_
#define STOKER_SERVER_READ_FORMATS_FEATURES_FEATURE_VECTORS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/features/npy_header.h"
#include "server/read/formats/shard_format.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// .npy files, each of which is a sample, or whose rows are: see FeatureVectors in config.proto. The only field is
// `features`, of the type and shape that the first file has, without the first dimension where rows are samples.
class FeatureVectors final : public ShardFormat {
 public:
  // Learns type and shape from the first of `objects`. InvalidArgument where it is no .npy file, or has no rows.
  static absl::StatusOr<std::unique_ptr<FeatureVectors>> Create(const v1::FeatureVectors& config, Store& store,
                                                                const std::vector<ObjectInfo>& objects);

  std::string description() const override { return ".npy files"; }
  std::string identity() const override;
  const SourceSchema& schema() const override { return schema_; }
  int parts() const override { return 0; }
  absl::StatusOr<ShardIndex::Rows> Index(Store& store, const ObjectInfo& shard) const override;
  absl::Status Parse(std::span<const uint8_t> stored, std::span<const StoredPart> parts,
                     SampleBytes& sample) const override;

 private:
  FeatureVectors(const NpyHeader& first, bool rows);

  const bool rows_;
  const SourceSchema schema_;
  const uint64_t sample_bytes_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FEATURES_FEATURE_VECTORS_H_
