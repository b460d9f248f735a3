#ifndef STOKER_SERVER_READ_FORMATS_TAR_JSON_NUMBER_H_
#define STOKER_SERVER_READ_FORMATS_TAR_JSON_NUMBER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// A way into a JSON document: the keys of objects and the places in lists.
using JsonPath = std::vector<std::variant<std::string, uint64_t>>;

// Parses a path such as "$.a.b[0]" or "$['a b']". InvalidArgument says what is expected.
absl::StatusOr<JsonPath> ParseJsonPath(std::string_view text);

// A number of a JSON document.
struct JsonNumber {
  bool is_whole = false;  // it is written as a whole number and fits into int64
  int64_t whole = 0;
  double real = 0;  // in both cases
};

// Returns the number at `path` of a JSON document; where an object has a key twice, the later one counts, as in
// Python. DataLoss where the document is not JSON, or has no number there. Any bytes are safe: the document is walked
// through once, and nothing of it is kept.
absl::StatusOr<JsonNumber> NumberAt(std::string_view document, const JsonPath& path);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_JSON_NUMBER_H_
