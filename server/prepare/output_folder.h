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

// The folder that prepare writes. Even after the process was killed it is known what the folder holds: its
// prepared.yaml says which settings and source its files were made from, and each file is written under another name
// and then renamed, so that a file that exists is whole.
//
// Put and Remove are thread-safe, if no two threads share a `writer`. All other calls must come one at a time, but may
// come beside those. One process at a time: the folder is locked while this object lives. Errors name the file, and are
// Unavailable unless said otherwise.
class OutputFolder {
 public:
  // Makes the folder at `path` and those above it, or goes on with one that was begun. `wanted` has settings and
  // source, and no state. FailedPrecondition, with what to do, if another process works on the folder, or if it holds
  // something else and `overwrite` is false.
  static absl::StatusOr<OutputFolder> Open(const std::string& path, const v1::Prepared& wanted, bool overwrite);

  // COMPLETE, UNFINISHED, or CLEARING: the last means that files under the source's names were made otherwise and must
  // be removed first.
  v1::PreparedState state() const { return prepared_.state(); }

  // Writes prepared.yaml with this state and, for COMPLETE, the fingerprint of the output folder. Writes nothing if the
  // file says so already.
  absl::Status SetState(v1::PreparedState state, const std::string& folder_fingerprint = "");

  // What prepared.yaml holds.
  const v1::Prepared& prepared() const { return prepared_; }

  // Replaces the problems that prepared.yaml will name when the state is set next.
  void SetProblems(const google::protobuf::RepeatedPtrField<v1::PreparedProblem>& problems);

  // Makes or replaces the file at `file`, a path relative to the folder, with `bytes`. `writer` is the calling thread's
  // number. The bytes may not be on the disk before Sync.
  absl::Status Put(int writer, const std::string& file, std::span<const uint8_t> bytes) const;

  // Removes a file, if it exists.
  absl::Status Remove(const std::string& file) const;

  // Removes the partly written files that killed writers left behind.
  absl::Status RemoveParts() const;

  // Waits until all that was put is on the disk.
  absl::Status Sync() const;

  const std::string& path() const { return path_; }
  int descriptor() const { return folder_.number(); }

 private:
  OutputFolder(std::string path, Descriptor folder, const v1::Prepared& wanted);

  absl::Status TakeOver(bool overwrite);

  std::string path_;  // canonical
  Descriptor folder_;
  v1::Prepared prepared_;
  bool stored_ = false;  // whether prepared.yaml says what prepared_ says
};

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_OUTPUT_FOLDER_H_
