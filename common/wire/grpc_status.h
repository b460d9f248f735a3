#ifndef STOKER_COMMON_WIRE_GRPC_STATUS_H_
#define STOKER_COMMON_WIRE_GRPC_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace stoker {

// These convert between the two status types. Both number their codes as google.rpc.Code does.

inline grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

inline absl::Status FromGrpc(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

}  // namespace stoker

#endif  // STOKER_COMMON_WIRE_GRPC_STATUS_H_
