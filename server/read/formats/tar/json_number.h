#ifndef STOKER_SERVER_READ_FORMATS_TAR_JSON_NUMBER_H_
#define STOKER_SERVER_READ_FORMATS_TAR_JSON_NUMBER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/read/formats/tar/json_path.h"
#include "server/read/formats/tar/json_walk.h"

namespace stoker {

// Return the number, or the text in UTF-8, at `path` of a JSON document; where an object has a key twice, the later one
// counts, as in Python. DataLoss where the document is not JSON, or has none there. Any bytes are safe: the document is
// walked through once, and nothing else of it is kept. Require a path that does not lead to many.
absl::StatusOr<JsonNumber> NumberAt(std::string_view document, const JsonPath& path);
absl::StatusOr<std::string> TextAt(std::string_view document, const JsonPath& path);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_JSON_NUMBER_H_
