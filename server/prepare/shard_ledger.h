#ifndef STOKER_SERVER_PREPARE_SHARD_LEDGER_H_
#define STOKER_SERVER_PREPARE_SHARD_LEDGER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/prepare/shard_builder.h"
#include "server/read/stores/local/record_file.h"

namespace stoker {

// A shard and the source's files that are in it, in their order. A plain value.
struct LedgerEntry {
  struct File {
    std::string path;     // relative to the source
    uint64_t size = 0;    // bytes, in the source
    std::string problem;  // why the file could not be prepared; empty if it was
  };
  WrittenShard shard;
  std::vector<File> files;
};

// The file prepared.shards beside the shards that `stokerd prepare` writes: which shards are there, and which files of
// the source are in them. So a run that was killed goes on, and files that came since get shards of their own. It is a
// RecordFile with a record for each shard, in their order: shard's name, u64 bytes, digest, u64 files, and of each:
// path, u64 size, problem (texts: u64 length, then bytes; numbers little-endian). One thread at a time.
class ShardLedger {
 public:
  static constexpr char kFile[] = "prepared.shards";

  // Opens or makes the ledger in `folder`. Errors are those of RecordFile::Open.
  static absl::StatusOr<ShardLedger> Open(const std::string& folder);

  // Appends a shard that exists, and waits until that is on the disk.
  absl::Status Append(LedgerEntry entry);

  const std::vector<LedgerEntry>& entries() const { return entries_; }

 private:
  explicit ShardLedger(RecordFile file, std::vector<LedgerEntry> entries)
      : file_(std::move(file)), entries_(std::move(entries)) {}

  RecordFile file_;
  std::vector<LedgerEntry> entries_;
};

// Returns the body of an entry's record, and the entry of one; none where it is none. Any bytes are safe. Pure.
std::string SerializeEntry(const LedgerEntry& entry);
std::optional<LedgerEntry> ParseEntry(std::string_view body);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_SHARD_LEDGER_H_
