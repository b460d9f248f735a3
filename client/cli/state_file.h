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

// The file of `--state FILE`, by which a command goes on where its last run stopped. It holds what Loader::State()
// returns, so that Python and C++ take it too, and in the middle of an epoch whose digest is taken, that digest so far
// as "digest", which those overlook.

// What a state file said. A value.
struct SavedState {
  std::string path;    // Empty: there is no --state.
  bool found = false;  // The file was there, and the loader is moved.
  Cursor cursor;       // Where the loader stands.
  std::string digest;  // What EpochDigest::Save() returned there, or empty.
};

// Adds --state; `help` says what the command does with it. `path` must outlive the parsing.
void AddStateFlag(CLI::App& command, const std::string& help, std::string& path);

// Moves `loader` to where the file at `path` says, if there is one. Errors name --state and the file: it cannot be read
// or written, or is not of this job.
absl::StatusOr<SavedState> RestoreFrom(const std::string& path, Loader& loader);

// The digest of the epoch in which `saved` stands, as far as that. FailedPrecondition if that is past its start and the
// file has no digest of what lies before.
absl::StatusOr<std::unique_ptr<EpochDigest>> BeginDigest(const SavedState& saved);

// Replaces the file by where `loader` stands and, where its epoch is begun, the `digest` so far of that, if any.
absl::Status SaveTo(const std::string& path, const Loader& loader, const EpochDigest* digest);

// The first of two errors, with the message of the other one behind its own.
absl::Status Both(const absl::Status& first, const absl::Status& second);

// Where `loader` stands.
Cursor CursorOf(const Loader& loader);

// "position 5120 of 60000 of epoch 3".
std::string PlaceOf(const Loader& loader);

// Batches from `position` to the end of an epoch.
uint64_t BatchesLeft(const Loader& loader, uint64_t position);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_STATE_FILE_H_
