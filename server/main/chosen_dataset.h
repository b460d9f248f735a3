#ifndef STOKER_SERVER_MAIN_CHOSEN_DATASET_H_
#define STOKER_SERVER_MAIN_CHOSEN_DATASET_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "server/config/settings.h"
#include "server/read/registry/open_dataset.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// Opens one dataset for a command that reads it and serves none. Blocks, with its progress on stderr, where it also
// writes the dataset's warnings.

// Returns the name of the dataset of `config` that `--dataset WANTED` says: the only one where that is empty.
// InvalidArgument says which there are; `verb` is what the command does: "scan".
absl::StatusOr<std::string> ChosenName(const v1::ServerConfig& config, const std::string& wanted,
                                       const std::string& verb);

// Returns `name` and the names of the datasets that it is mixed of.
std::set<std::string> WithParts(const v1::ServerConfig& config, const std::string& name);

// Opens the dataset called `name`, which `config` has, and those that it is mixed of. `settings` was resolved of
// `config`. Errors are those of OpenDataset.
absl::StatusOr<OpenedDataset> OpenChosen(const v1::ServerConfig& config, const Settings& settings,
                                         const std::string& name);

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_CHOSEN_DATASET_H_
