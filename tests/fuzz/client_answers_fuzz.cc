// Whatever a server answers, a client takes it or says why not, and what it takes keeps the promises that it then
// computes and allocates by. The first byte says which answer follows; that of a page is in the second byte.

#include <cstdint>
#include <string>
#include <string_view>

#include "client/capi/documents.h"
#include "client/fleet/check_answer.h"
#include "client/fleet/client.h"
#include "client/loader/open_job.h"
#include "common/check.h"
#include "common/fields/schema.h"
#include "common/identity/dataset_name.h"
#include "common/identity/mixed_parts.h"
#include "common/pipeline/server_pipeline.h"
#include "common/wire/span_codec.h"
#include "google/protobuf/stubs/logging.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {
namespace {

template <typename Message>
bool Parse(std::string_view bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void CheckListDatasets(std::string_view bytes) {
  v1::ListDatasetsResponse response;
  if (Parse(bytes, response)) STOKER_CHECK(!ListDocument(response).empty());
}

void CheckJob(const OpenedJob& job) {
  const uint64_t sample_bytes = job.description.sample_bytes();
  STOKER_CHECK(sample_bytes >= 1 && sample_bytes <= kMaxSampleBytes);
  STOKER_CHECK(job.batch_bytes() == 4 * job.layout.typical_bytes() && job.prefetch() >= 1);
  STOKER_CHECK(job.layout.typical_bytes() <= sample_bytes && job.slab_bytes() <= 8 * sample_bytes);
  STOKER_CHECK(job.span_samples() >= 1 && job.span_samples() <= ServerPipeline::kMaxSpanSamples);
  const BatchPlan plan(job.plan);
  const auto batch = plan.At({0, 0});
  STOKER_CHECK(batch.has_value() && batch->rows == 4);
  STOKER_CHECK(job.stream_open().IsInitialized());
  STOKER_CHECK(DecodeState(EncodeState(job.identity(), {0, 0}), job.identity(), false).ok());
}

// A sample has one part, and what is computed of parts fits 64 bits.
void CheckParts(const v1::DescribeResponse& response) {
  STOKER_CHECK(response.parts_size() <= kMostMixedParts);
  uint64_t end = 0;
  for (const v1::DatasetPart& part : response.parts()) {
    STOKER_CHECK(part.end() > end && part.end() <= response.dataset_samples());
    STOKER_CHECK(part.name().size() <= kMaxDatasetNameBytes && part.weight() <= kMostMixedWeight);
    end = part.end();
  }
}

void CheckDescribe(std::string_view bytes) {
  v1::DescribeResponse response;
  if (!Parse(bytes, response)) return;
  const bool plausible = CheckAnswer(v1::DescribeRequest(), response).ok();
  const auto job = JoinJob({.dataset = "photos", .batch_size = 4, .rank = 0, .world_size = 1}, nullptr, response);
  STOKER_CHECK(plausible || !job.ok());
  if (plausible) CheckParts(response);
  if (job.ok()) CheckJob(*job);
  STOKER_CHECK(Difference(response.identity(), response.identity()).empty());
}

void CheckListClasses(uint64_t first, std::string_view bytes) {
  v1::ListClassesRequest request;
  request.set_first(first);
  v1::ListClassesResponse response;
  if (!Parse(bytes, response) || !CheckAnswer(request, response).ok()) return;
  STOKER_CHECK(response.classes_size() > 0 || first >= response.total());
  const uint64_t found = response.classes_size();
  STOKER_CHECK(found == 0 || first + found <= response.total());
}

void CheckListSamples(uint64_t first, std::string_view bytes) {
  v1::ListSamplesResponse response;
  if (!Parse(bytes, response)) return;
  v1::ListSamplesRequest labels, names;
  labels.mutable_labels()->set_first(first);
  names.mutable_names();
  if (CheckAnswer(labels, response).ok()) {
    uint64_t samples = first;
    for (const v1::LabelRun& run : response.labels()) samples += run.count();
    STOKER_CHECK(response.labels().empty() ? first >= response.total() : samples <= response.total());
    STOKER_CHECK(samples > first || first >= response.total());
  }
  for (uint64_t id = 0; id < first; ++id) names.mutable_names()->add_ids(id);
  if (CheckAnswer(names, response).ok()) STOKER_CHECK(static_cast<uint64_t>(response.names_size()) <= first);
}

void CheckStream(std::string_view bytes) {
  const Slices message(&bytes, 1);
  v1::StreamResponse response;
  const bool parses = Parse(bytes, response);
  if (!IsSpan(message)) return;
  const auto span = ParseSpan(message);
  STOKER_CHECK(!span.ok() || (parses && response.has_span()));
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static google::protobuf::LogSilencer silence;  // Protobuf logs every string that is not UTF-8.
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  switch (data[0] % 5) {
    case 0: stoker::CheckListDatasets(bytes); break;
    case 1: stoker::CheckDescribe(bytes); break;
    case 2: stoker::CheckListClasses(data[1], bytes); break;
    case 3: stoker::CheckListSamples(data[1], bytes); break;
    default: stoker::CheckStream(bytes);
  }
  return 0;
}
