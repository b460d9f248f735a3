#include "server/prepare/shards.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/prepare/file_maker.h"
#include "server/prepare/prepare.h"
#include "server/prepare/sample_keys.h"
#include "server/prepare/shard_builder.h"
#include "server/prepare/shard_ledger.h"
#include "server/read/for_each.h"
#include "server/read/formats/folder/prepared_folder.h"
#include "server/read/printable_name.h"
#include "server/read/stores/local/file.h"

namespace stoker {
namespace {

// So many files and bytes of the source are made at once, and then put into shards in their order.
constexpr uint64_t kFilesOfWorker = 32;
constexpr uint64_t kBytesAtOnce = uint64_t{128} << 20;

// A sample that was made and waits to be put into a shard.
struct Made {
  std::vector<std::vector<uint8_t>> values;  // of each column
  std::string problem;
};

class ShardPreparation {
 public:
  ShardPreparation(const PrepareOptions& options, const v1::Prepared& prepared, const SampleSource& source,
                   std::vector<ShardColumn> columns, OutputFolder out)
      : options_(options),
        prepared_(prepared),
        source_(source),
        dataset_(source.dataset()),
        columns_(std::move(columns)),
        keys_(source),
        out_(std::move(out)),
        tars_(CreateTarBuilder(columns_)),
        mds_(CreateMdsBuilder(columns_, options.shard_bytes)),
        builder_(options.format == PreparedFormat::kMds ? *mds_ : *tars_) {
    report_.progress.files = dataset_.size();
  }

  absl::StatusOr<PrepareReport> Run();

 private:
  // Removes what killed runs and, where the state is CLEARING, other settings left. Fails if there is anything that no
  // run wrote.
  absl::Status CleanUp();

  // Returns the samples that are in no shard. Fails where the shards hold samples that the source has no longer.
  absl::StatusOr<std::vector<uint64_t>> FindMissing() const;

  absl::Status CheckShards() const;
  absl::Status TakeClasses() const;
  absl::Status MakeAll(const std::vector<uint64_t>& ids);

  // Makes the samples ids[begin] to ids[end − 1], in parallel.
  absl::StatusOr<std::vector<Made>> MakeSome(const std::vector<uint64_t>& ids, uint64_t begin, uint64_t end);
  absl::StatusOr<Made> MakeOne(FileMaker& maker, SampleBytes& sample, uint64_t id);

  absl::Status Add(uint64_t id, Made made);
  absl::Status FinishShard();
  absl::Status Finish();

  absl::Status Write(const std::string& name, std::string_view bytes) const;
  absl::Status Error(absl::StatusCode code, const std::string& text) const {
    return {code, absl::StrCat("--out ", out_.path(), ": ", text)};
  }
  bool stopped() const { return options_.stop != nullptr && *options_.stop; }

  const PrepareOptions& options_;
  const v1::Prepared& prepared_;
  const SampleSource& source_;
  const Dataset& dataset_;
  const std::vector<ShardColumn> columns_;
  const SampleKeys keys_;

  // Of the thread that called Run.
  OutputFolder out_;
  const std::unique_ptr<ShardBuilder> tars_, mds_;
  ShardBuilder& builder_;
  std::optional<ShardLedger> ledger_;
  LedgerEntry entry_;  // of the shard that is being built
  std::vector<std::unique_ptr<FileMaker>> makers_;
  std::vector<SampleBytes> samples_;  // of each maker's thread

  absl::Mutex mutex_;
  PrepareReport report_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<PrepareReport> ShardPreparation::Run() {
  STOKER_RETURN_IF_ERROR(CleanUp());
  // A folder that has anything says first what it is.
  const bool was_whole = out_.state() == v1::PREPARED_STATE_COMPLETE;
  if (!was_whole) STOKER_RETURN_IF_ERROR(out_.SetState(v1::PREPARED_STATE_UNFINISHED));
  STOKER_ASSIGN_OR_RETURN(ledger_, ShardLedger::Open(out_.path()));
  STOKER_ASSIGN_OR_RETURN(const std::vector<uint64_t> missing, FindMissing());
  STOKER_RETURN_IF_ERROR(CheckShards());
  STOKER_RETURN_IF_ERROR(TakeClasses());
  const bool was_complete = missing.empty() && was_whole;
  {
    const absl::MutexLock lock(&mutex_);
    report_.was_complete = was_complete;
    report_.progress.done = dataset_.size() - missing.size();
    if (options_.progress) options_.progress(report_.progress);
  }
  absl::Status made;
  if (!was_complete) {
    STOKER_RETURN_IF_ERROR(out_.SetState(v1::PREPARED_STATE_UNFINISHED));
    made = MakeAll(missing);
    if (!made.ok() && !absl::IsCancelled(made)) return made;
    if (made.ok()) STOKER_RETURN_IF_ERROR(Finish());
  }
  const absl::MutexLock lock(&mutex_);
  report_.stopped = !made.ok();
  report_.shards = ledger_->entries().size();
  report_.progress.done = 0;  // What was made for a shard that is not whole is made again.
  for (const LedgerEntry& entry : ledger_->entries()) {
    report_.progress.done += entry.files.size();
    for (const LedgerEntry::File& file : entry.files)
      if (!file.problem.empty()) report_.problems.push_back({PrintableName(file.path), file.problem});
  }
  return std::move(report_);
}

absl::Status ShardPreparation::CleanUp() {
  const bool clearing = out_.state() == v1::PREPARED_STATE_CLEARING;
  std::vector<std::string> others, leftovers;
  std::error_code error;
  for (std::filesystem::directory_iterator entries(out_.path(), error), end; !error && entries != end;
       entries.increment(error)) {
    const std::string name = entries->path().filename();
    const bool ours = tars_->IsName(name) || mds_->IsName(name) || name == ShardLedger::kFile || name == kClassesFile;
    if (absl::EndsWith(name, ".tmp") || absl::EndsWith(name, ".part") || (ours && clearing)) {
      leftovers.push_back(name);
    } else if (!ours && name != kPreparedFile) {
      others.push_back(name);
    }
  }
  if (error) return Error(absl::StatusCode::kUnavailable, error.message());
  if (!others.empty())
    return Error(absl::StatusCode::kFailedPrecondition,
                 absl::StrCat("holds '", ShortPrintableName(*std::min_element(others.begin(), others.end())),
                              "', which is none of the shards; remove it, or name another --out"));
  if (clearing) STOKER_RETURN_IF_ERROR(out_.SetState(v1::PREPARED_STATE_CLEARING));
  for (const std::string& name : leftovers) STOKER_RETURN_IF_ERROR(out_.Remove(name));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> ShardPreparation::FindMissing() const {
  std::unordered_map<std::string, uint64_t> held;  // sizes by path
  for (const LedgerEntry& entry : ledger_->entries())
    for (const LedgerEntry::File& file : entry.files) held.emplace(file.path, file.size);
  const auto refuse = [&](const std::string& path, const char* what) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 absl::StrCat("its shards hold '", ShortPrintableName(path), "', which --data ", what,
                              "; shards are never changed: make them anew by --overwrite"));
  };
  std::vector<uint64_t> missing;
  for (uint64_t id = 0; id < dataset_.size(); ++id) {
    const std::string path = source_.NameOf(id);
    const auto found = held.find(path);
    if (found == held.end()) {
      missing.push_back(id);
      continue;
    }
    if (found->second != dataset_.StoredBytes(id)) return refuse(path, "has with another size");
    held.erase(found);
  }
  if (held.empty()) return missing;
  const auto by_path = [](const auto& a, const auto& b) { return a.first < b.first; };
  return refuse(std::min_element(held.begin(), held.end(), by_path)->first, "lacks now");
}

absl::Status ShardPreparation::CheckShards() const {
  for (const LedgerEntry& entry : ledger_->entries()) {
    struct stat status;
    const std::string path = absl::StrCat(out_.path(), "/", entry.shard.name);
    if (stat(path.c_str(), &status) == 0 && static_cast<uint64_t>(status.st_size) == entry.shard.bytes) continue;
    return Error(absl::StatusCode::kFailedPrecondition,
                 absl::StrCat(ShortPrintableName(entry.shard.name),
                              " is gone, or has another size than it was written "
                              "with; restore it, or make all shards anew by --overwrite"));
  }
  return absl::OkStatus();
}

// Checks that the classes which shards have keep their labels, and writes them all.
absl::Status ShardPreparation::TakeClasses() const {
  const std::vector<std::string> names = source_.Classes();
  std::ifstream file(absl::StrCat(out_.path(), "/", kClassesFile));
  size_t known = 0;
  for (std::string line; std::getline(file, line); ++known)
    if (!ledger_->entries().empty() && (known >= names.size() || names[known] != line))
      return Error(
          absl::StatusCode::kFailedPrecondition,
          absl::StrCat("its shards have the class '", line, "' with the label ", known,
                       ", which it has no longer in --data: classes came before it, or it went. Labels in shards "
                       "are never changed: make them anew by --overwrite"));
  if (known == names.size() && (names.empty() || !ledger_->entries().empty())) return absl::OkStatus();
  std::string text;
  for (const std::string& name : names) absl::StrAppend(&text, name, "\n");
  return Write(kClassesFile, text);
}

absl::Status ShardPreparation::MakeAll(const std::vector<uint64_t>& ids) {
  for (int i = 0; i < options_.workers; ++i) makers_.push_back(CreateFileMaker(prepared_));
  samples_.resize(options_.workers);
  for (uint64_t begin = 0, end = 0; begin < ids.size(); begin = end) {
    uint64_t bytes = 0;
    while (end < ids.size() && end - begin < kFilesOfWorker * options_.workers && bytes < kBytesAtOnce)
      bytes += dataset_.StoredBytes(ids[end++]);
    STOKER_ASSIGN_OR_RETURN(std::vector<Made> made, MakeSome(ids, begin, end));
    for (uint64_t i = begin; i < end; ++i) STOKER_RETURN_IF_ERROR(Add(ids[i], std::move(made[i - begin])));
  }
  return builder_.samples() > 0 ? FinishShard() : absl::OkStatus();
}

absl::StatusOr<std::vector<Made>> ShardPreparation::MakeSome(const std::vector<uint64_t>& ids, uint64_t begin,
                                                             uint64_t end) {
  std::vector<Made> made(end - begin);
  STOKER_RETURN_IF_ERROR(ForEach(made.size(), options_.workers, [&](int worker, uint64_t i) -> absl::Status {
    if (stopped()) return absl::CancelledError("stopped");
    STOKER_ASSIGN_OR_RETURN(made[i], MakeOne(*makers_[worker], samples_[worker], ids[begin + i]));
    return absl::OkStatus();
  }));
  return made;
}

absl::StatusOr<Made> ShardPreparation::MakeOne(FileMaker& maker, SampleBytes& sample, uint64_t id) try {
  STOKER_RETURN_IF_ERROR(dataset_.Read(id, sample));
  Made made;
  uint64_t bytes_in = 0, bytes_out = 0, scaled = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    std::vector<uint8_t>& value = sample.fields[i];
    if (columns_[i].kind == ShardColumn::Kind::kLabel) continue;
    bytes_in += value.size();
    if (columns_[i].kind == ShardColumn::Kind::kImage) {
      auto file = MakeFile(maker, value);
      if (!file.ok()) return NamedError(source_.NameOf(id), file.status());
      if (file->bytes.has_value()) value = *std::move(file->bytes);
      if (made.problem.empty()) made.problem = std::move(file->problem);
      scaled += file->might_be_scaled;
    }
    bytes_out += value.size();
  }
  made.values = std::move(sample.fields);
  const absl::MutexLock lock(&mutex_);
  PrepareProgress& progress = report_.progress;
  ++progress.done;
  ++progress.made;
  progress.bytes_in += bytes_in;
  progress.bytes_out += bytes_out;
  report_.might_be_scaled += scaled;
  if (options_.progress) options_.progress(progress);
  return made;
} catch (const std::bad_alloc&) {
  return NamedError(source_.NameOf(id), absl::ResourceExhaustedError(
                                            "no memory is left to prepare it; give more memory or fewer --workers"));
}

absl::Status ShardPreparation::Add(uint64_t id, Made made) {
  std::string name = source_.NameOf(id);
  const std::string key = keys_.KeyOf(name);
  const ShardSample sample = {key, {made.values.begin(), made.values.end()}};
  const bool any = builder_.samples() > 0;
  if (any && builder_.BytesWith(sample) > options_.shard_bytes) STOKER_RETURN_IF_ERROR(FinishShard());
  builder_.Add(sample);
  entry_.files.push_back({std::move(name), dataset_.StoredBytes(id), std::move(made.problem)});
  return absl::OkStatus();
}

absl::Status ShardPreparation::FinishShard() {
  const uint64_t number = ledger_->entries().size();
  entry_.shard = {.name = builder_.NameOf(number), .samples = builder_.samples()};
  if (entry_.shard.name.size() != builder_.NameOf(0).size())
    return Error(
        absl::StatusCode::kInvalidArgument,
        absl::StrCat("more than ", number, " shards are too many for their names; give a larger --shard-size"));
  const std::string shard = builder_.Finish();
  entry_.shard.bytes = shard.size();
  Fingerprint digest("");
  digest.AddBytes(shard);
  entry_.shard.digest = digest.Finish();
  STOKER_RETURN_IF_ERROR(Write(entry_.shard.name, shard));
  return ledger_->Append(std::exchange(entry_, {}));
}

absl::Status ShardPreparation::Finish() {
  google::protobuf::RepeatedPtrField<v1::PreparedProblem> problems;
  std::vector<WrittenShard> shards;
  Fingerprint content("stoker.prepared_shards.v1");
  for (const LedgerEntry& entry : ledger_->entries()) {
    shards.push_back(entry.shard);
    content.AddBytes(entry.shard.digest);
    for (const LedgerEntry::File& file : entry.files) {
      if (file.problem.empty() || problems.size() == kMostProblems) continue;
      problems.Add()->set_file(PrintableName(file.path));
      problems.rbegin()->set_reason(file.problem);
    }
  }
  if (!builder_.ListName().empty()) STOKER_RETURN_IF_ERROR(Write(builder_.ListName(), builder_.ListOf(shards)));
  out_.SetProblems(problems);
  STOKER_RETURN_IF_ERROR(out_.Sync());
  return out_.SetState(v1::PREPARED_STATE_COMPLETE, absl::BytesToHexString(content.Finish()));
}

absl::Status ShardPreparation::Write(const std::string& name, std::string_view bytes) const {
  const std::string path = absl::StrCat(out_.path(), "/", name);
  const absl::Status written = WriteFileAtomically(path, bytes);
  return written.ok() ? written : NamedError(path, written);
}

}  // namespace

absl::StatusOr<PrepareReport> PrepareShards(const PrepareOptions& options, const v1::Prepared& prepared,
                                            const SampleSource& source, std::vector<ShardColumn> columns,
                                            OutputFolder out) {
  return ShardPreparation(options, prepared, source, std::move(columns), std::move(out)).Run();
}

}  // namespace stoker
