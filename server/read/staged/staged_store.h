#ifndef STOKER_SERVER_READ_STAGED_STAGED_STORE_H_
#define STOKER_SERVER_READ_STAGED_STAGED_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/read/staged/staging.h"
#include "server/read/stores/store.h"

namespace stoker {

// A store whose compressed objects are there decompressed: "t.tar.gz" is "t.tar", with the size that it has then. So a
// format reads plain shards, and a dataset's fingerprint, which covers names and sizes of shards and where samples lie
// in them, is that of the same dataset decompressed: on every store, and by every compression.
//
// An object's version is its compressed size and version. Reads check what the staging keeps; where it is damaged, the
// object is staged once more, and the read waits for that.
class StagedStore final : public Store {
 public:
  // Without `staging`, what would have to be staged is refused, with figures and what to do.
  StagedStore(std::shared_ptr<Store> store, std::shared_ptr<Staging> staging)
      : store_(std::move(store)), staging_(std::move(staging)) {}

  // Stages those of `objects` that are compressed, by their names or, with `by_beginning`, by the first bytes of the
  // first. Returns all, decompressed, in the bytewise order of their names. InvalidArgument where an object is there
  // twice, plain and compressed; Unimplemented without a staging; else the errors of Staging::Stage.
  absl::StatusOr<std::vector<ObjectInfo>> Stage(const std::vector<ObjectInfo>& objects, bool by_beginning);

  bool has_staged() const;

  std::string description() const override { return store_->description(); }
  std::string identity() const override { return store_->identity(); }
  bool is_remote() const override;
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) override { return store_->List(listing); }
  absl::StatusOr<std::vector<std::string>> Folders() override { return store_->Folders(); }

  // Describes what is there plain; or, where that is not all, stages `names` with .zstd, .zst or .gz behind them.
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override;
  void Read(const Range& range, Done done) override;

 private:
  struct Entry {
    Staging::Compressed compressed;
    ObjectInfo plain;
    std::shared_ptr<const StagedFile> file;
  };

  absl::StatusOr<std::vector<ObjectInfo>> StageAll(const std::vector<Staging::Compressed>& objects);
  absl::Status ReadStaged(Entry entry, const Range& range);

  const std::shared_ptr<Store> store_;
  const std::shared_ptr<Staging> staging_;  // null where nothing can be staged
  absl::Mutex restaging_;                   // is held while a damaged object is staged
  mutable absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(restaging_);
  std::map<std::string, Entry> staged_ ABSL_GUARDED_BY(mutex_);  // by their plain names
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STAGED_STAGED_STORE_H_
