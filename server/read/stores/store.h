#ifndef STOKER_SERVER_READ_STORES_STORE_H_
#define STOKER_SERVER_READ_STORES_STORE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stoker {

// An object as its store describes it. A plain value.
struct ObjectInfo {
  std::string name;     // relative to the store's root, with '/' between folders; any bytes but NUL
  uint64_t size = 0;    // bytes
  std::string version;  // changes when the object does: an ETag, a time; empty where the store has none
};

// Ranges of named objects below one root: a folder, a bucket's prefix, a URL. A store knows no format.
//
// Thread-safe. Errors are NotFound for what is not there, PermissionDenied, FailedPrecondition for an object that is
// not the one that was described ("changed since it was indexed"), Unimplemented for what the store cannot do, and
// Unavailable for the rest, where another try or machine may succeed. They name the object as people know it, and what
// to do; they hold no secrets.
class Store {
 public:
  virtual ~Store() = default;

  // Says for people where the root is: "/data/shards", "s3://bucket/train".
  virtual std::string description() const = 0;

  // Returns what tells the root apart from every other: equal where the same names mean the same objects, and with '/'
  // and a name behind it the objects' own.
  virtual std::string identity() const { return description(); }

  // Whether a read takes so long that it pays to begin it before a worker needs the bytes.
  virtual bool is_remote() const = 0;

  using Progress = std::function<void(uint64_t objects)>;
  struct Listing {
    std::string prefix;           // that names begin with
    uint64_t most = ~uint64_t{};  // is enough: whichever so many are found first
    Progress progress = nullptr;  // if set, is called now and then with the number found so far
  };

  // Returns the objects at any depth, in the bytewise order of their names. Unimplemented where a store cannot list, as
  // HTTP.
  virtual absl::StatusOr<std::vector<ObjectInfo>> List(const Listing& listing) = 0;

  // Returns the names of the folders right below the root, in bytewise order, without their slashes. Unimplemented
  // where a store cannot tell them without listing all.
  virtual absl::StatusOr<std::vector<std::string>> Folders();

  // Describes objects, in the order of their names here. Asks for many at once, where that is faster.
  virtual absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names) = 0;

  // One range of one object. `object` and the memory of `into` must live until `done` was called.
  struct Range {
    const ObjectInfo* object;  // as it was described: another version of it is an error
    uint64_t offset;
    std::span<uint8_t> into;  // is filled from `offset` on; requires that the object has as many bytes
  };
  using Done = std::function<void(const absl::Status&)>;

  // Begins to read. `done` is called once: before Read returns, or later on a thread of the store's, where it must not
  // block.
  virtual void Read(const Range& range, Done done) = 0;
};

// Reads, and waits for it.
absl::Status ReadNow(Store& store, const Store::Range& range);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_STORE_H_
