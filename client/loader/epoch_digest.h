#ifndef STOKER_CLIENT_LOADER_EPOCH_DIGEST_H_
#define STOKER_CLIENT_LOADER_EPOCH_DIGEST_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "client/loader/batch.h"

namespace stoker {

// The one number of an epoch: SHA-256 over positions 0 … N−1 of position, sample id (8 bytes each, little-endian),
// then each field's server bytes in declared order. Independent of batches, ranks, servers, spans and device ops.
// One thread at a time.
class EpochDigest {
 public:
  EpochDigest();
  ~EpochDigest();

  // Adds a batch's real samples. InvalidArgument unless they follow those before, from position 0.
  absl::Status Add(const Batch& batch);

  // What was added so far, as a line of text: SHA-256 in the middle, not a digest. Another process goes on from it.
  std::string Save() const;

  // Goes on from what Save() returned, in place of what was added here. InvalidArgument where `saved` is something
  // else.
  absl::Status Resume(std::string_view saved);

  // 64 hexadecimal digits. Call once.
  std::string Hex();

  // Samples added.
  uint64_t samples() const { return next_position_; }

 private:
  struct Sha256;
  const std::unique_ptr<Sha256> sha_;
  uint64_t next_position_ = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_EPOCH_DIGEST_H_
