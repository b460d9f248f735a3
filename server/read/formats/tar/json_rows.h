#ifndef STOKER_SERVER_READ_FORMATS_TAR_JSON_ROWS_H_
#define STOKER_SERVER_READ_FORMATS_TAR_JSON_ROWS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/fields/schema.h"
#include "server/read/formats/tar/json_path.h"

namespace stoker {

// Replaces `rows` by the numbers at `path` of a JSON document, as rows of `field`. The path leads to one value or, by
// [*], to several, one after another in their order there. Each value is
//
//   a row           a number, or lists of the row's shape
//   rows            a list of any number of these, also none
//   their numbers   one list of numbers, which is cut into rows
//
// DataLoss says what else is there: an element that lacks the rest of the path, lists of other lengths, null, numbers
// that the field's type does not hold. Any bytes are safe: the document is walked through once, and of it no more than
// kMaxSampleBytes of numbers is kept. Requires a field of numbers, of none of the 16-bit floating point types.
absl::Status RowsAt(std::string_view document, const JsonPath& path, const SourceField& field,
                    std::vector<uint8_t>& rows);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_JSON_ROWS_H_
