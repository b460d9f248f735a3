#ifndef STOKER_CLIENT_CLI_STATE_FILE_H_
#define STOKER_CLIENT_CLI_STATE_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/loader/epoch_digest.h"
#include "client/loader/loader.h"

namespace stoker {

// The file of `--state FILE` lets a command go on where its last run stopped. It holds what Loader::State() returns, so
// loaders in Python and C++ accept it too. If a digest of the epoch is being taken, the file also holds the digest so
// far under the key "digest", which loaders ignore.

// What a state file said. A plain value.
struct SavedState {
  std::string path;    // the file's path; empty without --state
  bool found = false;  // whether the file was there and the loader was moved
  Cursor cursor;       // where the loader stands
  std::string digest;  // what EpochDigest::Save() returned at that place, or empty
};

// Adds --state; `help` says what the command does with it. `path` must outlive the parsing.
void AddStateFlag(CLI::App& command, const std::string& help, std::string& path);

// Moves `loader` to where the file at `path` says, if there is such a file. It is an error if the file cannot be read
// or written, or belongs to another job. Errors name --state and the file.
absl::StatusOr<SavedState> RestoreFrom(const std::string& path, Loader& loader);

// Returns the digest, as far as it has come, of the epoch in which `saved` stands. FailedPrecondition if `saved` stands
// past the epoch's start and the file has no digest of what lies before.
absl::StatusOr<std::unique_ptr<EpochDigest>> BeginDigest(const SavedState& saved);

// Replaces the file by one that says where `loader` stands. If `loader` is in the middle of an epoch and `digest` is
// not null, the file gets that epoch's digest so far.
absl::Status SaveTo(const std::string& path, const Loader& loader, const EpochDigest* digest);

// Joins two errors: returns the first, with the second one's message behind its own. If one is OK, returns the other.
absl::Status Both(const absl::Status& first, const absl::Status& second);

// Returns where `loader` stands.
Cursor CursorOf(const Loader& loader);

// Says where `loader` stands: "position 5120 of 60000 of epoch 3".
std::string PlaceOf(const Loader& loader);

// Returns the number of batches from `position` to the end of an epoch.
uint64_t BatchesLeft(const Loader& loader, uint64_t position);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_STATE_FILE_H_
