#ifndef STOKER_SERVER_SCAN_SCAN_H_
#define STOKER_SERVER_SCAN_SCAN_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "server/scan/finding.h"

namespace stoker {

// How far a scan is.
struct ScanProgress {
  uint64_t samples = 0;  // of the dataset
  uint64_t known = 0;    // samples that an earlier run scanned
  uint64_t scanned = 0;  // samples that this run scanned
  uint64_t images = 0;   // images of those
  uint64_t found = 0;    // findings so far, without duplicates
};

struct ScanOptions {
  int workers = 1;                          // threads that decode, at least 1
  uint64_t max_pixels = uint64_t{1} << 26;  // of an image

  // The file that makes the scan go on where it was stopped (see ScanState). Empty: the scan cannot go on.
  std::string state_file;

  // Once `*stop` is true, the run ends within a few rows of an image. Null: the run cannot be stopped.
  const std::atomic<bool>* stop = nullptr;

  // If set, it is told the progress at the start and after each sample. Any thread may call it, but only one at a time.
  std::function<void(const ScanProgress&)> progress;
};

struct ScanReport {
  ScanProgress progress;
  bool stopped = false;           // `stop` ended the run; the same call goes on from there.
  std::vector<Finding> findings;  // sorted; none where the run was stopped

  // Returns how many samples have a finding of each kind, by FindingKind.
  std::array<uint64_t, kFindingKinds> Counts() const;
};

// Reads and decodes all samples of `dataset`, on several threads. The findings depend on the samples and on max_pixels
// alone, and not on threads, nor on how often the scan was stopped.
//
// Samples that the storage did not give are findings too. The state file then stays, and the same call tries these
// samples again; else the file is removed by the caller (RemoveState), once it has kept the findings.
//
// It takes 24 bytes of memory a sample, beside what an image takes in each thread. Errors are those of the state file,
// ResourceExhausted where memory is short, and Unavailable where this machine lacks the module for a format of images.
absl::StatusOr<ScanReport> Scan(const Dataset& dataset, const ScanOptions& options);

// Removes the state file of a scan of which `report` is the end, unless it must stay.
absl::Status RemoveState(const ScanOptions& options, const ScanReport& report);

}  // namespace stoker

#endif  // STOKER_SERVER_SCAN_SCAN_H_
