#include "server/main/grpc_build.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "grpc/grpc.h"
#include "grpcpp/grpcpp.h"

namespace stoker {
namespace {

constexpr std::pair<int, int> kFirstHardened = {1, 60};
constexpr char kSuffix[] = "+stoker.";

// (1, 51) of "1.51.1".
std::pair<int, int> MinorVersion(const std::string& version) {
  const std::vector<std::string> parts = absl::StrSplit(version, '.');
  std::pair<int, int> minor = {0, 0};
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[0], &minor.first) || !absl::SimpleAtoi(parts[1], &minor.second))
    return {0, 0};
  return minor;
}

}  // namespace

GrpcBuild GrpcBuildOf(const std::string& version, const std::string& core) {
  const std::string name = absl::StrCat("gRPC ", version);
  if (const size_t suffix = core.find(kSuffix); suffix != std::string::npos)
    return {absl::StrCat(name, " with Stoker's fixes ", core.substr(suffix + sizeof kSuffix - 1)), true};
  if (MinorVersion(version) >= kFirstHardened) return {name, true};
  return {absl::StrCat(name, " without Stoker's fixes"), false};
}

GrpcBuild GrpcBuildOfThisProcess() { return GrpcBuildOf(grpc::Version(), grpc_version_string()); }

}  // namespace stoker
