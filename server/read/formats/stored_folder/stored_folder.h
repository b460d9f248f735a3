#ifndef STOKER_SERVER_READ_FORMATS_STORED_FOLDER_STORED_FOLDER_H_
#define STOKER_SERVER_READ_FORMATS_STORED_FOLDER_STORED_FOLDER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/cached/cached_reads.h"
#include "server/read/dataset.h"
#include "server/read/formats/files/image_files.h"
#include "server/read/formats/stored_folder/listing_file.h"
#include "server/read/formats/stored_folder/object_listing.h"
#include "server/read/stores/store.h"

namespace stoker {

// A dataset of class folders of images on any store, such as a bucket's prefix. Its samples, fields and fingerprint are
// those of ImageFolder for a copy of it on a disk, also where `stokerd prepare` made it. Immutable and thread-safe. A
// sample takes 16 bytes of memory beside its path below the class folder and its version (PackedVersions).
//
// A folder of up to kListedAnew files is listed whenever it is opened. The listing of a larger one is kept and trusted:
// as long as the store has the same class folders, and 64 objects, spread evenly, are as they were. So what is added to
// a class of a large folder is not seen until its index is deleted. Each read compares its object with the index.
//
// A store that cannot list needs a list: an object with the paths of the files (DescribeClasses), which are described
// once, and again when the list changes.
class StoredFolder final : public Dataset, private Labels, private StoredSamples {
 public:
  static constexpr uint64_t kListedAnew = uint64_t{1} << 16;

  struct Options {
    std::string name;       // the dataset's name, which errors of Read begin with
    std::string list;       // the name of the object with the files' paths; empty where the store lists them
    std::string cache_dir;  // the folder that keeps its index; where this is empty, none is kept
    int threads = 16;       // classes that are listed at once
    // If set, it is called now and then with the number of samples found so far, by any thread, but by one at a time.
    std::function<void(uint64_t files)> progress;
    uint64_t listed_anew = kListedAnew;
    std::shared_ptr<RawCache> cache = nullptr;  // keeps what is read from a store that is remote; null: nothing does
  };

  // Opens the class folders below the store's root. Errors are the store's, those of ListClasses and DescribeClasses,
  // and FailedPrecondition for a folder that must be prepared (again).
  static absl::StatusOr<std::unique_ptr<StoredFolder>> Open(std::shared_ptr<Store> store, const Options& options);

  uint64_t size() const override { return listing_.index.files.size(); }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return listing_.fingerprint; }
  uint64_t resident_bytes() const override;
  std::string description() const override;
  std::string SampleName(uint64_t id) const override;
  uint64_t StoredBytes(uint64_t id) const override { return listing_.index.files.sizes[id]; }
  const Labels* labels() const override { return this; }
  const StoredSamples* stored() const override { return store_->is_remote() ? this : nullptr; }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override;

  // Returns lines that the operator should see, such as that files were skipped.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  StoredFolder(std::shared_ptr<Store> store, const Options& options);

  absl::StatusOr<ObjectListing> Find(const Options& options);

  // Whether the store still has what was listed, as far as a few requests can tell.
  absl::StatusOr<bool> IsCurrent(const ObjectListing& listing, bool is_list) const;

  const std::vector<std::string>& classes() const override { return class_names_; }
  LabelRun RunAt(uint64_t id) const override;

  Store& StoreOf(uint64_t) const override { return *store_; }
  bool Has(uint64_t, FieldSet wanted) const override { return wanted.Has(kImage); }
  Place PlaceOf(uint64_t id, FieldSet) const override { return {id, 0, listing_.index.files.sizes[id]}; }
  ObjectInfo ObjectAt(uint64_t object) const override { return listing_.Object(object); }
  absl::Status Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const override;
  absl::Status ReadError(uint64_t id, const absl::Status& status) const override;

  const std::shared_ptr<Store> store_;
  const std::string name_;
  const std::string cache_dir_;

  // Open sets these; they are constant after it.
  SourceSchema schema_;
  ObjectListing listing_;
  std::string kept_path_;                 // of the index; empty where none is kept
  std::vector<std::string> class_names_;  // printable
  std::vector<std::string> warnings_;

  std::optional<CachedReads> reads_;

  mutable std::atomic<bool> kept_dropped_ = false;  // whether a read has removed the index
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_STORED_FOLDER_STORED_FOLDER_H_
