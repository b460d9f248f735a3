#include "server/prepare/shard_ledger.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/binary.h"

namespace stoker {
namespace {

constexpr std::string_view kHead = "STOKER SHARDS OF PREPARE 1\n";

}  // namespace

std::string SerializeEntry(const LedgerEntry& entry) {
  BinaryWriter body;
  body.PutBytes(entry.shard.name);
  body.Put(entry.shard.bytes);
  body.PutBytes(entry.shard.digest);
  body.Put<uint64_t>(entry.files.size());
  for (const LedgerEntry::File& file : entry.files) {
    body.PutBytes(file.path);
    body.Put(file.size);
    body.PutBytes(file.problem);
  }
  return std::move(body.bytes);
}

std::optional<LedgerEntry> ParseEntry(std::string_view body) {
  BinaryReader reader(body);
  LedgerEntry entry;
  entry.shard.name = reader.GetBytes();
  entry.shard.bytes = reader.Get<uint64_t>();
  entry.shard.digest = reader.GetBytes();
  entry.shard.samples = reader.GetCount(3 * sizeof(uint64_t));
  for (uint64_t i = 0; i < entry.shard.samples; ++i) {
    LedgerEntry::File& file = entry.files.emplace_back();
    file.path = reader.GetBytes();
    file.size = reader.Get<uint64_t>();
    file.problem = reader.GetBytes();
  }
  return reader.done() ? std::optional(std::move(entry)) : std::nullopt;
}

absl::StatusOr<ShardLedger> ShardLedger::Open(const std::string& folder) {
  std::vector<LedgerEntry> entries;
  STOKER_ASSIGN_OR_RETURN(RecordFile file,
                          RecordFile::Open(absl::StrCat(folder, "/", kFile), kHead, [&](std::string_view body) {
                            auto entry = ParseEntry(body);
                            if (!entry.has_value()) return false;
                            entries.push_back(*std::move(entry));
                            return true;
                          }));
  return ShardLedger(std::move(file), std::move(entries));
}

absl::Status ShardLedger::Append(LedgerEntry entry) {
  STOKER_RETURN_IF_ERROR(file_.Append(SerializeEntry(entry)));
  STOKER_RETURN_IF_ERROR(file_.Sync());
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

}  // namespace stoker
