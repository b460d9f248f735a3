#ifndef STOKER_SERVER_READ_FORMATS_LMDB_LMDB_H_
#define STOKER_SERVER_READ_FORMATS_LMDB_LMDB_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/lmdb/layout.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/shard_format.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Data files of LMDB environments: see Lmdb in config.proto, LmdbLayout and LmdbTree. No library reads them, and
// nothing is mapped.
//
// A sample is a value, one range of the file: small ones lie in a leaf of the tree, larger ones in pages of their own.
// Samples come in the order of their keys, which are their names. The fingerprint covers the files' names and sizes,
// keys, the values' places, the layout, the database's name and the mapping. So a compacted copy, which mdb_copy -c
// makes, is another dataset.
class Lmdb final : public ShardFormat {
 public:
  // Learns layout and fields from the first sample of `shards`, which are in the order of their names. InvalidArgument
  // where there is none, where it shows no layout, or where the configuration is wrong; else the errors of LmdbTree.
  static absl::StatusOr<std::unique_ptr<Lmdb>> Create(const v1::Lmdb& config, Store& store,
                                                      const std::vector<ObjectInfo>& shards);

  // Whether an object of that name is a data file: "data.mdb", "a.mdb", "a.lmdb", but no "lock.mdb".
  static bool IsShardName(std::string_view name);

  std::string description() const override;
  std::string identity() const override;
  const SourceSchema& schema() const override { return schema_; }
  int parts() const override { return 0; }
  absl::StatusOr<ShardIndex::Rows> Index(Store& store, const ObjectInfo& shard) const override;
  absl::Status Parse(std::span<const uint8_t> stored, std::span<const StoredPart> parts,
                     SampleBytes& sample) const override;
  std::vector<std::string> warnings() const override;

 private:
  Lmdb(LmdbLayout layout, std::string database, FieldMapping mapping)
      : layout_(layout), database_(std::move(database)), mapping_(std::move(mapping)), schema_(mapping_.schema()) {}

  const LmdbLayout layout_;
  const std::string database_;
  const FieldMapping mapping_;
  const SourceSchema schema_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_LMDB_LMDB_H_
