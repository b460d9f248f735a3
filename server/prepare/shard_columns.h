#ifndef STOKER_SERVER_PREPARE_SHARD_COLUMNS_H_
#define STOKER_SERVER_PREPARE_SHARD_COLUMNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/fields/schema.h"

namespace stoker {

// What a field of a dataset becomes in shards. A plain value.
//
//   field                                   member of tar shards   column of MDS shards
//   `image`, else the first encoded image   KEY.jpg                jpeg; bytes if ops were run on it
//   another encoded image                   KEY.FIELD.jpg          likewise
//   `label`, a scalar of int64              KEY.cls, in digits     int
//   other elements                          KEY.FIELD.npy          the type, or ndarray:TYPE:N,… for a shape
//
// A column of MDS is called as the field is, and so is a member, with the letters in lower case.
struct ShardColumn {
  enum class Kind { kImage, kLabel, kArray };
  std::string field;
  Kind kind = Kind::kImage;
  std::string extension;  // of the tar member: "jpg", "mask.npy"
  std::string encoding;   // of the MDS column
  std::string head;       // what stands before an array's elements in its tar member: the header of .npy (NEP 1)
  uint64_t bytes = 0;     // of a value; 0 for an image, which has its own
};

// Returns a column for each field, in their order. `packed` says that ops were run on the images. InvalidArgument names
// the field that shards cannot have: of elements without a type in NumPy (bfloat16), with a name that is no extension,
// or with another one's name. Pure.
absl::StatusOr<std::vector<ShardColumn>> ColumnsOf(const SourceSchema& schema, bool packed);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_SHARD_COLUMNS_H_
