#include "server/read/content/content_dataset.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/check.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

// After so many samples a thread looks whether progress is to be told.
constexpr uint64_t kProgressStep = 64;

// Returns where the hashes of a dataset are kept: a name of 128 bits of the SHA-256 of what tells datasets apart.
// Copies at other paths are other datasets: each one's bytes are to be read.
std::string HashesPath(const std::string& cache_dir, const Dataset& dataset) {
  if (cache_dir.empty()) return "";
  Fingerprint name("stoker.content_file.v1");
  const std::string description = dataset.description();
  name.AddNumber(description.size());
  name.AddBytes(description);
  name.AddBytes(dataset.fingerprint());
  return absl::StrCat(cache_dir, "/content-", absl::BytesToHexString(name.Finish().substr(0, 16)), ".hashes");
}

// What threads that read all samples share.
struct Progress {
  absl::Mutex mutex;
  absl::Status status ABSL_GUARDED_BY(mutex);
  uint64_t done ABSL_GUARDED_BY(mutex) = 0;
  std::atomic<uint64_t> next = 0;
  std::atomic<bool> failed = false;
};

// While it lives, all fields of a sample are wanted: what is compared is the hash of all.
class Whole {
 public:
  explicit Whole(SampleBytes& sample) : sample_(sample), wanted_(std::exchange(sample.wanted, FieldSet::All())) {}
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  ~Whole() { sample_.wanted = wanted_; }

 private:
  SampleBytes& sample_;
  const FieldSet wanted_;
};

}  // namespace

ContentDataset::ContentDataset(std::unique_ptr<Dataset> dataset, const Options& options)
    : dataset_(std::move(dataset)), name_(options.name), path_(HashesPath(options.cache_dir, *dataset_)) {}

absl::StatusOr<std::unique_ptr<ContentDataset>> ContentDataset::Open(std::unique_ptr<Dataset> dataset,
                                                                     const Options& options) {
  std::unique_ptr<ContentDataset> opened(new ContentDataset(std::move(dataset), options));
  const std::string& path = opened->path_;
  absl::StatusOr<std::vector<SampleHashes>> hashes = absl::NotFoundError("none are kept");
  if (!path.empty()) hashes = LoadHashes(path, opened->fingerprint(), opened->size());
  if (!hashes.ok()) {
    if (!absl::IsNotFound(hashes.status()))
      opened->warnings_.push_back(absl::StrCat("read all samples anew; their hashes in ", ShortPrintableName(path),
                                               " cannot be used: ", hashes.status().message()));
    hashes = opened->ReadAll(options);
    STOKER_RETURN_IF_ERROR(hashes.status());
    const absl::Status stored = path.empty() ? absl::OkStatus() : StoreHashes(path, opened->fingerprint(), *hashes);
    if (!stored.ok())
      opened->warnings_.push_back(absl::StrCat("all samples will be read again at the next start: ", stored.message()));
  }
  opened->content_ = ContentOf(*hashes);
  opened->quick_.reserve(hashes->size());
  for (const SampleHashes& one : *hashes) opened->quick_.push_back(one.quick);
  return opened;
}

absl::StatusOr<std::vector<SampleHashes>> ContentDataset::ReadAll(const Options& options) const {
  std::vector<SampleHashes> hashes(size());
  Progress progress;
  const auto work = [&] {
    SampleBytes sample;
    uint64_t done = 0;
    for (uint64_t id; !progress.failed && (id = progress.next++) < size(); ++done) {
      const absl::Status read = dataset_->Read(id, sample);
      if (read.ok()) hashes[id] = HashesOf(sample);
      if (read.ok() && (done + 1) % kProgressStep != 0) continue;
      absl::MutexLock lock(&progress.mutex);
      progress.status.Update(read);
      progress.failed = !progress.status.ok();
      progress.done += kProgressStep;
      if (options.progress) options.progress(progress.done);
    }
  };
  const auto threads = std::min<uint64_t>(std::max(options.threads, 1), size());
  std::vector<std::thread> workers;
  for (uint64_t i = 0; i < threads; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  absl::MutexLock lock(&progress.mutex);
  STOKER_RETURN_IF_ERROR(progress.status);
  return hashes;
}

uint64_t ContentDataset::resident_bytes() const {
  return dataset_->resident_bytes() + quick_.capacity() * sizeof(quick_[0]);
}

absl::Status ContentDataset::Read(uint64_t id, SampleBytes& sample) const {
  const Whole whole(sample);
  STOKER_RETURN_IF_ERROR(dataset_->Read(id, sample));
  return Check(id, sample);
}

absl::Status ContentDataset::Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const {
  const Whole whole(sample);
  STOKER_RETURN_IF_ERROR(dataset_->stored()->Parse(id, stored, sample));
  return Check(id, sample);
}

absl::Status ContentDataset::Check(uint64_t id, const SampleBytes& sample) const {
  STOKER_CHECK(id < quick_.size());
  if (QuickHashOf(sample) == quick_[id]) return absl::OkStatus();
  const std::string again = path_.empty() ? "" : absl::StrCat(" remove ", ShortPrintableName(path_), " and");
  return absl::UnavailableError(
      absl::StrCat(name_, name_.empty() ? "" : ": ", dataset_->SampleName(id),
                   ": changed since it was indexed: it has as many bytes, but others; restore it, or", again,
                   " restart the server to index all bytes anew"));
}

}  // namespace stoker
