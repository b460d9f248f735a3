#ifndef STOKER_COMMON_CONFIG_YAML_TREE_H_
#define STOKER_COMMON_CONFIG_YAML_TREE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

inline constexpr size_t kMaxYamlBytes = size_t{1} << 20;
inline constexpr size_t kMaxYamlLevels = 32;

// A place in a text. Lines and columns count from 1.
struct YamlPosition {
  int line = 1;
  int column = 1;
};

// A value in a YAML document, with its key if a mapping holds it. A plain value.
struct YamlNode {
  enum class Kind { kNothing, kScalar, kList, kMapping };

  Kind kind = Kind::kNothing;
  YamlPosition position;           // where the value begins; for kNothing, where its key begins
  std::string text;                // a scalar's text without quotes: UTF-8 without zero bytes
  std::vector<YamlNode> children;  // a list's elements, or a mapping's values with their keys
  std::string key;
  YamlPosition key_position;
};

// Parses the document in `text`; an empty one is kNothing. Repeated keys are kept. `file` is a name for errors.
//
// InvalidArgument, beginning with "FILE:LINE:COLUMN: ", if the text is not YAML, and for what a configuration does not
// need: more than kMaxYamlBytes or kMaxYamlLevels, anchors, aliases, tags, keys that are not text, a second document.
absl::StatusOr<YamlNode> ParseYamlTree(std::string_view text, const std::string& file);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_YAML_TREE_H_
