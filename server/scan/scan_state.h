#ifndef STOKER_SERVER_SCAN_SCAN_STATE_H_
#define STOKER_SERVER_SCAN_SCAN_STATE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/read/stores/local/record_file.h"
#include "server/scan/duplicates.h"
#include "server/scan/finding.h"

namespace stoker {

// A scan's unit of work and of what it remembers: the samples from number · kBlockSamples on. The last block of a
// dataset may have fewer.
inline constexpr uint64_t kBlockSamples = 16;
struct ScannedBlock {
  uint64_t number = 0;
  std::vector<SampleDigest> digests;  // one for each of its samples
  std::vector<Finding> findings;      // of its samples; none is a duplicate or unreadable
};

// Returns the body of a block's record, and the block of one; none where it is not a block of a dataset of so many
// samples. Any bytes are safe. Pure.
std::string SerializeBlock(const ScannedBlock& block);
std::optional<ScannedBlock> ParseBlock(absl::string_view body, uint64_t samples);

// The file that says which blocks of a dataset were scanned, and what was found, so that a scan that was killed at any
// moment goes on where it was. It is a RecordFile with a record for each block, in the order in which they were done.
// Numbers are little-endian:
//
//   head      16 bytes, "STOKER SCAN 1\n\0\0", and 32 bytes, a SHA-256 of all that findings depend on
//   records   u64 number, u64 samples, samples × 16 bytes digest,
//             u64 findings, each: u64 id, u8 kind, bytes field, bytes message ("bytes": u64 length, then these)
//
// One thread at a time. Errors are those of RecordFile.
class ScanState {
 public:
  // Opens the file at `path`, or makes it and the folders above it. Calls `known` with each block that it has if it was
  // begun with the same key; else it begins anew.
  static absl::StatusOr<ScanState> Open(const std::string& path, absl::string_view key, uint64_t samples,
                                        const std::function<void(ScannedBlock)>& known);

  absl::Status Append(const ScannedBlock& block) const { return file_.Append(SerializeBlock(block)); }

 private:
  explicit ScanState(RecordFile file) : file_(std::move(file)) {}

  RecordFile file_;
};

// Returns how many blocks a dataset has, and how many samples a block.
uint64_t BlocksOf(uint64_t samples);
uint64_t SamplesOfBlock(uint64_t number, uint64_t samples);

}  // namespace stoker

#endif  // STOKER_SERVER_SCAN_SCAN_STATE_H_
