#include "client/fleet/check_answer.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/fields/companions.h"
#include "common/fields/schema.h"
#include "common/identity/dataset_name.h"
#include "common/identity/mixed_parts.h"
#include "common/pipeline/server_pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// No sum of positions exceeds 64 bits below this, which is also the longest epoch of weighted draws.
constexpr uint64_t kMostSamples = uint64_t{1} << 62;

constexpr int kMostFields = 4096, kMostDimensions = 32;
constexpr uint64_t kMostClasses = uint64_t{1} << 24;

absl::Status Implausible(const std::string& what) {
  return absl::InternalError(absl::StrCat("its answer is not what a stokerd sends: ", what));
}

absl::Status CheckSamples(uint64_t samples) {
  if (samples <= kMostSamples) return absl::OkStatus();
  return Implausible(absl::StrCat(samples, " samples"));
}

absl::Status CheckParts(const v1::DescribeResponse& response) {
  if (response.parts_size() > kMostMixedParts) return Implausible(absl::StrCat(response.parts_size(), " parts"));
  uint64_t end = 0, weights = 0;
  for (const v1::DatasetPart& part : response.parts()) {
    if (!IsDatasetName(part.name()))
      return Implausible(absl::StrCat("a part with a name of ", part.name().size(), " bytes that no dataset can have"));
    if (part.end() <= end) return Implausible(absl::StrCat("a part from sample ", end, " to ", part.end()));
    if ((part.weight() == 0) != (response.parts(0).weight() == 0))
      return Implausible("parts of which some have weights");
    if (part.weight() > kMostMixedWeight - weights)
      return Implausible(absl::StrCat("weights whose sum is above ", kMostMixedWeight));
    end = part.end();
    weights += part.weight();
  }
  if (response.parts().empty() || end == response.dataset_samples()) return absl::OkStatus();
  return Implausible(absl::StrCat("parts of ", end, " samples, where the dataset has ", response.dataset_samples()));
}

absl::Status EmptyPage() { return Implausible("an empty page of the dataset's index"); }

absl::Status CheckLabels(uint64_t first, const v1::ListSamplesResponse& response) {
  uint64_t left = response.total() - std::min(first, response.total());
  if (left > 0 && response.labels().empty()) return EmptyPage();
  for (const v1::LabelRun& run : response.labels()) {
    if (run.count() < 1 || run.count() > left)
      return Implausible(absl::StrCat("a run of ", run.count(), " labels where ", left, " are left"));
    left -= run.count();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAnswer(const v1::DescribeRequest& request, const v1::DescribeResponse& response) {
  STOKER_RETURN_IF_ERROR(CheckSamples(response.identity().samples()));
  STOKER_RETURN_IF_ERROR(CheckSamples(response.dataset_samples()));
  STOKER_RETURN_IF_ERROR(CheckParts(response));
  if (response.span_samples() < 1 || response.span_samples() > ServerPipeline::kMaxSpanSamples)
    return Implausible(absl::StrCat("it describes spans of ", response.span_samples(), " samples"));
  if (response.fields_size() > kMostFields) return Implausible(absl::StrCat(response.fields_size(), " fields"));
  uint64_t sample_bytes = 0;
  for (const v1::Field& field : response.fields()) {
    const int dimensions = std::max(field.shape_size(), field.dense_shape_size());
    if (dimensions > kMostDimensions) return Implausible(absl::StrCat("a field of ", dimensions, " dimensions"));
    if (!v1::FieldKind_IsValid(field.kind()))
      return absl::InvalidArgumentError(
          absl::StrCat("field '", field.name(), "' is of a kind that this client does not know (",
                       static_cast<int>(field.kind()), "); upgrade the client, or leave it out by pipeline.fields"));
    if (!v1::BoxFormat_IsValid(field.box_format()))
      return absl::InvalidArgumentError(absl::StrCat("field '", field.name(),
                                                     "' has boxes in a format that this client does not know (",
                                                     static_cast<int>(field.box_format()),
                                                     "); upgrade the client, or leave it out by "
                                                     "pipeline.fields"));
    const auto bytes = ByteSize(field);
    if (!bytes.ok()) return Implausible(std::string(bytes.status().message()));
    if (const absl::Status kind = CheckKind(field); !kind.ok()) return Implausible(std::string(kind.message()));
    sample_bytes += *bytes;
  }
  const std::vector<v1::Field> fields(response.fields().begin(), response.fields().end());
  if (const absl::Status joined = CheckCompanions(fields); !joined.ok())
    return Implausible(std::string(joined.message()));
  if (sample_bytes < 1 || sample_bytes > kMaxSampleBytes || sample_bytes != response.sample_bytes())
    return Implausible(absl::StrCat("it describes samples of ", response.sample_bytes(), " bytes, whose fields have ",
                                    sample_bytes, ", and at most ", kMaxSampleBytes, " can be"));
  if (response.span_samples() > 1 && response.span_samples() * sample_bytes > kMaxSampleBytes)
    return Implausible(
        absl::StrCat("it describes spans of ", response.span_samples(), " samples of ", sample_bytes, " bytes"));
  return absl::OkStatus();
}

absl::Status CheckAnswer(const v1::ListClassesRequest& request, const v1::ListClassesResponse& response) {
  const uint64_t total = response.total(), found = response.classes_size();
  if (total > kMostClasses) return Implausible(absl::StrCat(total, " classes"));
  const uint64_t left = total - std::min(request.first(), total);
  if (found > left) return Implausible(absl::StrCat("a page of ", found, " classes where ", left, " are left"));
  return left > 0 && found == 0 ? EmptyPage() : absl::OkStatus();
}

absl::Status CheckAnswer(const v1::ListSamplesRequest& request, const v1::ListSamplesResponse& response) {
  STOKER_RETURN_IF_ERROR(CheckSamples(response.total()));
  if (!request.has_names()) return CheckLabels(request.labels().first(), response);
  const int asked = request.names().ids_size(), found = response.names_size();
  if (found > asked) return Implausible(absl::StrCat(found, " names, and ", asked, " were asked for"));
  return asked > 0 && found == 0 ? EmptyPage() : absl::OkStatus();
}

}  // namespace stoker
