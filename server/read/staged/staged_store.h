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
#include "server/read/stores/forwarding_store.h"

namespace stoker {

// A store whose compressed objects are there decompressed, and others as copies where a format needs them local:
// "t.tar.gz" is "t.tar", with the size that it has then. So a format reads plain shards, and a dataset's fingerprint,
// which covers names and sizes of shards and where samples lie in them, is that of the same dataset decompressed: on
// every store, and by every compression.
//
// An object's version is its compressed size and version. Reads check what the staging keeps; where it is damaged, the
// object is staged once more, and the read waits for that.
class StagedStore final : public ForwardingStore {
 public:
  // Without `staging`, what would have to be staged is refused, with figures and what to do.
  StagedStore(std::shared_ptr<Store> store, std::shared_ptr<Staging> staging)
      : ForwardingStore(std::move(store)), staging_(std::move(staging)) {}

  // Stages those of `objects` that are compressed, by their names or, with `by_beginning`, by the first bytes of the
  // first. Returns all, decompressed, in the bytewise order of their names. InvalidArgument where an object is there
  // twice, plain and compressed; Unimplemented without a staging; else the errors of Staging::Stage.
  absl::StatusOr<std::vector<ObjectInfo>> Stage(const std::vector<ObjectInfo>& objects, bool by_beginning);

  // Stages all of `objects` that are not local, and those that are compressed by their names: for formats whose samples
  // are no ranges. Returns all as Stage does, with its errors.
  absl::StatusOr<std::vector<ObjectInfo>> StageWhole(const std::vector<ObjectInfo>& objects);

  bool has_staged() const;

  bool is_remote() const override;

  // Describes what is there, and stages what is compressed by its name; or, where not all is there, stages `names` with
  // .zstd, .zst or .gz behind them.
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) override;
  void Read(const Range& range, Done done) override;

 private:
  struct Entry {
    Staging::Compressed compressed;
    ObjectInfo plain;
    std::shared_ptr<const StagedFile> file;
  };

  absl::StatusOr<std::vector<ObjectInfo>> StageAll(const std::vector<Staging::Compressed>& objects);

  // Stages those of `objects` that are compressed by their names. Returns all, in their order.
  absl::StatusOr<std::vector<ObjectInfo>> StageNamed(std::vector<ObjectInfo> objects);
  absl::Status ReadStaged(Entry entry, const Range& range);

  const std::shared_ptr<Staging> staging_;  // null where nothing can be staged
  absl::Mutex restaging_;                   // is held while a damaged object is staged
  mutable absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(restaging_);
  std::map<std::string, Entry> staged_ ABSL_GUARDED_BY(mutex_);  // by their plain names
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STAGED_STAGED_STORE_H_
