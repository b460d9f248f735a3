#ifndef STOKER_SERVER_READ_FORMATS_TAR_JSON_PATH_H_
#define STOKER_SERVER_READ_FORMATS_TAR_JSON_PATH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// Every element of a list.
struct EveryElement {
  bool operator==(const EveryElement&) const = default;
};

// A way into a JSON document: the keys of objects and the places in lists.
using JsonPath = std::vector<std::variant<std::string, uint64_t, EveryElement>>;

// Parses a path such as "$.a.b[0]", "$['a b']" or "$.objects[*].bbox". InvalidArgument says what is expected.
absl::StatusOr<JsonPath> ParseJsonPath(std::string_view text);

// Whether a path leads to many values, by a step into every element.
bool LeadsToMany(const JsonPath& path);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_JSON_PATH_H_
