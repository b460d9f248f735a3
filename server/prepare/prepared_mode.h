#ifndef STOKER_SERVER_PREPARE_PREPARED_MODE_H_
#define STOKER_SERVER_PREPARE_PREPARED_MODE_H_

#include "absl/status/statusor.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// The mode of `mode` in the form that settings are compared in: a pipeline with its server ops alone, defaults and
// limits written out. InvalidArgument that names the flag or op, and what to do, where it cannot be prepared: a
// pipeline must have server ops, no views, and nothing that draws. Pure.
absl::StatusOr<v1::Prepared> ValidatedMode(const v1::Prepared& mode);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_PREPARED_MODE_H_
