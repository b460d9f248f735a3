#ifndef STOKER_SERVER_READ_FORMATS_TAR_TAR_FIELDS_H_
#define STOKER_SERVER_READ_FORMATS_TAR_TAR_FIELDS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/schema.h"
#include "server/read/formats/tar/json_path.h"
#include "server/read/formats/tar/sample_rows.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// How members become fields, by their extensions:
//
//   jpg jpeg jpe png webp bmp tif tiff pgm ppm   an encoded image
//   cls id index inx count txt text       an int64, from the digits of a text
//   npy                                   an array of one type and shape
//   anything, with a path in `json`       an int64 or float64, the number there
//
// and where a configuration asks for a kind of field whose samples differ in size:
//
//   anything, of kind text or bytes       its bytes
//   npy, of another kind                  an array of rows, as many as its first dimension says
//   anything, with a path in `json`       the text there, or the rows there: see RowsAt
enum class MemberKind { kOther, kImage, kNumber, kArray, kJson, kBytes, kArrayOfRows, kJsonText, kJsonRows };

// Returns the kind that an extension alone tells, by what follows its last dot. kOther for `json` too.
MemberKind KindOfExtension(std::string_view extension);

// A field and the member that it is taken from. A plain value.
struct TarField {
  SourceField field;
  MemberKind kind = MemberKind::kOther;
  Extensions extensions;
  std::string path_text;  // of kJson, kJsonText, kJsonRows
  JsonPath path;          // of the same
  v1::FieldFrom asked;    // what a configuration says of the field
};

// Returns the fields that a configuration names, in the bytewise order of their names. InvalidArgument names the key.
absl::StatusOr<std::vector<TarField>> FieldsOf(const google::protobuf::Map<std::string, v1::FieldFrom>& config);

// The fields that samples have by themselves.
struct FoundFields {
  std::vector<TarField> fields;       // in the bytewise order of their names
  std::vector<std::string> left_out;  // extensions
};

// Finds the fields of samples that have the extensions `samples`, each in the order of its members: `image` is the
// first image of each, `label` is cls, others have the names of their extensions.
FoundFields FindFields(const std::vector<Extensions>& samples);

// Returns how much of how many members Learn needs.
struct Learning {
  size_t members = 1;
  uint64_t bytes = 0;  // of each
};
Learning LearningOf(const TarField& field);

// Whether a member without bytes is a value of the field.
bool MayBeEmpty(const TarField& field);

// Learns from the first samples what the extension does not tell, the type and shape of an array or a number. `members`
// are those that the field is taken from, cut as LearningOf says. InvalidArgument where one is not what the field
// takes.
absl::Status Learn(const std::vector<std::vector<uint8_t>>& members, TarField& field);

// Replaces `value` by the field's, as `member` has it. DataLoss says why it has none.
absl::Status Take(const TarField& field, std::span<const uint8_t> member, std::vector<uint8_t>& value);

// Says which extensions a field is taken from: ".jpg or .jpeg".
std::string WordsOf(const Extensions& extensions);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_TAR_FIELDS_H_
