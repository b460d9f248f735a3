#ifndef STOKER_CLIENT_FLEET_CHECK_ANSWER_H_
#define STOKER_CLIENT_FLEET_CHECK_ANSWER_H_

#include "absl/status/status.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Checks what a server answers before anything is computed or allocated by its numbers: a server may be broken, or
// hostile. The functions are pure. Internal, with the figures, says what no stokerd answers; the caller names the
// server.

// The fields are as large as the description says, the parts of a mix stand one after another up to the last sample,
// and samples, spans, parts and names are within what servers can have.
absl::Status CheckAnswer(const v1::DescribeRequest& request, const v1::DescribeResponse& response);

// The page has classes from request.first() on, as many as there can be, and at least one if there is one.
absl::Status CheckAnswer(const v1::ListClassesRequest& request, const v1::ListClassesResponse& response);

// The page has labels from request.labels().first() on, or names of the first few of request.names(); as many as there
// can be, and at least one if there is one.
absl::Status CheckAnswer(const v1::ListSamplesRequest& request, const v1::ListSamplesResponse& response);

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_CHECK_ANSWER_H_
