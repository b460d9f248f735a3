#include "server/read/formats/folder/image_folder.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/ops/ops.h"
#include "common/status_macros.h"
#include "server/read/formats/folder/folder_walk.h"
#include "server/read/formats/folder/manifest.h"
#include "server/read/formats/folder/prepared_folder.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr char kExpected[] = "a folder of class folders of images";

}  // namespace

ImageFolder::ImageFolder(Root root, const Options& options)
    : root_(std::move(root.path)),
      name_(options.name),
      manifest_path_(options.cache_dir.empty() ? "" : ManifestPath(options.cache_dir, root_)),
      folder_(std::move(root.folder)),
      schema_(ImageAndLabel()) {}

absl::StatusOr<std::unique_ptr<ImageFolder>> ImageFolder::Open(const v1::ImageFolder& config, const Options& options) {
  STOKER_ASSIGN_OR_RETURN(Root root, OpenRoot("image_folder.path", config.path(), kExpected));
  std::unique_ptr<ImageFolder> folder(new ImageFolder(std::move(root), options));
  STOKER_ASSIGN_OR_RETURN(const auto prepared, ReadPrepared(folder->root_));
  if (prepared.has_value()) {
    const absl::Status servable = CheckServable(*prepared);
    if (!servable.ok()) return NamedError(folder->root_, servable);
  }
  STOKER_ASSIGN_OR_RETURN(FolderListing listing, folder->List(options));
  folder->index_ = std::move(listing.index);
  for (const auto& one : folder->index_.classes) folder->class_names_.push_back(PrintableName(one.name));
  folder->fingerprint_ = std::move(listing.fingerprint);
  if (folder->index_.skipped_files > 0) folder->warnings_.push_back(folder->index_.SkippedNote());
  if (prepared.has_value()) {
    const absl::Status taken = TakeOver(*prepared, folder->schema_, folder->fingerprint_);
    if (!taken.ok()) return NamedError(folder->root_, taken);
  }
  return folder;
}

absl::StatusOr<FolderListing> ImageFolder::List(const Options& options) {
  auto listing = ListByManifest();
  if (listing.ok()) return listing;
  const bool damaged = absl::IsDataLoss(listing.status()) || absl::IsUnavailable(listing.status()) ||
                       absl::IsPermissionDenied(listing.status());
  if (damaged)
    warnings_.push_back(absl::StrCat("indexed the folder anew; its manifest ", ShortPrintableName(manifest_path_),
                                     " cannot be used: ", listing.status().message()));
  WalkOptions walk;
  walk.threads = std::max(options.threads, 1);
  walk.progress = options.progress;
  listing = WalkImageFolder(root_, folder_.number(), walk);
  if (listing.ok()) SaveManifest(*listing);
  return listing;
}

// Returns the listing that the manifest holds. Errors are DataLoss, Unavailable or PermissionDenied where the manifest
// should be of use but is not, and others where it need not be.
absl::StatusOr<FolderListing> ImageFolder::ListByManifest() {
  if (manifest_path_.empty()) return absl::NotFoundError("none is kept");
  STOKER_ASSIGN_OR_RETURN(FolderListing listing, LoadManifest(manifest_path_, root_));
  if (!IsSettled(listing) || !IsUnchanged(listing, folder_.number()))
    return absl::FailedPreconditionError("the folder has changed");
  return listing;
}

void ImageFolder::SaveManifest(const FolderListing& listing) {
  // A listing that is not settled would never be trusted, so it is not kept.
  if (manifest_path_.empty() || !IsSettled(listing)) return;
  const absl::Status stored = StoreManifest(manifest_path_, root_, listing);
  if (!stored.ok())
    warnings_.push_back(absl::StrCat("the folder will be indexed anew at the next start: ", stored.message()));
}

uint64_t ImageFolder::resident_bytes() const {
  uint64_t bytes = sizeof(*this) + index_.resident_bytes() + class_names_.capacity() * sizeof(std::string);
  for (const std::string& name : class_names_) bytes += name.capacity();
  return bytes;
}

std::string ImageFolder::description() const {
  const std::string ops = absl::StrJoin(schema_[0].prepared, ", ",
                                        [](std::string* out, const v1::Op& op) { absl::StrAppend(out, OpName(op)); });
  return absl::StrCat("image folder ", ShortPrintableName(root_), ", ", index_.classes.size(), " classes",
                      ops.empty() ? "" : ", prepared with ", ops);
}

std::string ImageFolder::SampleName(uint64_t id) const {
  STOKER_CHECK(id < size());
  return PrintableName(index_.Path(id));
}

LabelRun ImageFolder::RunAt(uint64_t id) const {
  const int64_t label = index_.Label(id);
  return {.label = label, .end = index_.classes[label].end};
}

absl::Status ImageFolder::Read(uint64_t id, SampleBytes& sample) const {
  STOKER_CHECK(id < size());
  const absl::Status read = ReadImageAndLabel(folder_, index_.Path(id), index_.files.sizes[id],
                                              index_.files.modified[id], index_.Label(id), sample);
  return read.ok() ? read : ReadError(id, read);
}

absl::Status ImageFolder::ReadError(uint64_t id, const absl::Status& status) const {
  const std::string sample = absl::StrCat(name_, name_.empty() ? "" : ": ", ShortPrintableName(index_.Path(id)), ": ");
  if (!absl::IsFailedPrecondition(status)) return absl::Status(status.code(), absl::StrCat(sample, status.message()));
  // The file was overwritten in place. No directory's time shows that, so the manifest must not survive a restart.
  if (!manifest_path_.empty() && !manifest_dropped_.exchange(true)) unlink(manifest_path_.c_str());
  return absl::UnavailableError(absl::StrCat(sample, "changed since it was indexed: ", status.message(),
                                             "; restore it, or restart the server to index the folder anew"));
}

}  // namespace stoker
