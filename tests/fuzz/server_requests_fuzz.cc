// Whatever a client asks, a server takes it or says why not, and plans what it takes. The first byte says which request
// follows; it cuts those of a stream into slices, too.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "common/identity/dataset_name.h"
#include "common/identity/subset.h"
#include "common/pipeline/pipeline.h"
#include "google/protobuf/stubs/logging.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"
#include "server/request/stream_request.h"

namespace stoker {
namespace {

template <typename Message>
bool Parse(std::string_view bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// A refusal is the client's fault, in words.
void CheckRefusal(const absl::Status& status) {
  STOKER_CHECK(absl::IsInvalidArgument(status) && !status.message().empty());
}

// What was taken is valid by each of its parts.
template <typename Request>
void CheckTaken(const Request& request) {
  STOKER_CHECK(IsDatasetName(request.dataset()));
  STOKER_CHECK(ValidateSubset(request.subset()).ok());
  STOKER_CHECK(ValidatePipeline(WithDefaults(request.pipeline())).ok());
}

void CheckStream(uint8_t cut, std::string_view bytes) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0, step = cut + 1; at < bytes.size(); at += step) {
    const std::string_view piece = bytes.substr(at, step);
    slices.emplace_back(piece.data(), piece.size());
  }
  const auto request = ParseStreamRequest(grpc::ByteBuffer(slices.data(), slices.size()));
  v1::StreamRequest whole;
  STOKER_CHECK(request.ok() == (bytes.size() <= kMaxRequestBytes && Parse(bytes, whole)));
  if (!request.ok()) return CheckRefusal(request.status());
  if (!request->has_open()) return;
  const absl::Status status = ValidateOpen(request->open());
  status.ok() ? CheckTaken(request->open()) : CheckRefusal(status);
}

void CheckDescribe(std::string_view bytes) {
  v1::DescribeRequest request;
  if (!Parse(bytes, request)) return;
  const absl::Status status = ValidateDescribe(request);
  status.ok() ? CheckTaken(request) : CheckRefusal(status);
}

void CheckListClasses(std::string_view bytes) {
  v1::ListClassesRequest request;
  if (!Parse(bytes, request)) return;
  const absl::Status status = ValidateDatasetName(request.dataset());
  if (!status.ok()) CheckRefusal(status);
}

void CheckListSamples(std::string_view bytes) {
  v1::ListSamplesRequest request;
  if (!Parse(bytes, request)) return;
  const absl::Status status = ValidateListSamples(request);
  if (!status.ok()) return CheckRefusal(status);
  STOKER_CHECK(IsDatasetName(request.dataset()) && (request.has_labels() || request.names().ids_size() <= 4096));
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static google::protobuf::LogSilencer silence;  // Protobuf logs every string that is not UTF-8.
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: stoker::CheckStream(data[0] / 4, bytes); break;
    case 1: stoker::CheckDescribe(bytes); break;
    case 2: stoker::CheckListClasses(bytes); break;
    default: stoker::CheckListSamples(bytes);
  }
  return 0;
}
