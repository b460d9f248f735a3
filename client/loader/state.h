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
  std::string dataset;  // its name: for messages, never compared
  v1::Identity identity;
  uint64_t pipeline_hash = 0;  // WholeHash: placement may change
  uint64_t seed = 0;
  v1::Shuffle shuffle;
};

// A cursor and what it belongs to, as small JSON in global samples:
// {"version": 1, "dataset": …, "epoch": 3, "position": 51200, …}.
std::string EncodeState(const JobIdentity& job, const Cursor& cursor);

// The cursor in `state`. InvalidArgument where it is no state of a version known here; FailedPrecondition names
// what differs from `job`; pixel version and check may differ if `accept_other_pixels`.
absl::StatusOr<Cursor> DecodeState(const std::string& state, const JobIdentity& job, bool accept_other_pixels);

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_STATE_H_
