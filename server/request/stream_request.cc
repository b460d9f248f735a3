#include "server/request/stream_request.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/identity/dataset_name.h"
#include "common/identity/epoch_order.h"
#include "common/identity/subset.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"
#include "grpcpp/support/slice.h"

namespace stoker {
namespace {

constexpr int kMaxListedNames = 4096;

}  // namespace

absl::StatusOr<v1::StreamRequest> ParseStreamRequest(const grpc::ByteBuffer& message) {
  if (message.Length() > kMaxRequestBytes)
    return absl::InvalidArgumentError(
        absl::StrCat("the request has ", message.Length(), " bytes, more than ", kMaxRequestBytes));
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) return absl::InvalidArgumentError("the request cannot be decompressed");
  std::string bytes;
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  v1::StreamRequest request;
  if (!request.ParseFromString(bytes))
    return absl::InvalidArgumentError("the request is not a stoker.v1.StreamRequest");
  return request;
}

absl::Status ValidateDatasetName(const std::string& name) {
  if (name.empty()) return absl::InvalidArgumentError("dataset: no name is given; ListDatasets tells which there are");
  if (IsDatasetName(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("dataset: '", absl::CHexEscape(name.substr(0, kMaxDatasetNameBytes)),
                                                 "' is not a dataset's name, which is ", kDatasetNameRule));
}

absl::Status ValidateOpen(const v1::Open& open) {
  STOKER_RETURN_IF_ERROR(ValidateDatasetName(open.dataset()));
  STOKER_RETURN_IF_ERROR(ValidateSubset(open.subset()));
  STOKER_RETURN_IF_ERROR(ValidateShuffle(open.shuffle()));
  return ValidatePipeline(open.pipeline());
}

absl::Status ValidateDescribe(const v1::DescribeRequest& request) {
  STOKER_RETURN_IF_ERROR(ValidateDatasetName(request.dataset()));
  STOKER_RETURN_IF_ERROR(ValidateSubset(request.subset()));
  STOKER_RETURN_IF_ERROR(ValidateShuffle(request.shuffle()));
  return ValidatePipeline(request.pipeline());
}

absl::Status ValidateListSamples(const v1::ListSamplesRequest& request) {
  STOKER_RETURN_IF_ERROR(ValidateDatasetName(request.dataset()));
  if (request.has_labels()) return ValidateSubset(request.labels().subset());
  if (!request.has_names()) return absl::InvalidArgumentError("the request asks for neither labels nor names");
  if (request.names().ids_size() <= kMaxListedNames) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("ids: ", request.names().ids_size(), " are more than ", kMaxListedNames, "; ask page by page"));
}

}  // namespace stoker
