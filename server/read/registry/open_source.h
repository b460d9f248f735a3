#ifndef STOKER_SERVER_READ_REGISTRY_OPEN_SOURCE_H_
#define STOKER_SERVER_READ_REGISTRY_OPEN_SOURCE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/stores/store.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

// This file and its .cc alone know all stores. A new one takes a folder under server/read/stores with a class derived
// from Store, a message in proto/stoker/v1/config.proto, and its lines in OpenStore.

// Objects of a store, found by the paths of a configuration.
struct Source {
  std::shared_ptr<Store> store;
  std::vector<ObjectInfo> objects;  // in the bytewise order of their names; none twice
  bool is_folder = false;           // the only path is a folder, and `objects` is all that it has

  // The index beside the shards, where a listing has it (kPublishedIndex). It is none of `objects`.
  std::optional<ObjectInfo> index;

  // Whether the only path is a folder that the store cannot list, and `objects` is empty; then why it cannot.
  bool is_unlisted = false;
  absl::Status listed;
};

// A path of a configuration in two: the longest folder without braces and wildcards, and the rest.
struct SplitPath {
  std::string root;     // "/data", "s3://bucket/train", "https://host/sets"
  std::string pattern;  // "t-{0000..0146}.tar"; empty where the path is the folder
};

// Splits `path`, which is a folder if it ends with '/', or if `is_folder` says so of a local path.
SplitPath Split(const std::string& path, const std::function<bool(const std::string&)>& is_folder);

// Whether `path` is a URL, rather than a local path.
bool IsUrl(const std::string& path);

// Opens the store at `root`, by its scheme. InvalidArgument for an unknown one.
absl::StatusOr<std::shared_ptr<Store>> OpenStore(const std::string& root, const v1::DatasetConfig& config);

struct SourceOptions {
  Store::Progress progress = nullptr;  // of listing, if set
  uint64_t most = ~uint64_t{};         // objects of a folder are enough, whichever they are
  bool may_be_unlisted = false;        // else a folder that the store cannot list is its error
};

// Finds the objects that `paths` stand for, below the folder that they have in common. A folder stands for all below
// it, braces for each name of theirs, wildcards for what a listing has. NotFound where there is none; InvalidArgument
// where paths are of several stores, or none is given.
absl::StatusOr<Source> OpenSource(const std::vector<std::string>& paths, const v1::DatasetConfig& config,
                                  const SourceOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_REGISTRY_OPEN_SOURCE_H_
