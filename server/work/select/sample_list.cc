// ReadLists of subset.h.

#include <cerrno>
#include <fstream>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/identity/dataset_name.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"
#include "server/read/stores/local/file.h"
#include "server/work/select/subset.h"

namespace stoker {
namespace {

// The lines of a list, and where each stands.
using Lines = std::unordered_map<std::string, uint64_t>;

absl::Status ListError(const v1::SampleList& list, absl::StatusCode code, absl::string_view reason) {
  return absl::Status(code, absl::StrCat("lists: '", ShortPrintableName(list.name()),
                                         "': ", ShortPrintableName(list.file()), ": ", reason));
}

absl::StatusOr<Lines> ReadLines(const v1::SampleList& list) {
  std::ifstream file(list.file());
  if (!file) {
    const int error = errno;
    return ListError(list, error == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable,
                     ErrnoText(error));
  }
  Lines lines;
  uint64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const auto [first, is_new] = lines.emplace(line, number);
    if (!is_new)
      return ListError(list, absl::StatusCode::kInvalidArgument,
                       absl::StrCat("line ", number, ": '", ShortPrintableName(line), "' stands in line ",
                                    first->second, " already"));
  }
  if (file.bad()) return ListError(list, absl::StatusCode::kUnavailable, "it cannot be read to its end");
  if (lines.empty()) return ListError(list, absl::StatusCode::kInvalidArgument, "it names no sample");
  return lines;
}

absl::StatusOr<SampleSet> ReadList(const v1::SampleList& list, const Dataset& dataset) {
  STOKER_ASSIGN_OR_RETURN(Lines lines, ReadLines(list));
  std::vector<uint64_t> words(dataset.size() / 64 + 1);
  for (uint64_t id = 0; id < dataset.size() && !lines.empty(); ++id)
    if (lines.erase(dataset.SampleName(id)) > 0) words[id / 64] |= uint64_t{1} << id % 64;
  if (lines.empty()) return SampleSet(std::move(words));
  const auto* first = &*lines.begin();
  for (const auto& line : lines)
    if (line.second < first->second) first = &line;
  return ListError(
      list, absl::StatusCode::kInvalidArgument,
      absl::StrCat("line ", first->second, ": the dataset has no sample '", ShortPrintableName(first->first),
                   "'; its first is '", ShortPrintableName(dataset.SampleName(0)), "'"));
}

}  // namespace

absl::StatusOr<SampleLists> ReadLists(const v1::DatasetConfig& config, const Dataset& dataset) {
  SampleLists lists;
  for (const v1::SampleList& list : config.lists()) {
    if (!IsDatasetName(list.name()))
      return ListError(list, absl::StatusCode::kInvalidArgument,
                       absl::StrCat("that cannot be a list's name, which is ", kDatasetNameRule));
    STOKER_ASSIGN_OR_RETURN(SampleSet set, ReadList(list, dataset));
    if (!lists.emplace(list.name(), std::make_shared<const SampleSet>(std::move(set))).second)
      return ListError(list, absl::StatusCode::kInvalidArgument, "another list has this name too");
  }
  return lists;
}

}  // namespace stoker
