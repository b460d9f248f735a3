#ifndef STOKER_SERVER_PREPARE_PREPARED_MODE_H_
#define STOKER_SERVER_PREPARE_PREPARED_MODE_H_

#include "absl/status/statusor.h"
#include "stoker/v1/prepared.pb.h"

namespace stoker {

// Checks the mode and returns it in the form in which settings are compared: of a pipeline only its server ops, with
// defaults and limits written out. All other fields are unset. A pipeline must have server ops, no views and no random
// op. InvalidArgument names the flag or op, and says what to do. Pure.
absl::StatusOr<v1::Prepared> ValidatedMode(const v1::Prepared& mode);

}  // namespace stoker

#endif  // STOKER_SERVER_PREPARE_PREPARED_MODE_H_
