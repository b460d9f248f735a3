#ifndef STOKER_SERVER_READ_FORMATS_TAR_WEB_DATASET_H_
#define STOKER_SERVER_READ_FORMATS_TAR_WEB_DATASET_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/shard_format.h"
#include "server/read/formats/tar/tar_fields.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Tar files as WebDataset has them: see WebDataset in config.proto. Members that lie one after another and have one key
// are a sample, whose name is the key. A sample that lacks a wanted member is a bad one; what has none of them is no
// sample. The fields are in the bytewise order of their names.
//
// A shard's members come from DALI's .idx beside it, if that can be of it, or else from the tar headers; the index,
// hence the fingerprint, is the same.
class WebDataset final : public ShardFormat {
 public:
  // Learns what the configuration leaves out from the first samples of the first of `objects`. Where `objects` is one
  // list of shards by wids, they become its shards. InvalidArgument names a key; DataLoss a shard.
  static absl::StatusOr<std::unique_ptr<WebDataset>> Create(const v1::WebDataset& config, Store& store,
                                                            std::vector<ObjectInfo>& objects);

  std::string description() const override { return "tar shards (WebDataset)"; }
  std::string identity() const override;
  const SourceSchema& schema() const override { return schema_; }
  std::vector<std::string> warnings() const override { return warnings_; }
  int parts() const override { return static_cast<int>(wanted_.size()); }
  int PartOf(size_t field) const override { return static_cast<int>(part_of_[field]); }
  absl::StatusOr<ShardIndex::Rows> Index(Store& store, const ObjectInfo& shard) const override;
  absl::Status Parse(std::span<const uint8_t> stored, std::span<const StoredPart> parts,
                     SampleBytes& sample) const override;

 private:
  WebDataset(std::vector<TarField> fields, std::map<std::string, uint64_t> samples, std::vector<std::string> warnings);

  const std::vector<TarField> fields_;
  const SourceSchema schema_;
  const std::vector<Extensions> wanted_;           // none twice
  const std::vector<size_t> part_of_;              // place in wanted_ of each field
  const std::vector<bool> may_be_empty_;           // of each of wanted_: an empty one is a field's value
  const std::map<std::string, uint64_t> samples_;  // of each shard, where a list tells it
  const std::vector<std::string> warnings_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_WEB_DATASET_H_
