#ifndef STOKER_SERVER_MAIN_GRPC_BUILD_H_
#define STOKER_SERVER_MAIN_GRPC_BUILD_H_

#include <string>

namespace stoker {

// Which gRPC a process runs with. Debian 12's 1.51.1 lacks fixes that every release since 1.60 has; cmake/build_grpc.sh
// builds it with fixes of our own.
struct GrpcBuild {
  std::string text;       // "gRPC 1.51.1 with Stoker's fixes 1"
  bool hardened = false;  // whether it holds against hostile clients, by such fixes or its version
};

// Returns the build of a gRPC whose C++ layer calls itself `version` ("1.51.1"), and whose core `core` ("29.0.0"). Ours
// appends
// "+stoker.N" to the latter.
GrpcBuild GrpcBuildOf(const std::string& version, const std::string& core);

// The one that this process runs with.
GrpcBuild GrpcBuildOfThisProcess();

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_GRPC_BUILD_H_
