#include "server/read/formats/tar/json_path.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace stoker {

absl::StatusOr<JsonPath> ParseJsonPath(std::string_view text) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("'", std::string(text), "' is no path such as $.class_id or $.boxes[0].x"));
  };
  if (!text.starts_with('$')) return wrong();
  JsonPath path;
  std::string_view rest = text.substr(1);
  while (!rest.empty()) {
    size_t end = 0;
    if (rest[0] == '.') {
      end = std::min(rest.find_first_of(".[", 1), rest.size());
      if (end == 1) return wrong();
      path.emplace_back(std::string(rest.substr(1, end - 1)));
    } else if (rest.starts_with("['")) {
      const size_t close = rest.find("']", 2);
      if (close == rest.npos) return wrong();
      path.emplace_back(std::string(rest.substr(2, close - 2)));
      end = close + 2;
    } else if (rest.starts_with("[*]")) {
      path.emplace_back(EveryElement());
      end = 3;
    } else {
      const size_t close = rest.find(']');
      uint64_t place = 0;
      if (rest[0] != '[' || close == rest.npos || close < 2 || !absl::ascii_isdigit(rest[1]) ||
          !absl::SimpleAtoi(absl::string_view(rest.data() + 1, close - 1), &place))
        return wrong();
      path.emplace_back(place);
      end = close + 1;
    }
    rest.remove_prefix(end);
  }
  return path;
}

bool LeadsToMany(const JsonPath& path) {
  return std::any_of(path.begin(), path.end(),
                     [](const auto& step) { return std::holds_alternative<EveryElement>(step); });
}

}  // namespace stoker
