#ifndef STOKER_CLIENT_LOADER_EPOCH_DIGEST_H_
#define STOKER_CLIENT_LOADER_EPOCH_DIGEST_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "client/loader/batch.h"

namespace stoker {

// The one number of an epoch: SHA-256 over, for each position from 0 to N−1, the position and the sample's id (8 bytes
// each, little-endian), then each field's bytes as the server made them, in declared order. Before the bytes of a field
// whose samples differ in size comes their number, in 8 bytes too. It does not depend on batches, ranks, servers, spans
// or device ops. One thread at a time.
class EpochDigest {
 public:
  EpochDigest();
  ~EpochDigest();

  // Adds a batch's samples but for padding. InvalidArgument unless they follow those that were added before, or begin
  // at position 0.
  absl::Status Add(const Batch& batch);

  // What was added so far, as a line of text from which another process goes on. It is the inside of an unfinished
  // SHA-256, not a digest.
  std::string Save() const;

  // Goes on from what Save() returned; forgets what was added here before. InvalidArgument where `saved` is something
  // else.
  absl::Status Resume(std::string_view saved);

  // The digest of what was added, as 64 hexadecimal digits. Call it once, at the end.
  std::string Hex();

  // Samples that were added.
  uint64_t samples() const { return next_position_; }

 private:
  // Adds number `row` of the samples of `field`, which is one of `fields`.
  void AddSample(const Tensor& field, const std::vector<Tensor>& fields, int64_t samples, int64_t row);

  struct Sha256;
  const std::unique_ptr<Sha256> sha_;
  uint64_t next_position_ = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_EPOCH_DIGEST_H_
