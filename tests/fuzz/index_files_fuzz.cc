// Fuzzes the files that keep indexes: u8 what (0: of shards; 2: an index beside shards, with one of shards in it; else
// of class folders), then a file. Its size and checksum are made right first, so that what lies behind these is
// reached. What is taken must be consistent, and no path of class folders may lead out of them.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/read/formats/stored_folder/listing_file.h"
#include "server/read/index/index_file.h"
#include "server/read/index/published_index.h"
#include "xxhash.h"

namespace stoker {
namespace {

constexpr size_t kSizeAt = 16;  // behind the magic

void Repair(std::string& file) {
  if (file.size() < kSizeAt + 2 * sizeof(uint64_t)) return;
  const uint64_t size = file.size();
  std::memcpy(file.data() + kSizeAt, &size, sizeof size);
  const size_t end = file.size() - sizeof(uint64_t);
  const uint64_t checksum = XXH3_64bits(file.data(), end);
  std::memcpy(file.data() + end, &checksum, sizeof checksum);
}

void FuzzShards(const std::string& file) {
  const std::vector<ObjectInfo> objects = {{"a.tar", 1000, "1"}, {"b.tar", 5, ""}};
  const auto index = ParseIndex(file, {"s", "f"}, objects);
  if (!index.ok()) return;
  if (!index->IsConsistent() || index->shards.size() != 2) std::abort();
  for (uint64_t id = 0; id < index->size(); ++id) {
    const StoredRange range = index->RangeOf(id);
    if (range.offset + range.size > index->shards[index->ShardOf(id)].object.size) std::abort();
    if (index->NameOf(id).size() > file.size() + 32) std::abort();
  }
}

void FuzzPublished(const std::string& file) {
  auto published = ParsePublished(file);
  if (!published.ok()) return;
  for (const FirstRead& read : published->first_reads)
    if (read.bytes.size() > file.size()) std::abort();
  Repair(published->body);
  const auto kept = ParseAnyIndex(published->body);
  if (!kept.ok()) return;
  if (!kept->index.IsConsistent()) std::abort();
  for (uint64_t id = 0; id < kept->index.size(); ++id)
    if (kept->index.ShardOf(id) >= kept->index.shards.size()) std::abort();
}

void FuzzListing(const std::string& file) {
  const auto kept = ParseListing(file);
  if (!kept.ok()) return;
  for (uint64_t id = 0; id < kept->listing.index.files.size(); ++id) {
    const ObjectInfo object = kept->listing.Object(id);
    const std::string path = absl::StrCat("/", object.name, "/");
    if (absl::StrContains(path, "/../") || absl::StrContains(path, "/./") || absl::StrContains(path, "//"))
      std::abort();
    if (object.name.find('\0') != object.name.npos || object.version.find('\0') != object.version.npos) std::abort();
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string file(reinterpret_cast<const char*>(data + 1), size - 1);
  stoker::Repair(file);
  switch (data[0]) {
    case 0: stoker::FuzzShards(file); break;
    case 2: stoker::FuzzPublished(file); break;
    default: stoker::FuzzListing(file);
  }
  return 0;
}
