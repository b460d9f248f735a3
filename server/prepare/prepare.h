#ifndef STOKER_SERVER_PREPARE_PREPARE_H_
#define STOKER_SERVER_PREPARE_PREPARE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// How far a preparation is.
struct PrepareProgress {
  uint64_t files = 0;      // files of the source
  uint64_t done = 0;       // files that exist in the output folder, those of earlier runs included
  uint64_t made = 0;       // files that this run made
  uint64_t bytes_in = 0;   // bytes of the source's files from which this run made its own
  uint64_t bytes_out = 0;  // bytes of the files that this run made
};

// What is written: a folder of the same files, or shards of many.
enum class PreparedFormat { kFolder, kWebDataset, kMds };

struct PrepareOptions {
  std::string data, out;  // paths of the source folder and the output folder

  // Prepares this dataset, of any kind, instead of the folder `data`, which then is only what messages call it. Its
  // local files are in these folders, in which nothing is written.
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::string> roots;

  v1::Prepared mode;  // only `mode` is set; the other fields are Prepare's to fill
  PreparedFormat format = PreparedFormat::kFolder;
  uint64_t shard_bytes = uint64_t{128} << 20;  // of a shard at most, unless one sample has more; below 2^32
  int workers = 1;                             // threads, at least 1
  bool overwrite = false;  // Replaces what the output folder holds from other settings or other programs.
  std::string tool;        // description of the build, for prepared.yaml

  // Once `*stop` is true, the run ends after the files in hand. Null: the run cannot be stopped.
  const std::atomic<bool>* stop = nullptr;

  // If set, `indexing` is told how many files of `data` were found so far, while they are listed.
  std::function<void(uint64_t files)> indexing;

  // If set, `labels` is told how many labels of a dataset were read so far, where class folders are made of one whose
  // index has none.
  std::function<void(uint64_t samples)> labels;

  // If set, `progress` is told the progress at the start and after each file. Any thread may call it, but only one at a
  // time.
  std::function<void(const PrepareProgress&)> progress;
};

inline constexpr int kMostProblems = 1000;  // problems that prepared.yaml names; further ones are only reported

struct PrepareReport {
  struct Problem {
    std::string file;  // printable path relative to the folder
    std::string reason;
  };

  PrepareProgress progress;
  bool stopped = false;           // `stop` ended the run; the same call goes on from there.
  bool was_complete = false;      // There was nothing to do.
  std::vector<Problem> problems;  // files that this run or an earlier one could not prepare
  uint64_t shards = 0;            // number of shards that there are now
  uint64_t might_be_scaled = 0;   // number of files made by this run with MadeFile::might_be_scaled
};

// Prepares an image folder: makes the folder `out` from `data`, file by file, with the same class folders and names, or
// shards of them (shards.h). Of any other dataset it makes class folders (folder_plan.h) or shards with all its fields
// (shard_columns.h). It goes on where an earlier run with the same settings ended, even if that was killed. Errors say
// what to do, and what cannot be written is said before anything is.
absl::StatusOr<PrepareReport> Prepare(const PrepareOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_PREPARE_H_
