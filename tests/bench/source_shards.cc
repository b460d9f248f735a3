#include "tests/bench/source_shards.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "absl/strings/str_cat.h"
#include "tests/bench/table.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

// The environments that have the formats' writers.
const std::map<std::string, std::string> kPackages = {{kTar, "webdataset"}, {kTfRecord, "records"}, {kMds, "records"},
                                                      {kLmdb, "lmdb"},      {kParquet, "parquet"},  {kHdf5, "hdf5"}};

}  // namespace

const std::vector<std::string>& WrittenFormats() {
  static const std::vector<std::string> formats = {kTar, kTfRecord, kMds, kLmdb, kParquet, kHdf5};
  return formats;
}

std::string WriteShards(const std::string& format, const std::string& folder) {
  const std::filesystem::path build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  // Shards that another version of the writer made are not taken for its own.
  const std::string writer = absl::StrCat(STOKER_SOURCES_DIR, "/write_shards.py");
  std::ifstream script(writer);
  const std::string text{std::istreambuf_iterator<char>(script), {}};
  const std::string place = std::filesystem::canonical(folder).string();
  const std::string key = absl::StrCat(std::hash<std::string>()(absl::StrCat(place, "\n", text)));
  const std::filesystem::path out = build / "bench-shards" / key / format;
  if (std::filesystem::exists(out)) return out;
  Progress(absl::StrCat("writing ", format));
  std::filesystem::remove_all(out.string() + ".part");
  const Finished run = RunProgram({absl::StrCat(STOKER_SOURCES_DIR, "/run.sh"),
                                   absl::StrCat(STOKER_SOURCES_DIR, "/packages-", kPackages.at(format), ".txt"), writer,
                                   format, folder, out});
  if (run.status == 0) return out;
  std::fprintf(stderr, "\n%s is left out: %s%s\n", format.c_str(), run.out.c_str(), run.err.c_str());
  return "";
}

std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

v1::DatasetConfig ConfigOf(const std::string& format, const std::string& root, const std::vector<std::string>& files) {
  v1::DatasetConfig config;
  config.set_name("photographs");
  const auto add_files = [&](google::protobuf::RepeatedPtrField<std::string>& paths) {
    for (const std::string& file : files) paths.Add(absl::StrCat(root, "/", file));
  };
  if (format == kTar) add_files(*config.mutable_webdataset()->mutable_path());
  if (format == kTfRecord) add_files(*config.mutable_tfrecord()->mutable_path());
  if (format == kMds) config.mutable_mds()->add_path(root);
  if (format == kLmdb) config.mutable_lmdb()->add_path(absl::StrCat(root, "/data.mdb"));
  if (format == kParquet) add_files(*config.mutable_parquet()->mutable_path());
  if (format == kHdf5) add_files(*config.mutable_hdf5()->mutable_path());
  if (format == kFolder) config.mutable_image_folder()->set_path(root);
  return config;
}

}  // namespace stoker
