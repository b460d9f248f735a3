#ifndef STOKER_SERVER_READ_CONTENT_CONTENT_HASHES_H_
#define STOKER_SERVER_READ_CONTENT_CONTENT_HASHES_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/dataset.h"

namespace stoker {

// The hashes of one sample's bytes, over all fields in the schema's order.
struct SampleHashes {
  // XXH3-128. It is quick enough to compare at each read, and finds damage, but not malice.
  std::array<uint64_t, 2> quick = {};
  // The SHA-256 of each field's length (8 bytes, little-endian) and bytes.
  std::array<uint8_t, 32> digest = {};
};

std::array<uint64_t, 2> QuickHashOf(const SampleBytes& sample);
SampleHashes HashesOf(const SampleBytes& sample);

// Returns what identifies the bytes of all samples: the SHA-256 of "stoker.content.v1", the number of samples (8 bytes,
// little-endian), and each sample's digest in index order.
std::string ContentOf(const std::vector<SampleHashes>& hashes);

// The file that keeps a dataset's hashes, so that its bytes are read once and not at each start. All functions are
// thread-safe. The file holds, where numbers are little-endian:
//
//   magic          16 bytes, "STOKER CONTENT 1"
//   fingerprint    32 bytes, the dataset's
//   samples        u64 N
//   quick hashes   N × 2 × u64
//   digests        N × 32 bytes
//   checksum       u64, XXH3-64 of all the bytes before; it finds damage, and only its owner can write the file

// Reads the file. Errors are NotFound where there is none, FailedPrecondition where it is another dataset's,
// PermissionDenied where it may not be trusted (see OpenOwn), DataLoss where it is damaged, and Unavailable.
absl::StatusOr<std::vector<SampleHashes>> LoadHashes(const std::string& path, std::string_view fingerprint,
                                                     uint64_t samples);

// Writes the file as a whole, and makes the folders above it where they are missing. An error is Unavailable and names
// the path.
absl::Status StoreHashes(const std::string& path, std::string_view fingerprint,
                         const std::vector<SampleHashes>& hashes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CONTENT_CONTENT_HASHES_H_
