// bench-objects [FILES]: how long a dataset of ImageNet's size in a bucket takes to open, and how much memory: class
// folders by the index that was kept, and tar shards by the index that lies beside them. The bucket is made up, so no
// network is in it.

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
#include "server/read/formats/tar/web_dataset.h"
#include "server/read/index/index_file.h"
#include "server/read/registry/index_beside.h"
#include "server/read/stored/stored_dataset.h"

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

// Shards of a made-up bucket, and the index beside them, which is a file here.
class MadeUpShards final : public Store {
 public:
  explicit MadeUpShards(std::string index) : index_(std::move(index)) {}

  std::string description() const override { return "s3://made/shards"; }
  bool is_remote() const override { return true; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing&) override {
    std::vector<ObjectInfo> objects;
    for (uint64_t i = 0; i < kShards; ++i) objects.push_back(Shard(i));
    objects.push_back({kPublishedIndex, std::filesystem::file_size(index_), "1"});
    return objects;
  }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>&) override { std::abort(); }

  // The index alone may be read.
  void Read(const Range& range, Done done) override {
    STOKER_CHECK(range.object->name == kPublishedIndex);
    std::ifstream file(index_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(range.offset));
    file.read(reinterpret_cast<char*>(range.into.data()), static_cast<std::streamsize>(range.into.size()));
    STOKER_CHECK(file.good());
    done(absl::OkStatus());
  }

  static ObjectInfo Shard(uint64_t i) {
    return {absl::StrFormat("imagenet-train-%06d.tar", i), uint64_t{1} << 30, absl::StrFormat("\"%032x\"", i)};
  }

  static constexpr uint64_t kShards = 1000;

 private:
  const std::string index_;
};

// The beginning of a tar file: a member `name` of `bytes` zeros.
std::string TarMemberOf(const std::string& name, size_t bytes) {
  std::string member(512 + (bytes + 511) / 512 * 512, '\0');
  const auto put = [&](size_t at, const std::string& text) { member.replace(at, text.size(), text); };
  put(0, name);
  put(124, absl::StrFormat("%011o", bytes));
  put(148, "        ");
  put(156, "0");
  put(257, "ustar");
  int sum = 0;
  for (size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(member[i]);
  put(148, absl::StrFormat("%06o", sum));
  return member;
}

v1::WebDataset TarFields() {
  v1::WebDataset config;
  (*config.mutable_fields())["image"].set_from("jpg");
  (*config.mutable_fields())["label"].set_from("cls");
  return config;
}

void WritePublished(const std::string& path, uint64_t samples) {
  PublishedIndex published{.source = "webdataset", .store = "s3://made/shards"};
  // What the format reads first: one sample, and the end.
  std::string first = TarMemberOf("0.jpg", 1000) + TarMemberOf("0.cls", 1);
  first.resize(4 << 20);
  first[512 + 1024 + 512] = '7';
  published.first_reads.push_back({MadeUpShards::Shard(0), 0, first});
  ShardIndex index;
  index.parts = 2;
  for (uint64_t i = 0; i < MadeUpShards::kShards; ++i) {
    ShardIndex::Rows rows(2);
    const uint64_t end = samples * (i + 1) / MadeUpShards::kShards;
    for (uint64_t id = index.size(), offset = 512; id < end; ++id, offset += 120'320) {
      const auto bytes = static_cast<uint32_t>(20'000 + id % 90'000);
      rows.Add(absl::StrFormat("n%08d/n%08d_%d", 1440764 + id % kClasses, 1440764 + id % kClasses, id),
               {offset, bytes + 2049}, {{0, bytes}, {bytes + 2048, 1}});
    }
    published.names.push_back(MadeUpShards::Shard(i).name);
    index.Append(MadeUpShards::Shard(i), rows);
  }
  std::vector<ObjectInfo> objects = {MadeUpShards::Shard(0)};
  ReplayingStore replaying(std::make_shared<MadeUpShards>(path), published.first_reads, {});
  const auto format = WebDataset::Create(TarFields(), replaying, objects);
  STOKER_CHECK(format.ok());
  published.body = SerializeIndex({published.store, (*format)->identity()}, index);
  STOKER_CHECK(WriteFileAtomically(path, SerializePublished(published)).ok());
}

// Opens as the registry does, which would want a bucket.
std::unique_ptr<StoredDataset> OpenPublished(const std::string& path) {
  Source source{.store = std::make_shared<MadeUpShards>(path), .is_folder = true};
  source.objects = *source.store->List({});
  source.index = source.objects.back();
  source.objects.pop_back();
  IndexBeside beside = IndexBeside::Find(source);
  const auto replaying = beside.Replaying(source.store);
  auto format = WebDataset::Create(TarFields(), *replaying, source.objects);
  STOKER_CHECK(format.ok());
  StoredDataset::Options options{.name = "bench"};
  options.beside = [&](const ShardFormat& of, const std::vector<ObjectInfo>& objects) {
    return IndexFromBody(*beside.TakeBody("webdataset"), beside.place(), of, objects);
  };
  auto dataset = StoredDataset::Open(source.store, source.objects, *std::move(format), options);
  STOKER_CHECK(dataset.ok() && (*dataset)->warnings().empty());
  return *std::move(dataset);
}

// Runs `work` in a process of its own, so that its memory is nobody else's.
template <typename Work>
void Apart(const Work& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  STOKER_CHECK(child >= 0);
  if (child == 0) {
    work();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  STOKER_CHECK(waitpid(child, &status, 0) == child && status == 0);
}

template <typename Open>
void Measure(const char* what, uint64_t samples, const Open& open) {
  const double before = PeakMegabytes();
  const absl::Time begin = absl::Now();
  const std::unique_ptr<Dataset> dataset = open();
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  STOKER_CHECK(dataset->size() == samples);
  std::printf("%d %s: opened in %.3f s, %.0f MB at most (%.0f MB before), %.0f MB afterwards\n",
              static_cast<int>(samples), what, seconds, PeakMegabytes(), before, dataset->resident_bytes() / 1e6);
}

int Main(int argc, char** argv) {
  uint64_t files = 1'280'000;
  if (argc > 2 || (argc == 2 && !absl::SimpleAtoi(argv[1], &files)) || files < kClasses) {
    std::fprintf(stderr, "usage: bench-objects [FILES], at least %d\n", kClasses);
    return 2;
  }
  std::string cache = std::filesystem::temp_directory_path() / "bench-objects-XXXXXX";
  STOKER_CHECK(mkdtemp(cache.data()) != nullptr);
  const std::string published = cache + "/" + kPublishedIndex;
  Apart([&] { WriteIndex(cache, files); });
  Apart([&] { WritePublished(published, files); });
  Apart([&] {
    Measure("objects in class folders", files, [&]() -> std::unique_ptr<Dataset> {
      auto folder = StoredFolder::Open(std::make_shared<MadeUpBucket>(), {.name = "bench", .cache_dir = cache});
      STOKER_CHECK(folder.ok());
      return *std::move(folder);
    });
  });
  Apart([&] {
    Measure("samples in 1000 tar shards, by the index beside them", files,
            [&]() -> std::unique_ptr<Dataset> { return OpenPublished(published); });
  });
  std::filesystem::remove_all(cache);
  return 0;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
