#ifndef STOKER_CLIENT_LOADER_STATE_H_
#define STOKER_CLIENT_LOADER_STATE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "client/schedule/batch_plan.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// What a saved cursor depends on: a job may go on from it only where these are equal. A value.
struct JobIdentity {
  std::string dataset;  // Its name is for messages, and never compared.
  v1::Identity identity;
  uint64_t pipeline_hash = 0;  // WholeHash, which leaves out where ops are placed.
  v1::Pipeline pipeline;       // It is for messages too: the hash is what is compared.
  uint64_t seed = 0;
  v1::Shuffle shuffle;
};

// A cursor and the job that it belongs to, as small JSON; positions count the global order's samples:
// {"version": 1, "dataset": …, "epoch": 3, "position": 51200, …}. It takes some hundred bytes, and the pipeline's text,
// of at most 2 KiB, for messages.
std::string EncodeState(const JobIdentity& job, const Cursor& cursor);

// The cursor in `state`. InvalidArgument where that is no state, or one of a version that is not known here;
// FailedPrecondition names what differs from `job`; the content's hash is compared only where both have it. Pixel
// version and self-check may differ if `accept_other_pixels`.
absl::StatusOr<Cursor> DecodeState(const std::string& state, const JobIdentity& job, bool accept_other_pixels);

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_STATE_H_
