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
#include "server/read/formats/files/image_files.h"
#include "server/read/formats/folder/folder_index.h"
#include "server/read/formats/folder/folder_listing.h"
#include "server/read/stores/local/file.h"
#include "stoker/v1/config.pb.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// A dataset of class folders of images. WalkImageFolder defines which files belong to it. Its fields are image
// (encoded) and label (int64, the class folder's place in bytewise order). Its fingerprint is FolderFingerprint.
//
// A folder that `stokerd prepare` made says so (prepared_folder.h). If ops were run on its images, the field image
// names them in the schema, and the fingerprint is PackedFingerprint.
//
// The dataset is immutable and thread-safe. A sample takes 16 bytes of memory beside its path below the class folder.
//
// The folder is held open and files are opened relative to it, so that a link or mount that takes its path later does
// not mix two datasets. Symbolic links are followed when a file is read, as they were when the folder was indexed
// (neither O_NOFOLLOW nor openat2's RESOLVE_BENEATH is used). Datasets are often links into a store elsewhere, and only
// names that the index holds are ever opened, none that a client sent.
class ImageFolder final : public Dataset, private Labels {
 public:
  struct Options {
    std::string name;       // the dataset's name, which errors of Read begin with
    std::string cache_dir;  // the folder that keeps its manifest; where this is empty, none is kept
    int threads = 16;       // threads that index the folder; they wait for the disk rather than the CPU
    // If set, it is called now and then with the number of samples found so far, by any thread, but by one at a time.
    std::function<void(uint64_t files)> progress;
  };

  // Opens the folder at config.path(). It takes the listing from the manifest if that still holds, or else walks the
  // folder. Errors are InvalidArgument, NotFound, Unavailable, or FailedPrecondition for a folder that must be prepared
  // (again). They name the path and what is expected there.
  static absl::StatusOr<std::unique_ptr<ImageFolder>> Open(const v1::ImageFolder& config, const Options& options);

  uint64_t size() const override { return index_.files.size(); }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override;
  std::string description() const override;
  std::string SampleName(uint64_t id) const override;
  uint64_t StoredBytes(uint64_t id) const override { return index_.files.sizes[id]; }
  const Labels* labels() const override { return this; }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;

  // Returns lines that the operator should see, such as that files were skipped or a manifest cannot be kept.
  const std::vector<std::string>& warnings() const { return warnings_; }

  const FolderIndex& index() const { return index_; }

  // Returns the folder's canonical path.
  const std::string& root() const { return root_; }

  // These return FolderIndex's members of the same names.
  uint64_t skipped_files() const { return index_.skipped_files; }
  const std::string& skipped_example() const { return index_.skipped_example; }

 private:
  ImageFolder(Root root, const Options& options);

  absl::StatusOr<FolderListing> List(const Options& options);
  absl::StatusOr<FolderListing> ListByManifest();
  void SaveManifest(const FolderListing& listing);
  absl::Status ReadError(uint64_t id, const absl::Status& status) const;

  const std::vector<std::string>& classes() const override { return class_names_; }
  LabelRun RunAt(uint64_t id) const override;

  const std::string root_;  // the canonical path
  const std::string name_;
  const std::string manifest_path_;  // empty where none is kept
  const Descriptor folder_;

  // Open sets these; they are constant after it.
  SourceSchema schema_;
  FolderIndex index_;
  std::string fingerprint_;
  std::vector<std::string> class_names_;  // printable
  std::vector<std::string> warnings_;

  mutable std::atomic<bool> manifest_dropped_ = false;  // whether Read has removed the manifest
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_FOLDER_IMAGE_FOLDER_H_
