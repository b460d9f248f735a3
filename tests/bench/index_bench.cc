// bench-index [--files N] [--classes N] [--runs N] [--json FILE]: how long a dataset of ImageNet's size takes to open
// by its manifest, against its floor, reading the same bytes with plain read(2). Both find the file in the page cache.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/check.h"
#include "server/read/formats/folder/image_folder.h"
#include "server/read/formats/folder/manifest.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

std::string ClassName(int label) { return absl::StrFormat("n%08d", 1440764 + label * 7919); }

// Makes an empty class folder, last changed long ago: a recent change would be no ground for trust.
FolderListing::Directory MakeDirectory(const fs::path& root, const std::string& path) {
  fs::create_directories(root / path);
  const timespec times[2] = {{1'600'000'000, 0}, {1'600'000'000, 123'456'789}};
  STOKER_CHECK(utimensat(AT_FDCWD, (root / path).c_str(), times, 0) == 0);
  return {path, {times[1].tv_sec, times[1].tv_nsec}};
}

// The listing of a folder whose class folders exist, though the files do not.
FolderListing MakeListing(const fs::path& root, int classes, uint64_t files) {
  FolderListing listing;
  listing.began_seconds = std::time(nullptr);
  for (int label = 0; label < classes; ++label) {
    const std::string name = ClassName(label);
    listing.directories.push_back(MakeDirectory(root, name));
    const uint64_t end = files * (label + 1) / classes;
    FileList in_class;
    for (uint64_t i = listing.index.files.size(); i < end; ++i)
      in_class.Add(absl::StrFormat("%s_%d.JPEG", name, i), 20'000 + i % 200'000);
    listing.index.files.Append(in_class.Sorted());
    listing.index.classes.push_back({name, end});
  }
  listing.directories.push_back(MakeDirectory(root, "."));
  listing.fingerprint = FolderFingerprint(listing.index);
  return listing;
}

double SecondsToOpen(const fs::path& root, const fs::path& cache, uint64_t files) {
  v1::ImageFolder config;
  config.set_path(root);
  const absl::Time begin = absl::Now();
  const auto folder = ImageFolder::Open(config, {"bench", cache});
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  // Without the manifest the empty class folders would be an error.
  STOKER_CHECK(folder.ok() && (*folder)->size() == files);
  return seconds;
}

double SecondsToRead(const std::string& path) {
  const absl::Time begin = absl::Now();
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  STOKER_CHECK(fstat(file.number(), &status) == 0);
  std::vector<char> bytes(status.st_size);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(file.number(), bytes.data() + done, bytes.size() - done);
    STOKER_CHECK(got > 0);
    done += got;
  }
  return absl::ToDoubleSeconds(absl::Now() - begin);
}

struct Figures {
  uint64_t files = 0, manifest_bytes = 0;
  double open_seconds = 1e9, read_seconds = 1e9;  // The least of all runs.
};

Figures Measure(const fs::path& scratch, int classes, uint64_t files, int runs) {
  const fs::path root = scratch / "dataset", cache = scratch / "cache";
  const FolderListing listing = MakeListing(root, classes, files);
  const std::string canonical = fs::canonical(root);
  const std::string manifest = ManifestPath(cache, canonical);
  const absl::Status stored = StoreManifest(manifest, canonical, listing);
  STOKER_CHECK(stored.ok());
  Figures figures;
  figures.files = files;
  figures.manifest_bytes = fs::file_size(manifest);
  for (int run = 0; run < runs; ++run) {
    figures.read_seconds = std::min(figures.read_seconds, SecondsToRead(manifest));
    figures.open_seconds = std::min(figures.open_seconds, SecondsToOpen(root, cache, files));
  }
  return figures;
}

void Print(const Figures& figures) {
  std::printf("index: %llu files, manifest of %.1f MB\n", static_cast<unsigned long long>(figures.files),
              figures.manifest_bytes / 1e6);
  std::printf("  open by manifest  %.4f s\n  read(2) alone     %.4f s\n  ratio             %.1f\n",
              figures.open_seconds, figures.read_seconds, figures.open_seconds / figures.read_seconds);
}

bool WriteJson(const std::string& path, const Figures& figures) {
  std::ofstream file(path);
  file << absl::StrFormat(
      "{\"bench\": \"index\", \"files\": %d, \"manifest_bytes\": %d, \"open_seconds\": %.6f, \"read_seconds\": %.6f, "
      "\"ratio\": %.3f}\n",
      figures.files, figures.manifest_bytes, figures.open_seconds, figures.read_seconds,
      figures.open_seconds / figures.read_seconds);
  file.close();
  return static_cast<bool>(file);
}

int Main(int argc, char** argv) {
  uint64_t files = 1'280'000;
  int classes = 1000, runs = 5;
  std::string json;
  CLI::App app("Times opening a dataset of ImageNet's size by its manifest");
  app.add_option("--files", files, "Samples")->capture_default_str()->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--classes", classes, "Class folders, at most one a sample")->capture_default_str();
  app.add_option("--runs", runs, "The fastest counts")->capture_default_str()->check(CLI::Range(1, 1000));
  app.add_option("--json", json, "Also write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  if (classes < 1 || static_cast<uint64_t>(classes) > files) {
    std::fprintf(stderr, "bench-index: --classes must be 1 to --files\n");
    return 2;
  }
  std::string scratch = fs::temp_directory_path() / "bench-index-XXXXXX";
  STOKER_CHECK(mkdtemp(scratch.data()) != nullptr);
  const Figures figures = Measure(scratch, classes, files, runs);
  fs::remove_all(scratch);
  Print(figures);
  if (json.empty() || WriteJson(json, figures)) return 0;
  std::fprintf(stderr, "bench-index: cannot write %s\n", json.c_str());
  return 1;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
