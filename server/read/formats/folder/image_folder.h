#ifndef STOKER_SERVER_READ_FORMATS_FOLDER_IMAGE_FOLDER_H_
#define STOKER_SERVER_READ_FORMATS_FOLDER_IMAGE_FOLDER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "server/read/formats/folder/folder_index.h"
#include "server/read/formats/folder/folder_listing.h"
#include "server/read/stores/local/file.h"
#include "stoker/v1/config.pb.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// A folder of class folders of JPEG, PNG and WebP files: see WalkImageFolder for what belongs to it. Fields: image
// (encoded), label (int64, the class folder's place in bytewise order). Fingerprint: FolderFingerprint.
//
// A folder that `stokerd prepare` made says so: see prepared_folder.h. Where ops were run on its images their field
// says which, and the fingerprint is PackedFingerprint.
//
// Immutable and thread-safe. Memory: 12 bytes a sample beside its path below the class folder.
//
// Files are opened relative to the folder as it was when it was opened: a link or mount that takes its path later
// does not mix two datasets. Symbolic links are followed then as they were when the folder was indexed (neither
// O_NOFOLLOW nor openat2's RESOLVE_BENEATH): datasets are often links into a store elsewhere, and only names that the
// index holds are ever opened, none that a client sent.
class ImageFolder final : public Dataset {
 public:
  struct Options {
    std::string name;       // What the dataset is called: errors of Read begin with it.
    std::string cache_dir;  // Where its manifest is kept. Empty: nowhere.
    int threads = 16;       // That index the folder; they wait for the disk rather than the CPU.
    // If set, told now and then how many samples were found so far: by any thread, one at a time.
    std::function<void(uint64_t files)> progress;
  };

  // Opens the folder at config.path(), by its manifest if there is one that still holds, or else by walking it.
  // InvalidArgument, NotFound or Unavailable; FailedPrecondition for a folder that must be prepared (again). The error
  // names the path and what is expected there.
  static absl::StatusOr<std::unique_ptr<ImageFolder>> Open(const v1::ImageFolder& config, const Options& options);

  uint64_t size() const override { return index_.files.size(); }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override;
  std::string description() const override;
  std::string SampleName(uint64_t id) const override;
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;

  // What the operator should know, a line each: files that were skipped, a manifest that cannot be kept.
  const std::vector<std::string>& warnings() const { return warnings_; }

  const FolderIndex& index() const { return index_; }

  // The canonical path.
  const std::string& root() const { return root_; }

  // Files below class folders that are no samples, and one of them.
  uint64_t skipped_files() const { return index_.skipped_files; }
  const std::string& skipped_example() const { return index_.skipped_example; }

 private:
  ImageFolder(std::string root, const Options& options, Descriptor folder);

  absl::StatusOr<FolderListing> List(const Options& options);
  absl::StatusOr<FolderListing> ListByManifest();
  void SaveManifest(const FolderListing& listing);
  absl::Status TakeOver(const v1::Prepared& prepared);
  absl::Status ReadError(uint64_t id, const absl::Status& status) const;

  const std::string root_;  // Canonical path.
  const std::string name_;
  const std::string manifest_path_;  // Empty: none is kept.
  const Descriptor folder_;

  // Set by Open.
  SourceSchema schema_;
  FolderIndex index_;
  std::string fingerprint_;
  std::vector<std::string> warnings_;

  mutable std::atomic<bool> manifest_dropped_ = false;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_IMAGE_FOLDER_H_
