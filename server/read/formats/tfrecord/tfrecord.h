#ifndef STOKER_SERVER_READ_FORMATS_TFRECORD_TFRECORD_H_
#define STOKER_SERVER_READ_FORMATS_TFRECORD_TFRECORD_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/shard_format.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// TFRecord files of tf.train.Example messages: see TfRecord in config.proto.
//
// The first record of the first shard shows what each feature is: bytes that begin as an image are one, integers are
// int64 and floats float32, a scalar where there is one value and else of shape [values]. Other bytes, and lists
// without values, cannot be fields of a fixed size. A field whose samples differ in size takes all values of a list,
// also none, or the one value of bytes. Without a mapping the fields are image/encoded and image/class/label, or image
// and label, or all that can be. A record that lacks a feature, or has another number of values, is bad.
//
// A sample's range is its record with its framing, so that all checksums are checked when it is read. The fingerprint
// covers the shards' names and sizes, the records' places and the mapping.
class TfRecord final : public ShardFormat {
 public:
  // The index files of shards.
  struct Indexes {
    std::map<std::string, ObjectInfo> found;  // by their names
    bool all_found = false;                   // else others than those may be beside the shards
  };

  // Learns the fields from the first record of `shards`, which are in the order of their names. InvalidArgument where
  // there is none or the mapping is wrong, DataLoss where it does not parse.
  static absl::StatusOr<std::unique_ptr<TfRecord>> Create(const v1::TfRecord& config, Store& store,
                                                          const std::vector<ObjectInfo>& shards, Indexes indexes);

  // Whether an object of that name in a folder is a shard: "a.tfrecord", "a.tfrec", "train.tfrecords-00000-of-00010",
  // "train-00000-of-01024".
  static bool IsShardName(std::string_view name);

  std::string description() const override { return "TFRecord files"; }
  std::string identity() const override { return "tfrecord.v1" + mapping_.identity(); }
  const SourceSchema& schema() const override { return schema_; }
  int parts() const override { return 0; }
  absl::StatusOr<ShardIndex::Rows> Index(Store& store, const ObjectInfo& shard) const override;
  absl::Status Parse(std::span<const uint8_t> stored, std::span<const StoredPart> parts,
                     SampleBytes& sample) const override;
  std::vector<std::string> warnings() const override { return mapping_.warnings; }

 private:
  TfRecord(FieldMapping mapping, Indexes indexes)
      : mapping_(std::move(mapping)), schema_(mapping_.schema()), indexes_(std::move(indexes)) {}

  // Returns the index file of `shard`, or one without a name where there is none.
  absl::StatusOr<ObjectInfo> IndexOf(Store& store, const ObjectInfo& shard) const;

  const FieldMapping mapping_;
  const SourceSchema schema_;
  const Indexes indexes_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TFRECORD_TFRECORD_H_
