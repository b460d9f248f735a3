#include "server/read/formats/tar/wids_index.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

// Whether `url` is a relative path that stays below its folder.
bool StaysBelow(const std::string& url) {
  if (url.empty() || url[0] == '/' || url.find("://") != url.npos || url.find('\0') != url.npos) return false;
  const std::vector<std::string> steps = absl::StrSplit(url, '/');
  return std::none_of(steps.begin(), steps.end(),
                      [](const std::string& step) { return step.empty() || step == "." || step == ".."; });
}

}  // namespace

absl::StatusOr<std::vector<WidsShard>> ParseWidsIndex(std::string_view text) {
  const auto wrong = [](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("is no list of shards as wids writes them: ", what));
  };
  const Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return wrong("it is no JSON object");
  const auto list = json.find("shardlist");
  if (list == json.end() || !list->is_array() || list->empty()) return wrong("it has no `shardlist`");
  std::vector<WidsShard> shards;
  for (const Json& entry : *list) {
    const auto get = [&](const char* key) { return entry.is_object() && entry.contains(key) ? entry[key] : Json(); };
    const Json url = get("url"), samples = get("nsamples");
    if (!url.is_string() || !samples.is_number_unsigned()) return wrong("an entry has no `url` or no `nsamples`");
    const auto& name = url.get_ref<const std::string&>();
    if (!StaysBelow(name))
      return wrong(absl::StrCat(ShortPrintableName(name),
                                " is no path below the list's own folder; put the list beside "
                                "its shards, and let its URLs be relative"));
    shards.push_back({name, samples.get<uint64_t>()});
  }
  return shards;
}

}  // namespace stoker
