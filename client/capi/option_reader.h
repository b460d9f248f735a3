#ifndef STOKER_CLIENT_CAPI_OPTION_READER_H_
#define STOKER_CLIENT_CAPI_OPTION_READER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace stoker {

// Parses the JSON document `text`, which errors call `name`. InvalidArgument where it is no JSON, has a key twice in
// one object, or is nested deeper than YAML may be.
absl::StatusOr<nlohmann::json> ParseJson(const char* text, const std::string& name);

// Reads the keys of one JSON object, each at most once. Where there is no key, or null, the target stays as it was. The
// first error is kept for Finish(): "options.batch_size: expected …, found …". Used by one thread at a time. `json`
// must outlive it.
class OptionReader {
 public:
  // Errors begin with `name`, such as "options".
  OptionReader(const nlohmann::json& json, std::string name);

  // The value at `key`, or null where there is none.
  const nlohmann::json* Find(const std::string& key);

  void Read(const std::string& key, std::string& text);
  void Read(const std::string& key, std::vector<std::string>& texts);
  void Read(const std::string& key, bool& flag);
  void Read(const std::string& key, std::vector<uint64_t>& numbers);                  // Whole ones.
  void Read(const std::string& key, std::map<std::string, uint64_t>& whole_numbers);  // An object of them.
  void Read(const std::string& key, absl::Duration& seconds);                         // The number must be above 0.
  void Read(const std::string& key, std::optional<absl::Duration>& seconds);

  // Reads a number from `least` to `most`.
  void Read(const std::string& key, double& number, double least, double most);

  // Reads a whole number from `least` to `most`.
  template <typename Integer>
  void Read(const std::string& key, Integer& number, uint64_t least, uint64_t most) {
    uint64_t value = 0;
    if (ReadInteger(key, least, most, value)) number = static_cast<Integer>(value);
  }

  // Reads one of `words`, and stores the value beside it.
  template <typename Value>
  void Read(const std::string& key, Value& value, const std::vector<std::pair<std::string, Value>>& words) {
    std::vector<std::string> spellings;
    spellings.reserve(words.size());
    for (const auto& word : words) spellings.push_back(word.first);
    const int index = ReadWord(key, spellings);
    if (index >= 0) value = words[index].second;
  }

  // Keeps an error of the caller's own, unless there is one already.
  void Fail(const std::string& key, const std::string& what);

  // The first error, or one that names a key that nothing asked for, or OK.
  absl::Status Finish() const;

 private:
  bool ReadInteger(const std::string& key, uint64_t least, uint64_t most, uint64_t& value);
  int ReadWord(const std::string& key, const std::vector<std::string>& words);
  void Expected(const std::string& key, const std::string& want, const nlohmann::json& found);

  const nlohmann::json& json_;
  const std::string name_;
  std::vector<std::string> known_;
  absl::Status status_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_CAPI_OPTION_READER_H_
