#ifndef STOKER_SERVER_READ_FORMATS_MAPPING_SPARSE_FIELD_H_
#define STOKER_SERVER_READ_FORMATS_MAPPING_SPARSE_FIELD_H_

#include "absl/status/statusor.h"
#include "google/protobuf/map.h"
#include "server/read/formats/mapping/variable_field.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Sparse fields, which a format takes as one field of indices and, where they have values, a second one behind it, of
// the name that common/fields/companions.h gives. All functions are pure.

// Returns a configuration's `fields` with one more for the values of each sparse field that has some. It says where
// they are stored, and by its dense_shape and max_bytes how many there may be. InvalidArgument, such as
// "fields.words.dense_shape: …", where a field that is not sparse has a key of sparse fields.
absl::StatusOr<google::protobuf::Map<std::string, v1::FieldFrom>> WithValuesOfSparse(
    const google::protobuf::Map<std::string, v1::FieldFrom>& asked);

// OK where the indices of a sparse field can be stored so. InvalidArgument names the key that is wrong.
absl::Status CheckIndices(const v1::FieldFrom& asked, const StoredRows& stored);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_MAPPING_SPARSE_FIELD_H_
