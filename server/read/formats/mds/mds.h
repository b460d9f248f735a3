#ifndef STOKER_SERVER_READ_FORMATS_MDS_MDS_H_
#define STOKER_SERVER_READ_FORMATS_MDS_MDS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/mds/encoding.h"
#include "server/read/formats/mds/mds_index.h"
#include "server/read/formats/shard_format.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Shards of MDS, version 2, as mosaicml-streaming writes them: see Mds in config.proto. In the layout numbers are u32,
// little-endian.
//
//   samples    N
//   offsets    N + 1, of each sample and of the file's end
//   columns    JSON, which index.json has too
//   sample     the size of each column that has none of its own, then the columns' values
//
// The fields are the columns that the mapping names, or all that can be fields: see MdsEncoding. Where the first sample
// tells a column's shape, a sample of another one is bad. The fingerprint covers the shards' names and sizes, the
// samples' places, the columns and the mapping, but no hash that index.json may have.
class Mds final : public ShardFormat {
 public:
  // Reads the index.json objects `indexes`, several of which are one dataset, replaces `shards` by the shards that they
  // name, and learns the fields from the first sample. DataLoss names the shard or key at fault, InvalidArgument a
  // wrong mapping; Unimplemented for compressed shards.
  static absl::StatusOr<std::unique_ptr<Mds>> Create(const v1::Mds& config, Store& store,
                                                     const std::vector<ObjectInfo>& indexes,
                                                     std::vector<ObjectInfo>& shards);

  std::string description() const override { return "MDS shards (mosaicml-streaming)"; }
  std::string identity() const override;
  const SourceSchema& schema() const override { return schema_; }
  int parts() const override { return 0; }
  absl::StatusOr<ShardIndex::Rows> Index(Store& store, const ObjectInfo& shard) const override;
  absl::Status Parse(std::span<const uint8_t> stored, std::span<const StoredPart> parts,
                     SampleBytes& sample) const override;
  std::vector<std::string> warnings() const override { return mapping_.warnings; }

 private:
  // How many samples index.json tells of, by the shard's name.
  using Counts = std::map<std::string, uint64_t>;

  // A column that a field is made from.
  struct Taken {
    size_t column = 0;
    MdsEncoding encoding;
  };

  Mds(std::vector<MdsColumn> columns, Counts counts, FieldMapping mapping);

  const std::vector<MdsColumn> columns_;
  const Counts counts_;
  const FieldMapping mapping_;
  const SourceSchema schema_;
  std::vector<Taken> taken_;  // of each field, constant after construction
};

// Returns the offsets of the samples of a shard, and of its end. DataLoss names the shard and the number that is wrong.
// `samples` is what index.json says.
absl::StatusOr<std::vector<uint32_t>> ReadMdsOffsets(Store& store, const ObjectInfo& shard, uint64_t samples);

// Splits a sample into the values of its columns, which point into it. DataLoss where sizes do not fit it.
absl::StatusOr<std::vector<std::span<const uint8_t>>> SplitMdsSample(const std::vector<MdsColumn>& columns,
                                                                     std::span<const uint8_t> sample);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_MDS_MDS_H_
