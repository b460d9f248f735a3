#ifndef STOKER_SERVER_PREPARE_PREPARE_H_
#define STOKER_SERVER_PREPARE_PREPARE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// How far a preparation is.
struct PrepareProgress {
  uint64_t files = 0;      // of the source
  uint64_t done = 0;       // that exist in OUT, those of earlier runs included
  uint64_t made = 0;       // by this run
  uint64_t bytes_in = 0;   // of those
  uint64_t bytes_out = 0;  // likewise
};

struct PrepareOptions {
  std::string data, out;  // Paths of folders.

  v1::Prepared mode;  // Nothing else of it is set.

  int workers = 1;         // At least 1.
  bool overwrite = false;  // Replace what OUT holds, if that is of other settings or not ours.
  std::string tool;        // For prepared.yaml.

  // Ends the run after the files in hand once it is true. None: it never does.
  const std::atomic<bool>* stop = nullptr;

  // If set, told how many files of `data` were found, while it is indexed, and the progress at the start and after
  // each file: by any thread, one at a time.
  std::function<void(uint64_t files)> indexing;
  std::function<void(const PrepareProgress&)> progress;
};

struct PrepareReport {
  struct Problem {
    std::string file;  // Printable, relative to the folder.
    std::string reason;
  };

  PrepareProgress progress;
  bool stopped = false;           // By `stop`: the same run again goes on.
  bool was_complete = false;      // There was nothing to do.
  std::vector<Problem> problems;  // Files that could not be prepared, by earlier runs and this one.
  uint64_t might_be_scaled = 0;   // See MadeFile.
};

// Prepares an image folder: makes OUT, with the same class folders and names, from `data`, file by file. Goes on
// where an earlier run with the same settings was ended, however that came about. Errors say what to do.
absl::StatusOr<PrepareReport> Prepare(const PrepareOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_PREPARE_H_
