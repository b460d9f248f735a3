#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "client/cli/commands.h"
#include "client/cli/contact_sheet.h"
#include "client/cli/flags.h"
#include "client/cli/host_use.h"
#include "client/cli/output_file.h"
#include "client/cli/progress.h"
#include "client/cli/report.h"
#include "client/cli/state_file.h"
#include "client/cli/stop_signal.h"
#include "client/loader/epoch_digest.h"
#include "client/loader/loader.h"
#include "common/check.h"
#include "common/fields/span_layout.h"
#include "common/status_macros.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

constexpr char kBenchExamples[] = R"(Examples:
  stoker bench --servers cpu1:7077,cpu2:7077
      One epoch with the default pipeline: throughput, where the time goes, and what to change for more.
  stoker bench --servers cpu1:7077 --pipeline train.yaml --batch-size 256 --batches 500
      The first 500 batches, over as many epochs as that takes.
  stoker bench --servers cpu1:7077 --digest --sheet sheet.png --json figures.json
      Also the epoch's SHA-256, equal however many servers made it; a picture of the first batch; the figures as JSON.
  stoker bench --servers cpu1:7077 --world-size 8 --rank 0
      What one of 8 GPUs' processes would get.
  stoker bench --servers cpu1:7077 --batches 500 --state job.state
      500 batches, and with the same command the 500 after them. FILE holds the epoch and position of the whole job, as
      Loader::State() in C++ and state_dict() in Python do: any number of servers and ranks goes on from it.)";

constexpr size_t kMostSubstituted = 5;  // listed
constexpr int64_t kSheetTiles = 32;
constexpr absl::Duration kBetweenLooks = absl::Milliseconds(200);  // At GPUs, which tell of the last part of a second.

struct BenchFlags {
  SourceFlags source;
  JobFlags job;
  uint64_t epochs = 0;   // 0: one, or as many as `batches` take.
  uint64_t batches = 0;  // 0: all
  int64_t prefetch = 0;
  int64_t rank = -1, world_size = -1;
  std::string last_batch = "partial";
  bool digest = false, quiet = false;
  std::string sheet, json, state;
};

LastBatch LastBatchOf(const std::string& word) {
  if (word == "drop") return LastBatch::kDrop;
  if (word == "pad") return LastBatch::kPad;
  STOKER_CHECK(word == "partial");
  return LastBatch::kPartial;
}

double CpuSeconds(const timeval& time) { return time.tv_sec + time.tv_usec / 1e6; }

double ProcessCpuSeconds() {
  rusage usage;
  STOKER_CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  return CpuSeconds(usage.ru_utime) + CpuSeconds(usage.ru_stime);
}

double ThreadCpuSeconds() {
  timespec time;
  STOKER_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return time.tv_sec + time.tv_nsec / 1e9;
}

absl::Status CheckFlags(const BenchFlags& flags) {
  if (flags.digest && (flags.world_size > 1 || flags.batches > 0 || flags.last_batch == "drop"))
    return absl::InvalidArgumentError(
        "--digest needs whole epochs: leave --world-size, --batches and --last-batch drop out");
  STOKER_RETURN_IF_ERROR(CheckWritable(flags.sheet));
  return CheckWritable(flags.json);
}

absl::StatusOr<std::unique_ptr<Loader>> OpenLoader(const BenchFlags& flags, const Source& source) {
  LoaderOptions options = LoaderOptionsFor(source, flags.job);
  options.prefetch = flags.prefetch;
  options.rank = flags.rank < 0 && flags.world_size > 0 ? 0 : flags.rank;
  options.world_size = flags.world_size;
  options.last_batch = LastBatchOf(flags.last_batch);
  return Loader::Create(std::move(options));
}

// Takes batches from a loader, and measures.
class Bench {
 public:
  // The loader stands where `saved` says, and `digest` is of the epoch so far if one is to be taken.
  Bench(const BenchFlags& flags, const SavedState& saved, std::unique_ptr<EpochDigest> digest,
        const std::string& dataset, Loader& loader);

  // Until what the flags ask for is done, or an error.
  absl::Status Run();

  // Call once.
  Figures TakeFigures(bool interrupted);

  const std::optional<Picture>& sheet() const { return sheet_; }

  // The digest of the epoch that was not read to its end; null if there is none.
  const EpochDigest* digest() const { return digest_.get(); }

 private:
  uint64_t BatchesToCome() const;
  absl::Status RunEpoch();
  absl::Status Take(const Batch& batch);
  absl::Status Digest(const Batch& batch);
  bool Done() const { return flags_.batches > 0 && batches_ >= flags_.batches; }

  const BenchFlags& flags_;
  const SavedState& saved_;
  Loader& loader_;
  Progress progress_;
  const absl::Time begun_ = SteadyNow();
  const double cpu_begun_ = ProcessCpuSeconds();
  HostUse host_;
  absl::Time looked_ = begun_;
  uint64_t batches_ = 0, samples_ = 0;
  std::unique_ptr<EpochDigest> digest_;
  std::optional<Picture> sheet_;
  Figures figures_;
};

Bench::Bench(const BenchFlags& flags, const SavedState& saved, std::unique_ptr<EpochDigest> digest,
             const std::string& dataset, Loader& loader)
    : flags_(flags),
      saved_(saved),
      loader_(loader),
      progress_(BatchesToCome(), flags.quiet),
      digest_(std::move(digest)) {
  const v1::DescribeResponse& description = loader.description();
  figures_.dataset = dataset;
  figures_.fingerprint = absl::BytesToHexString(description.identity().fingerprint());
  figures_.sample_bytes =
      SpanLayout(std::vector<v1::Field>(description.fields().begin(), description.fields().end())).typical_bytes();
  figures_.parallelism = description.parallelism();
  figures_.state = flags.state;
  figures_.from = saved.cursor;
}

uint64_t Bench::BatchesToCome() const {
  if (flags_.epochs == 0 && flags_.batches > 0) return flags_.batches;
  const uint64_t whole_epochs = std::max<uint64_t>(1, flags_.epochs) - 1;
  const uint64_t all = BatchesLeft(loader_, saved_.cursor.position) + whole_epochs * loader_.batches_per_epoch();
  return flags_.batches > 0 ? std::min(flags_.batches, all) : all;
}

absl::Status Bench::Run() {
  const uint64_t most = flags_.epochs > 0 ? flags_.epochs : flags_.batches > 0 ? UINT64_MAX : 1;
  for (uint64_t epoch = 0; epoch < most && !Done(); ++epoch) {
    if (flags_.digest && epoch > 0) digest_ = std::make_unique<EpochDigest>();
    STOKER_RETURN_IF_ERROR(RunEpoch());
  }
  return absl::OkStatus();
}

absl::Status Bench::RunEpoch() {
  while (!Done()) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Batch> batch, loader_.Next());
    if (!batch.has_value()) break;
    STOKER_RETURN_IF_ERROR(Take(*batch));
  }
  return absl::OkStatus();
}

// Adds a batch to the epoch's digest, which is the figures' with the last one.
absl::Status Bench::Digest(const Batch& batch) {
  STOKER_RETURN_IF_ERROR(digest_->Add(batch));
  if (digest_->samples() < loader_.description().identity().samples()) return absl::OkStatus();
  figures_.digests.push_back(digest_->Hex());
  digest_.reset();
  return absl::OkStatus();
}

absl::Status Bench::Take(const Batch& batch) {
  const double cpu_begun = ThreadCpuSeconds();
  if (++batches_ == 1) figures_.first_batch_seconds = absl::ToDoubleSeconds(SteadyNow() - begun_);
  samples_ += batch.real();
  for (const Substituted& substituted : batch.substituted())
    if (figures_.substituted.size() < kMostSubstituted) figures_.substituted.push_back(substituted);
  const bool wants_sheet = !flags_.sheet.empty() && !sheet_.has_value();
  if (batches_ == 1 || wants_sheet) {
    const Tensor* images = FindImages(batch.server_tensors());
    figures_.images = images != nullptr;
    if (wants_sheet && images != nullptr && batch.size() > 0) sheet_ = ContactSheet(*images, kSheetTiles);
  }
  if (digest_ != nullptr) STOKER_RETURN_IF_ERROR(Digest(batch));
  progress_.Update(batches_, samples_);
  if (SteadyNow() - looked_ >= kBetweenLooks) {
    host_.Look();
    looked_ = SteadyNow();
  }
  figures_.own_seconds += ThreadCpuSeconds() - cpu_begun;
  return absl::OkStatus();
}

Figures Bench::TakeFigures(bool interrupted) {
  figures_.seconds = absl::ToDoubleSeconds(SteadyNow() - begun_);
  figures_.cpu_seconds = ProcessCpuSeconds() - cpu_begun_ - figures_.own_seconds;
  figures_.host_cpu_share = host_.cpu_share();
  figures_.gpu_shares = host_.gpu_shares();
  figures_.stats = loader_.stats();
  figures_.interrupted = interrupted;
  figures_.to = CursorOf(loader_);
  return std::move(figures_);
}

absl::Status Report(const BenchFlags& flags, Figures figures, const std::optional<Picture>& sheet) {
  if (sheet.has_value()) {
    STOKER_ASSIGN_OR_RETURN(const std::string png, EncodePng(*sheet));
    STOKER_RETURN_IF_ERROR(WriteFile(flags.sheet, png));
    figures.sheet = flags.sheet;
  } else if (!flags.sheet.empty()) {
    std::fprintf(stderr, "stoker: no sheet: the pipeline's fields hold no images of height × width × 3 bytes\n");
  }
  std::fputs(ToText(figures).c_str(), stdout);
  return flags.json.empty() ? absl::OkStatus() : WriteFile(flags.json, ToJson(figures));
}

absl::StatusOr<int> RunBench(const BenchFlags& flags) {
  STOKER_RETURN_IF_ERROR(CheckFlags(flags));
  StopSignal signal;
  STOKER_ASSIGN_OR_RETURN(const Source source, OpenSource(flags.source));
  STOKER_ASSIGN_OR_RETURN(const auto loader, OpenLoader(flags, source));
  STOKER_ASSIGN_OR_RETURN(const SavedState saved, RestoreFrom(flags.state, *loader));
  std::unique_ptr<EpochDigest> digest;
  if (flags.digest) {
    STOKER_ASSIGN_OR_RETURN(digest, BeginDigest(saved));
  }
  const StopSignal::Handler cancel(signal, [&] { loader->Cancel(); });
  std::optional<Bench> bench(std::in_place, flags, saved, std::move(digest), source.dataset, *loader);
  const absl::Status status = bench->Run();
  const absl::Status kept = SaveTo(flags.state, *loader, bench->digest());
  if (!status.ok() && signal.exit_code() == 0) return Both(status, kept);
  Figures figures = bench->TakeFigures(!status.ok());
  const std::optional<Picture> sheet = bench->sheet();
  bench.reset();  // And with it the progress.
  STOKER_RETURN_IF_ERROR(Both(Report(flags, std::move(figures), sheet), kept));
  return status.ok() ? 0 : signal.exit_code();
}

}  // namespace

void AddBench(CLI::App& app, Command& chosen) {
  CLI::App* command = app.add_subcommand("bench", "Read epochs as a training loop would, and say where the time goes");
  const auto flags = std::make_shared<BenchFlags>();
  AddSourceFlags(*command, flags->source);
  AddJobFlags(*command, flags->job);
  command
      ->add_option("--epochs", flags->epochs,
                   "Epochs to read, the rest of a begun one too [1; with --batches as many as they take]")
      ->check(Silent(CLI::Range(uint64_t{1}, uint64_t{1} << 32)))
      ->type_name("N");
  command->add_option("--batches", flags->batches, "Stop after so many batches")
      ->check(Silent(CLI::Range(uint64_t{1}, uint64_t{1} << 32)))
      ->type_name("N");
  command->add_option("--prefetch", flags->prefetch, "Batches asked for ahead [what keeps servers busy]")
      ->check(Silent(CLI::Range(int64_t{1}, int64_t{1} << 20)))
      ->type_name("N");
  command->add_option("--world-size", flags->world_size, "Ranks of the job [WORLD_SIZE, or 1]")
      ->check(Silent(CLI::Range(int64_t{1}, int64_t{1} << 30)))
      ->type_name("N");
  command->add_option("--rank", flags->rank, "The one to read for [RANK, or 0]")
      ->check(Silent(CLI::Range(int64_t{0}, int64_t{1} << 30)))
      ->type_name("N");
  command
      ->add_option("--last-batch", flags->last_batch,
                   "What becomes of a rest smaller than a batch: drop, pad or partial [partial]")
      ->check(Silent(CLI::IsMember({"drop", "pad", "partial"})))
      ->type_name("MODE");
  command->add_flag("--digest", flags->digest, "Print each epoch's SHA-256");
  command->add_option("--sheet", flags->sheet, "Write a contact sheet of the first batch's images")
      ->type_name("FILE.png");
  command->add_option("--json", flags->json, "Write the figures as JSON as well")->type_name("FILE");
  AddStateFlag(*command,
               "Go on where FILE says, if it is there; at the end or on Ctrl-C, save there where this stopped",
               flags->state);
  command->add_flag("--quiet", flags->quiet, "No progress on stderr");
  command->footer(kBenchExamples);
  command->callback([flags, &chosen] { chosen = [flags] { return RunBench(*flags); }; });
}

}  // namespace stoker
