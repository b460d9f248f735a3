#ifndef STOKER_SERVER_REQUEST_STREAM_REQUEST_H_
#define STOKER_SERVER_REQUEST_STREAM_REQUEST_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/support/byte_buffer.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// The largest request that a client may send, in bytes.
inline constexpr int kMaxRequestBytes = 64 << 10;

// Wants that a stream may have outstanding.
inline constexpr int kMaxOutstandingWants = 1024;

// Parses one message of a Stream. InvalidArgument where it is none or too large.
absl::StatusOr<v1::StreamRequest> ParseStreamRequest(const grpc::ByteBuffer& message);

// OK if the name can be one of a dataset: letters, digits, '.', '_' and '-', at most 128, not starting with a
// dot. InvalidArgument shows the name escaped. Names are looked up, never opened.
absl::Status ValidateDatasetName(const std::string& name);

// OK if `open` can be looked up: a dataset's name, a valid pipeline and shuffle.
absl::Status ValidateOpen(const v1::Open& open);

// The same for a Describe.
absl::Status ValidateDescribe(const v1::DescribeRequest& request);

}  // namespace stoker

#endif  // STOKER_SERVER_REQUEST_STREAM_REQUEST_H_
