#include "server/read/registry/open_source.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "server/read/index/published_index.h"
#include "server/read/printable_name.h"
#include "server/read/stores/curl/http_client.h"
#include "server/read/stores/http/http_store.h"
#include "server/read/stores/local/local_store.h"
#include "server/read/stores/object_names.h"
#include "server/read/stores/s3/s3_store.h"

namespace stoker {
namespace {

bool IsLocalFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

absl::Status Named(const std::string& path, const absl::Status& status) { return NamedError(path, status); }

// Returns the longest folder that both lie in.
std::string CommonFolder(const std::string& a, const std::string& b) {
  size_t common = 0;
  for (size_t i = 0; i <= std::min(a.size(), b.size()); ++i) {
    const bool ends = (i == a.size() || a[i] == '/') && (i == b.size() || b[i] == '/');
    if (ends) common = i;
    if (i == a.size() || i == b.size() || a[i] != b[i]) break;
  }
  return a.substr(0, common);
}

std::string Join(const std::string& folder, const std::string& name) {
  return folder.empty() || name.empty() ? folder + name : absl::StrCat(folder, "/", name);
}

// Returns the number of characters that a URL's scheme and host take, or that a local path begins with.
size_t HostBytes(const std::string& path) {
  const size_t scheme = path.find("://");
  if (scheme == path.npos) return absl::StartsWith(path, "/") ? 1 : 0;
  return std::min(path.size(), path.find('/', scheme + 3));
}

// Returns `path` with a '/' behind it where it is a prefix of keys of a bucket, rather than a key.
absl::StatusOr<std::string> WithSlashOfFolder(const std::string& path, const v1::DatasetConfig& config) {
  const SplitPath split = Split(path, IsLocalFolder);
  if (!absl::StartsWith(path, "s3://") || split.pattern.empty() || split.pattern.find_first_of("{*?[") != path.npos)
    return path;
  STOKER_ASSIGN_OR_RETURN(const auto store, OpenStore(split.root, config));
  if (!absl::IsNotFound(store->Describe({split.pattern}).status())) return path;
  STOKER_ASSIGN_OR_RETURN(const auto below, store->List({.prefix = split.pattern + "/", .most = 1}));
  return below.empty() ? path : path + "/";
}

// Adds the objects that one path stands for. Names are percent-encoded in `pattern` where it `is_encoded`, as URLs are.
absl::Status AddObjects(const std::string& pattern, bool is_encoded, Store& store, const SourceOptions& options,
                        std::vector<ObjectInfo>& objects) {
  if (pattern.empty() || absl::EndsWith(pattern, "/")) {
    STOKER_ASSIGN_OR_RETURN(auto listed, store.List({pattern, options.most, options.progress}));
    std::move(listed.begin(), listed.end(), std::back_inserter(objects));
    return absl::OkStatus();
  }
  STOKER_ASSIGN_OR_RETURN(const auto names, ExpandBraces(pattern));
  std::vector<std::string> plain;
  for (const std::string& name : names) {
    if (!HasWildcards(name)) {
      plain.push_back(is_encoded ? PercentDecoded(name) : name);
      continue;
    }
    STOKER_ASSIGN_OR_RETURN(
        auto listed, store.List({.prefix = name.substr(0, name.find_first_of("*?[")), .progress = options.progress}));
    std::erase_if(listed, [&](const ObjectInfo& object) { return !MatchesWildcards(object.name, name); });
    if (listed.empty()) return absl::NotFoundError(absl::StrCat("nothing matches ", ShortPrintableName(name)));
    std::move(listed.begin(), listed.end(), std::back_inserter(objects));
  }
  if (plain.empty()) return absl::OkStatus();
  STOKER_ASSIGN_OR_RETURN(auto described, store.Describe(plain));
  std::move(described.begin(), described.end(), std::back_inserter(objects));
  return absl::OkStatus();
}

// Moves the index that a listing has among the objects to its place.
void TakeIndex(Source& source) {
  const auto found = std::find_if(source.objects.begin(), source.objects.end(),
                                  [](const ObjectInfo& object) { return object.name == kPublishedIndex; });
  if (found == source.objects.end()) return;
  source.index = *found;
  std::erase_if(source.objects, [](const ObjectInfo& object) { return object.name == kPublishedIndex; });
}

}  // namespace

bool IsUrl(const std::string& path) {
  const size_t scheme = path.find("://");
  return scheme != path.npos && scheme > 0 &&
         std::all_of(path.begin(), path.begin() + static_cast<ptrdiff_t>(scheme),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+'; });
}

SplitPath Split(const std::string& path, const std::function<bool(const std::string&)>& is_folder) {
  absl::string_view whole = path;
  if (!IsUrl(path) && is_folder(path)) {
    while (whole.size() > 1 && absl::ConsumeSuffix(&whole, "/")) {
    }
    return {std::string(whole), ""};
  }
  const size_t fixed = std::min(path.size(), path.find_first_of("{*?["));
  const size_t slash = path.rfind('/', fixed == path.size() ? fixed : fixed - (fixed > 0 ? 1 : 0));
  const size_t host = HostBytes(path);
  if (slash == path.npos || slash < host) return {path.substr(0, host), path.substr(std::min(path.size(), host))};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

absl::StatusOr<std::shared_ptr<Store>> OpenStore(const std::string& root, const v1::DatasetConfig& config) {
  if (!IsUrl(root)) {
    STOKER_ASSIGN_OR_RETURN(auto store, LocalStore::Open(root.empty() ? "." : root));
    return std::shared_ptr<Store>(std::move(store));
  }
  const std::string scheme = root.substr(0, root.find("://"));
  if (scheme == "http" || scheme == "https") {
    STOKER_ASSIGN_OR_RETURN(auto store, HttpStore::Open(root, config.http()));
    return std::shared_ptr<Store>(std::move(store));
  }
  if (scheme == "s3") {
    STOKER_ASSIGN_OR_RETURN(auto store, S3Store::Open(root, config.s3()));
    return std::shared_ptr<Store>(std::move(store));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("this server knows no store for '", scheme, "://': http://, https:// and s3:// are known"));
}

absl::StatusOr<Source> OpenSource(const std::vector<std::string>& paths, const v1::DatasetConfig& config,
                                  const SourceOptions& options) {
  if (paths.empty()) return absl::InvalidArgumentError("path: give a folder, a file or a URL");
  std::vector<SplitPath> split;
  for (const std::string& path : paths) {
    auto whole = WithSlashOfFolder(path, config);
    if (!whole.ok()) return Named(path, whole.status());
    split.push_back(Split(*whole, IsLocalFolder));
  }
  std::string root = split[0].root;
  for (size_t i = 1; i < split.size(); ++i) {
    root = CommonFolder(root, split[i].root);
    if (root.size() < HostBytes(paths[0]) || HostBytes(paths[0]) != HostBytes(paths[i]))
      return absl::InvalidArgumentError(absl::StrCat("path: ", ShortPrintableName(paths[0]), " and ",
                                                     ShortPrintableName(paths[i]), " lie in different stores"));
  }
  Source source;
  source.is_folder = paths.size() == 1 && split[0].pattern.empty();
  auto store = OpenStore(root, config);
  if (!store.ok()) return Named(root, store.status());
  source.store = *std::move(store);
  for (size_t i = 0; i < paths.size(); ++i) {
    std::string below = split[i].root.substr(root.size());
    while (absl::StartsWith(below, "/")) below.erase(0, 1);
    if (split[i].pattern.empty() && !below.empty()) below += "/";
    const absl::Status found = AddObjects(Join(below, split[i].pattern), IsUrl(root) && absl::StartsWith(root, "http"),
                                          *source.store, options, source.objects);
    if (absl::IsUnimplemented(found) && source.is_folder && options.may_be_unlisted) {
      source.is_folder = false;
      source.is_unlisted = true;
      source.listed = Named(paths[i], found);
      return source;
    }
    if (!found.ok()) return Named(paths[i], found);
  }
  const auto by_name = [](const ObjectInfo& a, const ObjectInfo& b) { return a.name < b.name; };
  std::sort(source.objects.begin(), source.objects.end(), by_name);
  TakeIndex(source);
  const auto twice = std::adjacent_find(source.objects.begin(), source.objects.end(),
                                        [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != source.objects.end())
    return absl::InvalidArgumentError(absl::StrCat("path: ", ShortPrintableName(twice->name), " is given twice"));
  if (source.objects.empty())
    return absl::NotFoundError(absl::StrCat(ShortPrintableName(paths[0]), ": there is nothing"));
  return source;
}

}  // namespace stoker
