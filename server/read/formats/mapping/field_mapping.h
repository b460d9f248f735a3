#ifndef STOKER_SERVER_READ_FORMATS_MAPPING_FIELD_MAPPING_H_
#define STOKER_SERVER_READ_FORMATS_MAPPING_FIELD_MAPPING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/fields/schema.h"
#include "server/read/formats/mapping/variable_field.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// How the fields of a sample are chosen among the parts that a format stores under names: features, columns. All
// functions are pure.

// The `fields` of a format's configuration, by the fields' names.
using FieldMap = google::protobuf::Map<std::string, v1::FieldFrom>;

// A stored part, as the first sample shows it.
struct StoredColumn {
  std::string from;                   // what the format calls it
  absl::StatusOr<SourceField> field;  // without a name, or why it cannot be a field: "is text"
  std::optional<StoredRows> rows;     // what it is where samples differ in size; nothing where it cannot be that
};

struct MappedField {
  std::string from;
  SourceField field;
};

struct FieldMapping {
  std::vector<MappedField> fields;    // in the bytewise order of the fields' names
  std::vector<std::string> warnings;  // names what was left out, and why

  SourceSchema schema() const;

  // Returns a text that tells two mappings apart, for ShardFormat::identity.
  std::string identity() const;
};

// Maps the fields that `asked` names, or without any each of `columns` that can be one of a fixed size. There a field
// is called as its column, with '_' for what names cannot have. InvalidArgument names a key of `fields` that is wrong
// and says which columns there are, or why none can be a field. `word` is what the format calls a column: "feature".
absl::StatusOr<FieldMapping> MapFields(const FieldMap& asked, const std::vector<StoredColumn>& columns,
                                       const std::string& word);

// Gives a field, whose type and shape are known, the kind that `asked` says, which is none of IsVariable.
// InvalidArgument, which names the key, where it cannot be one.
absl::Status SetMeaning(const v1::FieldFrom& asked, SourceField& field);

// Returns the type and shape in words: "image", "int64", "float32 [3, 2]", "label_map int16". Equal words mean
// equal samples.
std::string FieldWords(const SourceField& field);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_MAPPING_FIELD_MAPPING_H_
