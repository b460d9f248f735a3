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

// Line and column, from 1.
struct YamlPosition {
  int line = 1;
  int column = 1;
};

// A value in a YAML document, and its key if a mapping holds it. Plain value.
struct YamlNode {
  enum class Kind { kNothing, kScalar, kList, kMapping };

  Kind kind = Kind::kNothing;
  YamlPosition position;  // Of nothing: its key's.
  std::string text;       // Of a scalar, quotes removed: UTF-8 without zero bytes.
  std::vector<YamlNode> children;
  std::string key;
  YamlPosition key_position;
};

// The document in `text`, or nothing if it is empty. InvalidArgument, beginning with "FILE:LINE:COLUMN: ", for what
// is not YAML and for what a configuration has no use for: more than kMaxYamlBytes or kMaxYamlLevels, anchors,
// aliases, tags, keys that are not text, a second document. Repeated keys are kept.
absl::StatusOr<YamlNode> ParseYamlTree(std::string_view text, const std::string& file);

}  // namespace stoker

#endif  // STOKER_COMMON_CONFIG_YAML_TREE_H_
