#include "server/scan/scan.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/read/printable_name.h"
#include "server/scan/duplicates.h"
#include "server/scan/examiner.h"
#include "server/scan/scan_state.h"

namespace stoker {
namespace {

// A store far away gives many samples at once to many who ask. Readers wait for it, and only `workers` of them decode.
constexpr int kRemoteReaders = 64;

// Returns a SHA-256 of all that findings depend on.
std::string KeyOf(const Dataset& dataset, const ScanOptions& options) {
  Fingerprint key("stoker.scan.v1");
  key.AddBytes(dataset.fingerprint());
  key.AddNumber(dataset.size());
  key.AddNumber(options.max_pixels);
  return key.Finish();
}

// Returns a message of Dataset::Read without the names of dataset and sample before the reason, where it has them as
// SampleName says them. In a mix that name begins with the part's, which messages lack.
std::string ReasonOf(const std::string& name, const absl::Status& status) {
  const std::string message(status.message());
  for (const std::string& known : {name, name.substr(name.find('/') + 1)})
    if (const size_t at = message.find(known + ": "); at != std::string::npos)
      return message.substr(at + known.size() + 2);
  return message;
}

// Examiners that keep their buffers, for as many readers at once as may decode.
class Examiners {
 public:
  Examiners(int count, const ScanOptions& options) {
    for (int i = 0; i < count; ++i) free_.push_back(std::make_unique<Examiner>(options.max_pixels, options.stop));
  }

  // Waits until one is free. Give returns it.
  std::unique_ptr<Examiner> Take() ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](std::vector<std::unique_ptr<Examiner>>* free) { return !free->empty(); }, &free_));
    std::unique_ptr<Examiner> taken = std::move(free_.back());
    free_.pop_back();
    return taken;
  }

  void Give(std::unique_ptr<Examiner> examiner) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    free_.push_back(std::move(examiner));
  }

 private:
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Examiner>> free_ ABSL_GUARDED_BY(mutex_);
};

class Scanner {
 public:
  Scanner(const Dataset& dataset, const ScanOptions& options)
      : dataset_(dataset),
        options_(options),
        examiners_(options.workers, options),
        images_(std::count_if(dataset.schema().begin(), dataset.schema().end(),
                              [](const SourceField& field) { return field.kind == SourceField::Kind::kEncodedImage; })),
        examines_(std::any_of(dataset.schema().begin(), dataset.schema().end(),
                              [](const SourceField& field) { return field.kind != SourceField::Kind::kDense; })),
        known_(BlocksOf(dataset.size())),
        digests_(dataset.size()) {}

  absl::StatusOr<ScanReport> Run();

 private:
  absl::Status OpenState();
  void RunReader() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status ScanBlock(uint64_t number, SampleBytes& sample) ABSL_LOCKS_EXCLUDED(mutex_);

  // Scans sample `id` into `block`. Returns false where the storage did not give it.
  absl::StatusOr<bool> ScanSample(uint64_t id, SampleBytes& sample, ScannedBlock& block);

  // Takes up a whole block, and says so in the state if all of its samples were read.
  absl::Status Keep(ScannedBlock block, bool all_read) ABSL_LOCKS_EXCLUDED(mutex_, append_mutex_);

  void Count(uint64_t found) ABSL_LOCKS_EXCLUDED(mutex_);
  bool stopped() const { return options_.stop != nullptr && *options_.stop; }

  const Dataset& dataset_;
  const ScanOptions& options_;
  Examiners examiners_;
  const uint64_t images_;  // of a sample
  const bool examines_;    // whether a sample has anything that can be wrong once it is read

  std::atomic<uint64_t> next_block_ = 0;
  std::atomic<bool> ended_ = false;

  // Constant while readers run.
  std::vector<bool> known_;  // by block: whether an earlier run scanned it
  std::optional<ScanState> state_;

  // Each reader writes to the samples of its own block.
  std::vector<SampleDigest> digests_;

  absl::Mutex append_mutex_;  // held while the state file is appended to

  absl::Mutex mutex_;
  ScanReport report_ ABSL_GUARDED_BY(mutex_);
  absl::Status first_error_ ABSL_GUARDED_BY(mutex_);
};

absl::Status Scanner::OpenState() {
  ScanReport before;
  before.progress.samples = dataset_.size();
  const auto take = [&](ScannedBlock block) {
    if (known_[block.number]) return;
    known_[block.number] = true;
    before.progress.known += block.digests.size();
    before.progress.found += block.findings.size();
    std::copy(block.digests.begin(), block.digests.end(), digests_.begin() + block.number * kBlockSamples);
    std::move(block.findings.begin(), block.findings.end(), std::back_inserter(before.findings));
  };
  if (!options_.state_file.empty()) {
    STOKER_ASSIGN_OR_RETURN(state_,
                            ScanState::Open(options_.state_file, KeyOf(dataset_, options_), dataset_.size(), take));
  }
  const absl::MutexLock lock(&mutex_);
  report_ = std::move(before);
  if (options_.progress) options_.progress(report_.progress);
  return absl::OkStatus();
}

absl::StatusOr<ScanReport> Scanner::Run() {
  STOKER_RETURN_IF_ERROR(OpenState());
  const int readers = dataset_.stored() == nullptr ? options_.workers : std::max(options_.workers, kRemoteReaders);
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < readers && static_cast<uint64_t>(i) < known_.size(); ++i)
      running.emplace_back([this] { RunReader(); });
  }
  const absl::MutexLock lock(&mutex_);
  if (!first_error_.ok() && !absl::IsCancelled(first_error_)) return first_error_;
  report_.stopped = !first_error_.ok();
  if (report_.stopped) {
    report_.findings.clear();
    return std::move(report_);
  }
  auto duplicates = FindDuplicates(digests_, dataset_);
  std::move(duplicates.begin(), duplicates.end(), std::back_inserter(report_.findings));
  SortFindings(report_.findings);
  return std::move(report_);
}

void Scanner::RunReader() {
  SampleBytes sample;
  for (uint64_t number; !ended_ && (number = next_block_++) < known_.size();) {
    if (known_[number]) continue;
    const absl::Status status = stopped() ? absl::CancelledError("stopped") : ScanBlock(number, sample);
    if (status.ok()) continue;
    ended_ = true;
    const absl::MutexLock lock(&mutex_);
    first_error_.Update(status);
  }
}

absl::Status Scanner::ScanBlock(uint64_t number, SampleBytes& sample) {
  ScannedBlock block{.number = number};
  bool all_read = true;
  const uint64_t first = number * kBlockSamples;
  for (uint64_t id = first; id < first + SamplesOfBlock(number, dataset_.size()); ++id) {
    if (stopped()) return absl::CancelledError("stopped");
    const size_t before = block.findings.size();
    STOKER_ASSIGN_OR_RETURN(const bool read, ScanSample(id, sample, block));
    all_read &= read;
    Count(block.findings.size() - before);
  }
  return Keep(std::move(block), all_read);
}

absl::StatusOr<bool> Scanner::ScanSample(uint64_t id, SampleBytes& sample, ScannedBlock& block) {
  block.digests.emplace_back();
  const absl::Status read = dataset_.Read(id, sample);
  if (absl::IsResourceExhausted(read)) return read;
  if (!read.ok()) {
    const bool wrong = absl::IsDataLoss(read);
    block.findings.push_back({.id = id,
                              .kind = wrong ? FindingKind::kWrongField : FindingKind::kUnreadable,
                              .message = ReasonOf(dataset_.SampleName(id), read),
                              .other = id});
    return wrong;
  }
  block.digests.back() = DigestOf(dataset_.schema(), sample);
  if (!examines_) return true;
  auto examiner = examiners_.Take();
  const absl::Status status = examiner->Examine(id, dataset_.schema(), sample, block.findings);
  examiners_.Give(std::move(examiner));
  if (status.ok() || absl::IsCancelled(status)) return status.ok() ? absl::StatusOr<bool>(true) : status;
  return absl::Status(status.code(),
                      absl::StrCat("sample '", dataset_.SampleName(id), "' (id ", id, "): ", status.message()));
}

absl::Status Scanner::Keep(ScannedBlock block, bool all_read) {
  if (all_read && state_.has_value()) {
    const absl::MutexLock lock(&append_mutex_);
    STOKER_RETURN_IF_ERROR(state_->Append(block));
  }
  std::copy(block.digests.begin(), block.digests.end(), digests_.begin() + block.number * kBlockSamples);
  if (block.findings.empty()) return absl::OkStatus();
  SortFindings(block.findings);
  const absl::MutexLock lock(&mutex_);
  std::move(block.findings.begin(), block.findings.end(), std::back_inserter(report_.findings));
  return absl::OkStatus();
}

void Scanner::Count(uint64_t found) {
  const absl::MutexLock lock(&mutex_);
  ++report_.progress.scanned;
  report_.progress.images += images_;
  report_.progress.found += found;
  if (options_.progress) options_.progress(report_.progress);
}

}  // namespace

std::array<uint64_t, kFindingKinds> ScanReport::Counts() const {
  std::array<uint64_t, kFindingKinds> counts = {};
  for (const Finding& finding : findings)
    counts[static_cast<int>(finding.kind)] +=
        finding.kind == FindingKind::kUnreadable ? finding.other - finding.id + 1 : 1;
  return counts;
}

absl::StatusOr<ScanReport> Scan(const Dataset& dataset, const ScanOptions& options) {
  return Scanner(dataset, options).Run();
}

absl::Status RemoveState(const ScanOptions& options, const ScanReport& report) {
  const bool stays = report.stopped || report.Counts()[static_cast<int>(FindingKind::kUnreadable)] > 0;
  if (options.state_file.empty() || stays || unlink(options.state_file.c_str()) == 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot remove ", ShortPrintableName(options.state_file), ": ", ErrnoText(errno)));
}

}  // namespace stoker
