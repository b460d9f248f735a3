#ifndef STOKER_SERVER_READ_STORES_OBJECT_NAMES_H_
#define STOKER_SERVER_READ_STORES_OBJECT_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stoker {

// Patterns of object names, as shells and WebDataset have them. All functions are pure.

// The most names that braces may stand for.
inline constexpr size_t kMostBraceNames = 1 << 20;

// Returns the names that `pattern` stands for, in its order: {a,b} for each of its parts, {0000..0146} for each number
// of the range with as many digits as its ends have. Braces nest. A pattern without braces stands for itself.
// InvalidArgument for braces that do not close, a range without end or above kMostBraceNames.
absl::StatusOr<std::vector<std::string>> ExpandBraces(absl::string_view pattern);

// Whether `name` has a '*', '?' or '['.
bool HasWildcards(absl::string_view name);

// Whether `name` is one that `pattern` stands for: '*' for any characters but '/', '?' for one, [a-z] for one of a set.
bool MatchesWildcards(const std::string& name, const std::string& pattern);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_OBJECT_NAMES_H_
