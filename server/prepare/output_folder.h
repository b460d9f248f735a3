#ifndef STOKER_SERVER_PREPARE_OUTPUT_FOLDER_H_
#define STOKER_SERVER_PREPARE_OUTPUT_FOLDER_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/stores/local/file.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// The folder that prepare writes. What it holds is known at every moment, also after a kill: its prepared.yaml says
// for which settings and source its files are, and each file is written beside its class folder and renamed, so that
// one that exists is whole.
//
// Thread-safe, if no two threads share a `writer`. One process at a time: the folder is locked while this lives.
// Errors are Unavailable unless said otherwise, and name the file.
class OutputFolder {
 public:
  // Makes the folder at `path`, with those above it, or goes on with one that was begun. `wanted` has settings and
  // source, and no state. FailedPrecondition, with what to do, for a folder that holds something else, unless
  // `overwrite`, and for one that another process works on.
  static absl::StatusOr<OutputFolder> Open(const std::string& path, const v1::Prepared& wanted, bool overwrite);

  // COMPLETE, UNFINISHED or, where files of the source's names are of other settings and must go first, CLEARING.
  v1::PreparedState state() const { return prepared_.state(); }

  // Writes prepared.yaml, unless it says so already.
  absl::Status SetState(v1::PreparedState state, const std::string& folder_fingerprint = "");

  // What prepared.yaml holds.
  const v1::Prepared& prepared() const { return prepared_; }

  // Replaces the problems that prepared.yaml will name when the state is set next.
  void SetProblems(const google::protobuf::RepeatedPtrField<v1::PreparedProblem>& problems);

  // Puts `bytes` in the place of the file at `file`, relative to the folder. Not synced to the disk: see Sync.
  absl::Status Put(int writer, const std::string& file, std::span<const uint8_t> bytes) const;

  // Removes a file, if it exists.
  absl::Status Remove(const std::string& file) const;

  // What writers that were killed left behind.
  absl::Status RemoveParts() const;

  // Writes all that was put to the disk.
  absl::Status Sync() const;

  const std::string& path() const { return path_; }
  int descriptor() const { return folder_.number(); }

 private:
  OutputFolder(std::string path, Descriptor folder, const v1::Prepared& wanted);

  absl::Status TakeOver(bool overwrite);

  std::string path_;  // Canonical.
  Descriptor folder_;
  v1::Prepared prepared_;
  bool stored_ = false;  // Whether prepared.yaml says what prepared_ says.
};

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_OUTPUT_FOLDER_H_
