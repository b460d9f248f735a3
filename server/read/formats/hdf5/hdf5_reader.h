#ifndef STOKER_SERVER_READ_FORMATS_HDF5_HDF5_READER_H_
#define STOKER_SERVER_READ_FORMATS_HDF5_HDF5_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/read/child/child_pool.h"
#include "server/read/formats/hdf5/messages.h"
#include "server/read/rows/row_group.h"
#include "server/read/stores/store.h"

namespace stoker {

// Takes HDF5 files apart, by children that run stoker-hdf5: the server itself reads bytes from the store alone,
// whichever the children fetch. Thread-safe. Messages of errors begin with the shard's name.
class Hdf5Reader {
 public:
  // A file of the store, and a number that no other has that this reader is asked for.
  struct File {
    uint64_t number = 0;
    const ObjectInfo* shard = nullptr;
  };

  // What a request may take, which may be to decompress 1 GiB. The library hangs on some files that are damaged.
  static constexpr absl::Duration kCpuTime = absl::Seconds(20);

  // Children that run `program` are at most so many, each for one call.
  Hdf5Reader(std::shared_ptr<Store> store, std::string program, int children, absl::Duration cpu_time = kCpuTime);

  // Returns where builds and installations have stoker-hdf5: in lib/stoker, beside the folder of this program.
  static std::string DefaultProgram() { return ChildProgram("stoker-hdf5"); }

  // Returns what a file has, in the bytewise order of the paths. DataLoss for what is no HDF5 file; FailedPrecondition
  // where this build has no program for it; else the store's errors and ChildPool's.
  absl::StatusOr<std::vector<Hdf5Column>> Describe(const File& file);

  // Returns where the rows of the columns at `paths` lie, each of which has `rows` of them. All runs lie in the file.
  // Errors are those of the store, and ChildPool's.
  absl::StatusOr<std::vector<Hdf5Places>> Places(const File& file, const std::vector<std::string>& paths,
                                                 uint64_t rows);

  // Reads `count` rows from `begin` on of the columns at `paths`. Errors are those of the store, and ChildPool's.
  absl::StatusOr<std::unique_ptr<const RowGroup>> Read(const File& file, const std::vector<std::string>& paths,
                                                       uint64_t begin, uint64_t count);

 private:
  absl::StatusOr<ChildAnswer> Ask(const File& file, Hdf5Request request, uint64_t most_bytes);

  const std::shared_ptr<Store> store_;
  ChildPool children_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_HDF5_HDF5_READER_H_
