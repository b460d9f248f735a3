#include "client/capi/option_reader.h"

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/nearest_word.h"
#include "common/config/text.h"
#include "common/config/yaml_tree.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr double kMostSeconds = 365 * 86400.0;

// Throws an exception where the parser lets pass what is refused here.
class StrictKeys {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    if (depth >= static_cast<int>(kMaxYamlLevels))
      throw std::invalid_argument(absl::StrCat("nested deeper than ", kMaxYamlLevels, " levels"));
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key && !open_.back().insert(value.get<std::string>()).second)
      throw std::invalid_argument(absl::StrCat("key '", Shown(value.get<std::string>()), "' is there twice"));
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;  // For each object around, the keys so far.
};

std::string ShownValue(const Json& value) {
  if (value.is_string()) return absl::StrCat("'", Shown(value.get<std::string>()), "'");
  return Shown(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

absl::StatusOr<Json> ParseJson(const char* text, const std::string& name) {
  if (text == nullptr) return absl::InvalidArgumentError(absl::StrCat(name, ": a null pointer in place of JSON"));
  StrictKeys strict;
  try {
    return Json::parse(text,
                       [&](int depth, Json::parse_event_t event, Json& value) { return strict(depth, event, value); });
  } catch (const Json::exception& error) {
    const std::string what = error.what();  // "[json.exception.parse_error.101] …"
    const size_t end = what.find("] ");
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", end == what.npos ? what : what.substr(end + 2)));
  } catch (const std::invalid_argument& error) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", error.what()));
  }
}

OptionReader::OptionReader(const Json& json, std::string name) : json_(json), name_(std::move(name)) {
  if (!json.is_object())
    status_ = absl::InvalidArgumentError(absl::StrCat(name_, ": expected an object, found ", ShownValue(json)));
}

void OptionReader::Fail(const std::string& key, const std::string& what) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(name_, ".", key, ": ", what));
}

void OptionReader::Expected(const std::string& key, const std::string& want, const Json& found) {
  Fail(key, absl::StrCat("expected ", want, ", found ", ShownValue(found)));
}

const Json* OptionReader::Find(const std::string& key) {
  known_.push_back(key);
  if (!json_.is_object()) return nullptr;
  const auto at = json_.find(key);
  return at == json_.end() || at->is_null() ? nullptr : &*at;
}

void OptionReader::Read(const std::string& key, std::string& text) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_string()) return Expected(key, "text", *value);
  text = value->get<std::string>();
}

void OptionReader::Read(const std::string& key, std::vector<std::string>& texts) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  const auto is_text = [](const Json& element) { return element.is_string(); };
  if (!value->is_array() || !std::all_of(value->begin(), value->end(), is_text))
    return Expected(key, "a list of texts", *value);
  texts = value->get<std::vector<std::string>>();
}

void OptionReader::Read(const std::string& key, std::vector<uint64_t>& numbers) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_array()) return Expected(key, "a list of whole numbers", *value);
  for (const Json& element : *value) {
    if (!element.is_number_unsigned()) return Expected(key, "whole numbers from 0 on", element);
    numbers.push_back(element.get<uint64_t>());
  }
}

void OptionReader::Read(const std::string& key, std::map<std::string, uint64_t>& whole_numbers) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_object()) return Expected(key, "an object of whole numbers", *value);
  for (const auto& [name, number] : value->items()) {
    if (!number.is_number_unsigned()) return Expected(key, "whole numbers", number);
    whole_numbers[name] = number.get<uint64_t>();
  }
}

void OptionReader::Read(const std::string& key, bool& flag) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return Expected(key, "true or false", *value);
  flag = value->get<bool>();
}

void OptionReader::Read(const std::string& key, absl::Duration& seconds) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  const double number = value->is_number() ? value->get<double>() : -1;
  if (!(number > 0 && number <= kMostSeconds)) return Expected(key, "seconds, above 0 and at most a year's", *value);
  seconds = absl::Seconds(number);
}

void OptionReader::Read(const std::string& key, std::optional<absl::Duration>& seconds) {
  absl::Duration given = absl::ZeroDuration();
  Read(key, given);
  if (given > absl::ZeroDuration()) seconds = given;
}

void OptionReader::Read(const std::string& key, double& number, double least, double most) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  const double given = value->is_number() ? value->get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(given >= least && given <= most))
    return Expected(key, absl::StrCat("a number from ", least, " to ", most), *value);
  number = given;
}

bool OptionReader::ReadInteger(const std::string& key, uint64_t least, uint64_t most, uint64_t& value) {
  const Json* found = Find(key);
  if (found == nullptr) return false;
  if (found->is_number_unsigned()) value = found->get<uint64_t>();
  if (found->is_number_unsigned() && value >= least && value <= most) return true;
  Expected(key, absl::StrCat("a whole number from ", least, " to ", most), *found);
  return false;
}

int OptionReader::ReadWord(const std::string& key, const std::vector<std::string>& words) {
  const Json* value = Find(key);
  if (value == nullptr) return -1;
  const std::string word = value->is_string() ? value->get<std::string>() : "";
  const auto at = std::find(words.begin(), words.end(), word);
  if (at != words.end()) return static_cast<int>(at - words.begin());
  Fail(key, absl::StrCat("expected one of ", absl::StrJoin(words, ", "), ", found ", ShownValue(*value),
                         DidYouMean(word, words)));
  return -1;
}

absl::Status OptionReader::Finish() const {
  if (!status_.ok()) return status_;
  for (const auto& [key, value] : json_.items())
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      return absl::InvalidArgumentError(absl::StrCat(name_, ".", Shown(key), ": unknown key", DidYouMean(key, known_)));
  return absl::OkStatus();
}

}  // namespace stoker
