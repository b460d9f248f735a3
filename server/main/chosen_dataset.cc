#include "server/main/chosen_dataset.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "server/main/progress_line.h"
#include "server/main/server.h"

namespace stoker {

std::set<std::string> WithParts(const v1::ServerConfig& config, const std::string& name) {
  std::set<std::string> names = {name};
  for (int i = config.datasets_size() - 1; i >= 0; --i) {  // A mix comes after its parts.
    const auto found = DatasetName(config.datasets(i));
    if (!found.ok() || !names.contains(*found)) continue;
    for (const v1::MixPart& part : config.datasets(i).mix().parts()) names.insert(part.dataset());
  }
  return names;
}

absl::StatusOr<std::string> ChosenName(const v1::ServerConfig& config, const std::string& wanted,
                                       const std::string& verb) {
  std::vector<std::string> names;
  for (const auto& dataset : config.datasets()) {
    STOKER_ASSIGN_OR_RETURN(names.emplace_back(), DatasetName(dataset));
  }
  if (names.empty())
    return absl::InvalidArgumentError(absl::StrCat("name what to ", verb, ": --data PATH, or --config FILE"));
  if (wanted.empty() && names.size() == 1) return names[0];
  if (std::find(names.begin(), names.end(), wanted) != names.end()) return wanted;
  return absl::InvalidArgumentError(absl::StrCat("--dataset ", wanted.empty() ? "is missing" : wanted,
                                                 ": the configuration has ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<OpenedDataset> OpenChosen(const v1::ServerConfig& config, const Settings& settings,
                                         const std::string& wanted) {
  const std::set<std::string> names = WithParts(config, wanted);
  std::map<std::string, std::shared_ptr<const Dataset>> parts;
  ProgressLine line;
  OpenDatasetOptions options{.cache_dir = settings.cache_dir};
  options.progress = [&line](uint64_t samples) {
    if (line.IsDue()) line.Show(absl::StrFormat("indexing: %d samples so far", samples));
  };
  options.content_progress = [&line](uint64_t samples) {
    if (line.IsDue()) line.Show(absl::StrFormat("reading all bytes for their hashes: %d samples so far", samples));
  };
  const auto staged = [&line](uint64_t taken, uint64_t of) {
    if (line.IsDue()) line.Show(absl::StrFormat("decompressing shards: %d of %d bytes so far", taken, of));
  };
  options.staging = OpenStaging(settings, staged);
  options.find = [&parts](const std::string& name) { return parts.contains(name) ? parts.at(name) : nullptr; };
  for (const auto& dataset : config.datasets()) {
    STOKER_ASSIGN_OR_RETURN(const std::string name, DatasetName(dataset));
    if (!names.contains(name)) continue;
    auto opened = OpenDataset(dataset, options);
    line.Clear();
    STOKER_RETURN_IF_ERROR(opened.status());
    for (const std::string& warning : opened->warnings)
      std::fprintf(stderr, "dataset '%s': %s\n", name.c_str(), warning.c_str());
    if (name == wanted) return opened;
    parts[name] = std::move(opened->dataset);
  }
  return absl::InternalError("the dataset that was chosen is not there");
}

}  // namespace stoker
