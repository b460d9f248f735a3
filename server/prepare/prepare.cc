#include "server/prepare/prepare.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"
#include "server/augment/self_check.h"
#include "server/decode/packed.h"
#include "server/prepare/file_maker.h"
#include "server/prepare/folder_plan.h"
#include "server/prepare/output_folder.h"
#include "server/prepare/prepared_mode.h"
#include "server/prepare/sample_source.h"
#include "server/prepare/shard_builder.h"
#include "server/prepare/shard_columns.h"
#include "server/prepare/shards.h"
#include "server/read/for_each.h"
#include "server/read/formats/folder/class_walk.h"
#include "server/read/formats/folder/folder_walk.h"
#include "server/read/formats/folder/image_folder.h"
#include "server/read/printable_name.h"
#include "server/read/stores/local/file.h"

namespace stoker {
namespace {

constexpr int kDiskThreads = 16;  // threads for work that waits for the disk rather than the CPU

bool IsBelow(const std::string& path, const std::string& folder) {
  return path == folder || absl::StartsWith(path, folder == "/" ? folder : folder + "/");
}

// Checks that neither folder is or holds the other, also through links. `data` is canonical.
absl::Status CheckApart(const std::string& data, const std::string& out) {
  std::error_code error;
  const std::string canonical = std::filesystem::weakly_canonical(std::filesystem::absolute(out, error), error);
  if (error) return absl::UnavailableError(absl::StrCat("--out ", out, ": ", error.message()));
  struct stat in_status, out_status;
  const bool same = stat(data.c_str(), &in_status) == 0 && stat(out.c_str(), &out_status) == 0 &&
                    in_status.st_dev == out_status.st_dev && in_status.st_ino == out_status.st_ino;
  if (!same && !IsBelow(canonical, data) && !IsBelow(data, canonical)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--out ", out, ": is, holds or lies in --data ", data,
                                                 ", which is never written to: name a folder beside it"));
}

// The files of class folders to make, and what each is made from. A plain value.
struct Files {
  const FolderIndex& index;
  const Dataset& dataset;
  std::vector<uint64_t> ids;  // of each file's sample; none: a file's place is its sample's id
  std::string root;           // of the source, if it is class folders that lie on a disk

  uint64_t IdOf(uint64_t place) const { return ids.empty() ? place : ids[place]; }
  uint64_t size() const { return index.files.size(); }
};

class Preparation {
 public:
  Preparation(const PrepareOptions& options, v1::Prepared prepared, Files source, OutputFolder out)
      : options_(options), prepared_(std::move(prepared)), source_(std::move(source)), out_(std::move(out)) {
    const SourceSchema& schema = source_.dataset.schema();
    while (schema[image_].kind != SourceField::Kind::kEncodedImage) ++image_;
    report_.progress.files = source_.size();
  }

  absl::StatusOr<PrepareReport> Run();

 private:
  absl::Status CheckNothingElse() const;
  absl::Status Clear();
  bool IsWhole(uint64_t id) const;
  absl::StatusOr<std::vector<uint64_t>> FindMissing() const;
  absl::Status MakeAll(const std::vector<uint64_t>& ids);
  absl::Status MakeOne(int worker, FileMaker& maker, SampleBytes& sample, uint64_t id);
  void Count(uint64_t id, uint64_t bytes_in, uint64_t bytes_out, const MadeFile& made);
  absl::Status Note(uint64_t id, const std::string& reason);
  absl::Status Finish();
  bool stopped() const { return options_.stop != nullptr && *options_.stop; }

  const PrepareOptions& options_;
  const v1::Prepared prepared_;
  const Files source_;
  size_t image_ = 0;  // the image's place among the fields
  OutputFolder out_;

  absl::Mutex mutex_;
  PrepareReport report_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<PrepareReport> Preparation::Run() {
  STOKER_RETURN_IF_ERROR(CheckNothingElse());
  if (out_.state() == v1::PREPARED_STATE_CLEARING) STOKER_RETURN_IF_ERROR(Clear());
  STOKER_ASSIGN_OR_RETURN(const std::vector<uint64_t> missing, FindMissing());
  const bool was_complete = missing.empty() && out_.state() == v1::PREPARED_STATE_COMPLETE;
  {
    const absl::MutexLock lock(&mutex_);
    report_.was_complete = was_complete;
    report_.progress.done = source_.size() - missing.size();
    for (const v1::PreparedProblem& problem : out_.prepared().problems())
      report_.problems.push_back({problem.file(), problem.reason()});
    if (options_.progress) options_.progress(report_.progress);
    if (was_complete) return report_;
  }
  STOKER_RETURN_IF_ERROR(out_.SetState(v1::PREPARED_STATE_UNFINISHED));
  const absl::Status made = MakeAll(missing);
  STOKER_RETURN_IF_ERROR(out_.RemoveParts());
  if (!made.ok() && !absl::IsCancelled(made)) return made;
  if (made.ok()) STOKER_RETURN_IF_ERROR(Finish());
  const absl::MutexLock lock(&mutex_);
  report_.stopped = !made.ok();
  return report_;
}

// Checks that the output folder has no image that the source lacks, since that would become a sample too. This comes
// before anything is changed.
absl::Status Preparation::CheckNothingElse() const {
  WalkOptions walk;
  walk.threads = kDiskThreads;
  const auto held = WalkImageFolder(out_.path(), out_.descriptor(), walk);
  if (!held.ok()) return absl::OkStatus();  // No image folder yet.
  std::set<std::string> wanted;
  for (uint64_t id = 0; id < source_.size(); ++id) wanted.insert(source_.index.Path(id));
  uint64_t others = 0;
  std::string first;
  for (uint64_t id = 0; id < held->index.files.size(); ++id) {
    if (wanted.contains(held->index.Path(id))) continue;
    if (others++ == 0) first = ShortPrintableName(held->index.Path(id));
  }
  const bool changed = held->index.files.size() == wanted.size() &&
                       absl::BytesToHexString(held->fingerprint) != out_.prepared().folder_fingerprint();
  if (others == 0 && out_.state() == v1::PREPARED_STATE_COMPLETE && changed)
    return absl::FailedPreconditionError(absl::StrCat(
        "--out ", out_.path(), ": its files have changed since it was prepared; make them anew by --overwrite"));
  if (others == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("--out ", out_.path(), ": holds ", others,
                                                    " images that --data lacks, such as '", first,
                                                    "'; remove the folder, or name another --out"));
}

// Records that a file cannot be prepared, in the report and in prepared.yaml, which later runs read. It must be called
// before the file exists in the output folder: a later run does not try that file again.
absl::Status Preparation::Note(uint64_t id, const std::string& reason) {
  const absl::MutexLock lock(&mutex_);
  const std::string file = PrintableName(source_.index.Path(id));
  std::vector<PrepareReport::Problem>& problems = report_.problems;
  std::erase_if(problems, [&](const PrepareReport::Problem& known) { return known.file == file; });
  problems.push_back({file, reason});
  std::sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
  google::protobuf::RepeatedPtrField<v1::PreparedProblem> kept;
  for (const PrepareReport::Problem& problem : problems) {
    if (kept.size() == kMostProblems) return absl::OkStatus();
    v1::PreparedProblem& entry = *kept.Add();
    entry.set_file(problem.file);
    entry.set_reason(problem.reason);
  }
  out_.SetProblems(kept);
  return out_.SetState(v1::PREPARED_STATE_UNFINISHED);
}

// Removes from the output folder the files that this run will make. Fails if one of them is the source's own file,
// reached by some link.
absl::Status Preparation::Clear() {
  const auto remove = [this](int, uint64_t id) {
    const std::string file = source_.index.Path(id);
    struct stat held, original;
    if (fstatat(out_.descriptor(), file.c_str(), &held, AT_SYMLINK_NOFOLLOW) != 0) return absl::OkStatus();
    const std::string from = absl::StrCat(source_.root, "/", file);
    if (!source_.root.empty() && stat(from.c_str(), &original) == 0 && held.st_dev == original.st_dev &&
        held.st_ino == original.st_ino)
      return NamedError(absl::StrCat(out_.path(), "/", file),
                        absl::FailedPreconditionError("is the very file that --data has, by some link; name another "
                                                      "--out: --data is never written to"));
    return out_.Remove(file);
  };
  STOKER_RETURN_IF_ERROR(out_.SetState(v1::PREPARED_STATE_CLEARING));
  return ForEach(source_.size(), kDiskThreads, remove);
}

// Says whether file `id` exists in the output folder and is whole. Files are not synced one by one, so a machine that
// loses its power may leave some empty or cut short. The end of a file shows that.
bool Preparation::IsWhole(uint64_t id) const {
  const std::string path = source_.index.Path(id);
  struct stat status;
  if (fstatat(out_.descriptor(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
    return false;
  const auto bytes = static_cast<uint64_t>(status.st_size);
  if (bytes == 0) return source_.index.files.sizes[id] == 0;
  if (bytes == source_.index.files.sizes[id] || out_.state() == v1::PREPARED_STATE_COMPLETE) return true;
  std::vector<uint8_t> file;
  if (!ReadFile(out_.descriptor(), path, bytes, file).ok()) return false;
  if (prepared_.has_pipeline()) return ReadPackedHeader(file, {.max_pixels = UINT64_MAX}).ok();
  return file.size() > 2 && file[file.size() - 2] == 0xff && file.back() == 0xd9;
}

absl::StatusOr<std::vector<uint64_t>> Preparation::FindMissing() const {
  std::vector<uint8_t> exists(source_.size());
  STOKER_RETURN_IF_ERROR(ForEach(source_.size(), kDiskThreads, [&](int, uint64_t id) {
    exists[id] = IsWhole(id);
    return absl::OkStatus();
  }));
  std::vector<uint64_t> missing;
  for (uint64_t id = 0; id < exists.size(); ++id)
    if (!exists[id]) missing.push_back(id);
  return missing;
}

absl::Status Preparation::MakeAll(const std::vector<uint64_t>& ids) {
  std::vector<std::unique_ptr<FileMaker>> makers;
  makers.reserve(options_.workers);
  for (int i = 0; i < options_.workers; ++i) makers.push_back(CreateFileMaker(prepared_));
  std::vector<SampleBytes> samples(options_.workers);
  return ForEach(ids.size(), options_.workers,
                 [&](int worker, uint64_t i) { return MakeOne(worker, *makers[worker], samples[worker], ids[i]); });
}

absl::Status Preparation::MakeOne(int worker, FileMaker& maker, SampleBytes& sample, uint64_t id) try {
  if (stopped()) return absl::CancelledError("stopped");
  STOKER_RETURN_IF_ERROR(source_.dataset.Read(source_.IdOf(id), sample));
  const std::vector<uint8_t>& file = sample.fields[image_];
  const auto made = MakeFile(maker, file);
  if (!made.ok()) return NamedError(source_.index.Path(id), made.status());
  const std::vector<uint8_t>& bytes = made->bytes.has_value() ? *made->bytes : file;
  if (!made->problem.empty()) STOKER_RETURN_IF_ERROR(Note(id, made->problem));
  STOKER_RETURN_IF_ERROR(out_.Put(worker, source_.index.Path(id), bytes));
  Count(id, file.size(), bytes.size(), *made);
  return absl::OkStatus();
} catch (const std::bad_alloc&) {
  return NamedError(
      source_.index.Path(id),
      absl::ResourceExhaustedError("no memory is left to prepare it; give more memory or fewer --workers"));
}

void Preparation::Count(uint64_t id, uint64_t bytes_in, uint64_t bytes_out, const MadeFile& made) {
  const absl::MutexLock lock(&mutex_);
  PrepareProgress& progress = report_.progress;
  ++progress.done;
  ++progress.made;
  progress.bytes_in += bytes_in;
  progress.bytes_out += bytes_out;
  report_.might_be_scaled += made.might_be_scaled;
  if (options_.progress) options_.progress(progress);
}

// Checks that the output folder has the same names as the source, hence the same labels and order, and marks it
// complete.
absl::Status Preparation::Finish() {
  WalkOptions walk;
  walk.threads = kDiskThreads;
  STOKER_ASSIGN_OR_RETURN(const FolderListing listing, WalkImageFolder(out_.path(), out_.descriptor(), walk));
  const FolderIndex &made = listing.index, &wanted = source_.index;
  const bool more = made.files.size() > wanted.files.size();
  const FolderIndex& larger = more ? made : wanted;
  for (uint64_t id = 0; id < larger.files.size(); ++id) {
    if (id < made.files.size() && id < wanted.files.size() && made.Path(id) == wanted.Path(id)) continue;
    const std::string name = ShortPrintableName(larger.Path(id));
    return absl::FailedPreconditionError(
        absl::StrCat("--out ", out_.path(), more ? ": holds '" : ": lost '", name,
                     more ? "', which --data lacks; move it away, and run the same again" : "'; run the same again"));
  }
  STOKER_RETURN_IF_ERROR(out_.Sync());
  return out_.SetState(v1::PREPARED_STATE_COMPLETE, absl::BytesToHexString(listing.fingerprint));
}

// Opens the source and indexes it anew, since an earlier manifest would not show what has changed.
absl::StatusOr<std::unique_ptr<ImageFolder>> OpenSource(const PrepareOptions& options) {
  v1::ImageFolder folder;
  folder.set_path(options.data);
  auto source = ImageFolder::Open(folder, {.progress = options.indexing});
  if (source.ok()) return source;
  return absl::Status(source.status().code(), absl::StrCat("--data ", options.data, ": ", source.status().message()));
}

// Checks that the images are as they were made, and that there is one where a mode changes images.
absl::Status CheckImages(const PrepareOptions& options, const SourceSchema& schema) {
  const auto refused = [&](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat("--data ", options.data, ": ", what...));
  };
  std::vector<std::string> images;
  for (const SourceField& field : schema) {
    if (!field.prepared.empty()) return refused("its images went through a pipeline already; prepare the original");
    if (IsMap(field.meaning) || field.kind == SourceField::Kind::kRows)
      return refused("its field '", ShortPrintableName(field.name), "' is of kind ", KindName(field.meaning),
                     ", which prepared datasets do not have; leave it out by `fields` of the dataset's configuration");
    if (field.kind == SourceField::Kind::kEncodedImage) images.push_back(field.name);
  }
  if (!options.mode.has_lossless() && images.empty())
    return refused("its samples have no image, which --short-side or --pipeline would change");
  if (options.mode.has_pipeline() && images.size() > 1)
    return refused("--pipeline is for one image, and its samples have '", ShortPrintableName(images[0]), "' and '",
                   ShortPrintableName(images[1]), "'; leave one out by `fields` of the dataset's configuration");
  return absl::OkStatus();
}

absl::Status SetShards(const PrepareOptions& options, v1::Prepared& prepared) {
  if (options.shard_bytes == 0 || options.shard_bytes > kMostShardBytes)
    return absl::InvalidArgumentError(absl::StrCat("--shard-size ", options.shard_bytes, ": is not 1 byte to 4 GiB"));
  prepared.mutable_shards()->set_format(options.format == PreparedFormat::kMds ? "mds" : "webdataset");
  prepared.mutable_shards()->set_shard_bytes(options.shard_bytes);
  return absl::OkStatus();
}

// Says in prepared.yaml what the fields become, unless they are those of class folders.
void SetColumns(const std::vector<ShardColumn>& columns, v1::PreparedShards& shards) {
  if (columns.size() == 2 && columns[0].field == "image" && columns[0].extension == "jpg" &&
      columns[1].kind == ShardColumn::Kind::kLabel)
    return;
  for (const ShardColumn& column : columns) {
    v1::PreparedColumn& told = *shards.add_columns();
    told.set_field(column.field);
    told.set_member(column.extension);
    told.set_encoding(column.encoding);
  }
}

absl::Status SetPixels(v1::Prepared& prepared) {
  if (prepared.has_lossless()) return absl::OkStatus();
  STOKER_ASSIGN_OR_RETURN(const uint64_t check, PixelCheck());
  prepared.set_pixel_version(kPixelVersion);
  prepared.set_pixel_check(absl::StrCat(absl::Hex(check, absl::kZeroPad16)));
  return absl::OkStatus();
}

// Makes shards, in which a ledger says what of the source they have.
absl::StatusOr<PrepareReport> MakeShards(const PrepareOptions& options, v1::Prepared prepared,
                                         const SampleSource& source) {
  STOKER_ASSIGN_OR_RETURN(std::vector<ShardColumn> columns,
                          ColumnsOf(source.dataset().schema(), prepared.has_pipeline()));
  STOKER_RETURN_IF_ERROR(SetShards(options, prepared));
  SetColumns(columns, *prepared.mutable_shards());
  STOKER_ASSIGN_OR_RETURN(OutputFolder out, OutputFolder::Open(options.out, prepared, options.overwrite));
  return PrepareShards(options, prepared, source, std::move(columns), std::move(out));
}

absl::StatusOr<PrepareReport> MakeFolder(const PrepareOptions& options, v1::Prepared prepared, Files files) {
  prepared.set_source_fingerprint(absl::BytesToHexString(files.dataset.fingerprint()));
  STOKER_ASSIGN_OR_RETURN(OutputFolder out, OutputFolder::Open(options.out, prepared, options.overwrite));
  return Preparation(options, std::move(prepared), std::move(files), std::move(out)).Run();
}

// Prepares a dataset that is no folder of images on a disk.
absl::StatusOr<PrepareReport> PrepareDataset(const PrepareOptions& options, v1::Prepared prepared) {
  for (const std::string& root : options.roots) STOKER_RETURN_IF_ERROR(CheckApart(root, options.out));
  auto source = DatasetSource::Create(*options.dataset);
  if (!source.ok()) return NamedError(absl::StrCat("--data ", options.data), source.status());
  if (options.format != PreparedFormat::kFolder) return MakeShards(options, std::move(prepared), *source);
  const auto plan = PlanFolder(*source, {options.workers, options.stop, options.labels});
  if (absl::IsCancelled(plan.status()))
    return PrepareReport{.progress = {.files = options.dataset->size()}, .stopped = true};
  STOKER_RETURN_IF_ERROR(plan.status());
  return MakeFolder(options, std::move(prepared), {plan->index, *options.dataset, plan->ids, ""});
}

}  // namespace

absl::StatusOr<PrepareReport> Prepare(const PrepareOptions& options) {
  STOKER_ASSIGN_OR_RETURN(v1::Prepared prepared, ValidatedMode(options.mode));
  prepared.set_tool(options.tool);
  std::unique_ptr<ImageFolder> folder;
  if (options.dataset == nullptr) {
    STOKER_ASSIGN_OR_RETURN(folder, OpenSource(options));
  }
  STOKER_RETURN_IF_ERROR(CheckImages(options, folder == nullptr ? options.dataset->schema() : folder->schema()));
  STOKER_RETURN_IF_ERROR(SetPixels(prepared));
  if (folder == nullptr) return PrepareDataset(options, std::move(prepared));
  STOKER_RETURN_IF_ERROR(CheckApart(folder->root(), options.out));
  if (options.format != PreparedFormat::kFolder) return MakeShards(options, std::move(prepared), FolderSource(*folder));
  return MakeFolder(options, std::move(prepared), {folder->index(), *folder, {}, folder->root()});
}

}  // namespace stoker
