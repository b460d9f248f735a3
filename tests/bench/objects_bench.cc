// bench-objects [FILES]: how long class folders of ImageNet's size in a bucket take to open from the index that was
// kept, and how much memory. The bucket is made up, so no network is in it.

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "server/read/formats/stored_folder/stored_folder.h"

namespace stoker {
namespace {

constexpr int kClasses = 1000;

std::string ClassName(uint64_t label) { return absl::StrFormat("n%08d", 1440764 + label * 7919); }

// Describes what is asked for, by a name that says its number.
class MadeUpBucket final : public Store {
 public:
  std::string description() const override { return "s3://made/up"; }
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing&) override { std::abort(); }
  absl::StatusOr<std::vector<std::string>> Folders() override {
    std::vector<std::string> folders;
    for (uint64_t label = 0; label < kClasses; ++label) folders.push_back(ClassName(label));
    return folders;
  }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override {
    std::vector<ObjectInfo> objects;
    for (const std::string& name : names) {
      uint64_t number = 0;
      if (!absl::SimpleAtoi(name.substr(name.find('_') + 1, 7), &number)) return absl::NotFoundError(name);
      objects.push_back(Object(number));
    }
    return objects;
  }
  void Read(const Range&, Done) override { std::abort(); }

  static ObjectInfo Object(uint64_t number) {
    return {absl::StrFormat("n_%07d.JPEG", number), 20'000 + number % 200'000,
            absl::StrFormat("\"%032x\"", number * 0x9E3779B97F4A7C15)};
  }
};

void WriteIndex(const std::string& cache, uint64_t files) {
  ObjectListing listing;
  for (uint64_t label = 0; label < kClasses; ++label) {
    const uint64_t end = files * (label + 1) / kClasses;
    for (uint64_t i = listing.index.files.size(); i < end; ++i) {
      const ObjectInfo object = MadeUpBucket::Object(i);
      listing.index.files.Add(ClassName(label) + object.name.substr(1), static_cast<uint32_t>(object.size));
      listing.versions.Add(object.version);
    }
    listing.index.classes.push_back({ClassName(label), end});
  }
  listing.fingerprint = FolderFingerprint(listing.index);
  const ListingKey key = {MadeUpBucket().description(), ""};
  STOKER_CHECK(StoreListing(ListingPath(cache, key), key, listing).ok());
}

// The most memory that the process has had, in MB.
double PeakMegabytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "VmHWM:") break;
  double kilobytes = 0;
  status >> kilobytes;
  return kilobytes / 1e3;
}

int Main(int argc, char** argv) {
  uint64_t files = 1'280'000;
  if (argc > 2 || (argc == 2 && !absl::SimpleAtoi(argv[1], &files)) || files < kClasses) {
    std::fprintf(stderr, "usage: bench-objects [FILES], at least %d\n", kClasses);
    return 2;
  }
  std::string cache = std::filesystem::temp_directory_path() / "bench-objects-XXXXXX";
  STOKER_CHECK(mkdtemp(cache.data()) != nullptr);
  // Another process writes, so that its memory is none of ours.
  const pid_t writer = fork();
  STOKER_CHECK(writer >= 0);
  if (writer == 0) {
    WriteIndex(cache, files);
    _exit(0);
  }
  int status = 0;
  STOKER_CHECK(waitpid(writer, &status, 0) == writer && status == 0);
  const double before = PeakMegabytes();
  const absl::Time begin = absl::Now();
  const auto folder = StoredFolder::Open(std::make_shared<MadeUpBucket>(), {.name = "bench", .cache_dir = cache});
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  STOKER_CHECK(folder.ok() && (*folder)->size() == files);
  std::printf("%d objects: opened in %.3f s, %.0f MB at most (%.0f MB before), %.0f MB afterwards\n",
              static_cast<int>(files), seconds, PeakMegabytes(), before, (*folder)->resident_bytes() / 1e6);
  std::filesystem::remove_all(cache);
  return 0;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
