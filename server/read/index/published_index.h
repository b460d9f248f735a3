#ifndef STOKER_SERVER_READ_INDEX_PUBLISHED_INDEX_H_
#define STOKER_SERVER_READ_INDEX_PUBLISHED_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/stores/store.h"

namespace stoker {

// The index of a dataset that lies beside its shards, for all servers that open it. `stokerd index` writes it.
//
// It is a sealed file (sealed_file.h), in whose body u64 is little-endian. "bytes" stands for their number (u64),
// followed by the bytes themselves, and "object" for bytes name, u64 size, bytes version.
//
//   magic              "STOKER DATASET1\n"
//   source, store      bytes
//   names              u64, and for each: bytes
//   first reads        u64, and for each: object, u64 offset, bytes
//   body               bytes, as the format keeps its index
//
// It is anybody's bytes, as the shards are: whoever may write these may write it.

// Its name, in the folder that the shards have in common. No shard is called so.
inline constexpr char kPublishedIndex[] = "stoker.index";

// A file that claims to be longer is not read.
inline constexpr uint64_t kMostPublishedBytes = uint64_t{8} << 30;

// What a format read of an object to learn the fields.
struct FirstRead {
  ObjectInfo object;
  uint64_t offset = 0;
  std::string bytes;
};

struct PublishedIndex {
  std::string source;              // the key of a DatasetConfig that names the format, such as "webdataset"
  std::string store;               // Store::identity of where the objects' versions are from
  std::vector<std::string> names;  // of the shards
  std::vector<FirstRead> first_reads;
  std::string body;
};

std::string SerializePublished(const PublishedIndex& index);

// Any bytes are safe to parse, and parsing allocates no more than a small multiple of their number. DataLoss for bytes
// that are damaged or no such index.
absl::StatusOr<PublishedIndex> ParsePublished(std::string_view bytes);

// Reads and parses the index that a file of ours is (ReadSealed).
absl::StatusOr<PublishedIndex> LoadPublished(const std::string& path);

// Reads and parses the index that `object` is.
absl::StatusOr<PublishedIndex> ReadPublished(Store& store, const ObjectInfo& object);

// Says what an object's version tells, where an index lies.
struct IndexPlace {
  bool is_same_store = false;  // versions are those of the store that was indexed
  bool is_local = false;       // versions are times of the last modification: "1700000000.000000001"
  std::string version;         // of the index
};

// Whether the object that was `then` may be trusted to be the one that is there `now`: its name and size are equal. So
// is its version in the store that was indexed. Versions of another store tell nothing: a copy has others. But a local
// file whose time is another has to be older than the index, or it may have been written to since. FailedPrecondition
// names the object and says the difference.
absl::Status CheckUnchanged(const ObjectInfo& then, const ObjectInfo& now, const IndexPlace& place);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_INDEX_PUBLISHED_INDEX_H_
