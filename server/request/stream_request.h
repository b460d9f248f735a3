#ifndef STOKER_SERVER_REQUEST_STREAM_REQUEST_H_
#define STOKER_SERVER_REQUEST_STREAM_REQUEST_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/support/byte_buffer.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// The largest request that a client may send, in bytes.
inline constexpr int kMaxRequestBytes = 64 << 10;

// How many wants one stream may have outstanding.
inline constexpr int kMaxOutstandingWants = 1024;

// The functions below are pure, hence thread-safe. Their errors are InvalidArgument, worded for the client.

// Parses one message of a Stream. Fails if it is larger than kMaxRequestBytes or not a StreamRequest.
absl::StatusOr<v1::StreamRequest> ParseStreamRequest(const grpc::ByteBuffer& message);

// OK if a dataset may have this name: 1 to 128 letters, digits, '.', '_' and '-', the first not a dot. The error shows
// the name escaped. A name is only looked up in the configuration, never opened as a path.
absl::Status ValidateDatasetName(const std::string& name);

// OK if `open` has a possible dataset name, and a valid subset, shuffle and pipeline. It says nothing about whether the
// dataset exists.
absl::Status ValidateOpen(const v1::Open& open);

// OK if `request` has a possible dataset name, and a valid subset, shuffle and pipeline.
absl::Status ValidateDescribe(const v1::DescribeRequest& request);

// OK if `request` has a possible dataset name, and asks for labels of a valid subset, or for up to 4096 names.
absl::Status ValidateListSamples(const v1::ListSamplesRequest& request);

}  // namespace stoker

#endif  // STOKER_SERVER_REQUEST_STREAM_REQUEST_H_
