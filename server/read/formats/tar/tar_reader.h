#ifndef STOKER_SERVER_READ_FORMATS_TAR_TAR_READER_H_
#define STOKER_SERVER_READ_FORMATS_TAR_TAR_READER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/formats/tar/tar_header.h"
#include "server/read/stores/store.h"

namespace stoker {

// A regular file in a tar archive. A plain value.
struct TarMember {
  std::string name;     // as the archive has it: any bytes but NUL, and never used as a path
  uint64_t offset = 0;  // of its data in the archive
  uint64_t size = 0;    // bytes of its data, all of which the archive has
};

// Walks through the members of one tar archive, skipping their data. One thread at a time. It holds a window of the
// archive, some KiB of a local file or some MiB of a remote one, and a member's name, which is 1 MiB at most.
//
// It is our own, and not libarchive, because what an index needs is each member's place, which libarchive does not
// tell, and of the many archives and filters that it knows none but tar is wanted here.
//
// Errors name the archive and the byte. DataLoss for an archive that is damaged, cut short, or has a sparse file.
class TarReader {
 public:
  // Both must outlive the reader.
  TarReader(Store& store, const ObjectInfo& archive) : store_(store), archive_(archive) {}

  // Returns the next regular file; none at the archive's end. Folders, links and devices are skipped: webdataset does
  // not take them for members either.
  absl::StatusOr<std::optional<TarMember>> Next();

  // Returns the archive's bytes, which live until the next call. `size` must not be above 1 MiB.
  absl::StatusOr<std::span<const uint8_t>> BytesAt(uint64_t offset, uint64_t size);

 private:
  // What extended headers say of the member that follows them.
  struct Extended {
    std::optional<std::string> name;
    PaxRecords pax;
  };

  absl::Status ErrorAt(uint64_t offset, std::string_view what) const;
  absl::StatusOr<std::string_view> DataOf(const TarHeader& header);
  absl::Status Extend(const TarHeader& header, Extended& extended);

  Store& store_;
  const ObjectInfo& archive_;
  uint64_t at_ = 0;  // of the next header
  std::vector<uint8_t> window_;
  uint64_t window_begin_ = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TAR_TAR_READER_H_
