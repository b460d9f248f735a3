#include "server/read/formats/tar/json_number.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

using Json = nlohmann::json;

// Walks through a document and remembers the number at one path.
class Finder final : public nlohmann::json_sax<Json> {
 public:
  explicit Finder(const JsonPath& path) : path_(path) {}

  const std::optional<JsonNumber>& found() const { return found_; }

  bool null() override { return Skip(); }
  bool boolean(bool) override { return Skip(); }
  bool string(string_t&) override { return Skip(); }
  bool binary(binary_t&) override { return Skip(); }
  bool number_integer(number_integer_t value) override { return Take({true, value, static_cast<double>(value)}); }
  bool number_unsigned(number_unsigned_t value) override {
    const bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return Take({fits, fits ? static_cast<int64_t>(value) : 0, static_cast<double>(value)});
  }
  bool number_float(number_float_t value, const string_t&) override { return Take({false, 0, value}); }

  bool start_object(size_t) override { return Open(/*is_list=*/false); }
  bool start_array(size_t) override { return Open(/*is_list=*/true); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& key) override {
    if (on_path_.size() != depth_ || depth_ > path_.size()) return true;
    const auto* step = std::get_if<std::string>(&path_[depth_ - 1]);
    key_leads_on_ = step != nullptr && *step == key;
    if (key_leads_on_) found_.reset();
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  // A list or object that is open and lies on the path.
  struct Container {
    bool is_list;
    uint64_t next;  // place of a list
  };

  // Whether the value that begins here lies on the path.
  bool IsOnPath() {
    if (on_path_.size() != depth_ || depth_ > path_.size()) return false;
    if (depth_ == 0) return true;
    if (!on_path_.back().is_list) return key_leads_on_;
    const uint64_t place = on_path_.back().next++;
    const auto* step = std::get_if<uint64_t>(&path_[depth_ - 1]);
    return step != nullptr && *step == place;
  }

  bool Skip() {
    IsOnPath();
    return true;
  }

  bool Take(const JsonNumber& number) {
    if (IsOnPath() && depth_ == path_.size()) found_ = number;
    return true;
  }

  bool Open(bool is_list) {
    if (IsOnPath()) on_path_.push_back({is_list, 0});
    ++depth_;
    return true;
  }

  bool Close() {
    if (on_path_.size() == depth_) on_path_.pop_back();
    --depth_;
    return true;
  }

  const JsonPath& path_;
  size_t depth_ = 0;                // containers that are open
  std::vector<Container> on_path_;  // the outermost of them, at most one more than the path has steps
  bool key_leads_on_ = false;       // the last key of the innermost one on the path is the path's
  std::optional<JsonNumber> found_;
};

}  // namespace

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

absl::StatusOr<JsonNumber> NumberAt(std::string_view document, const JsonPath& path) {
  Finder finder(path);
  if (!Json::sax_parse(document.begin(), document.end(), &finder)) return absl::DataLossError("is not JSON");
  if (!finder.found().has_value()) return absl::DataLossError("has no number there");
  return *finder.found();
}

}  // namespace stoker
