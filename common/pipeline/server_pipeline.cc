#include "common/pipeline/server_pipeline.h"

#include <algorithm>
#include <bit>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/pipeline/ops.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr uint64_t kSpanBytes = uint64_t{1} << 20;

bool IsImage(const SourceField& field) {
  return field.kind == SourceField::Kind::kEncodedImage ||
         (field.name == "image" && field.dtype == v1::DTYPE_UINT8 && field.shape.size() == 3 && field.shape[2] == 3);
}

// The sources to send, in order, by index in the schema.
absl::StatusOr<std::vector<int>> Sources(const v1::Pipeline& pipeline, const SourceSchema& schema) {
  std::vector<int> sources;
  if (pipeline.fields().empty())
    for (size_t i = 0; i < schema.size(); ++i) sources.push_back(static_cast<int>(i));
  for (int i = 0; i < pipeline.fields_size(); ++i) {
    const std::string& name = pipeline.fields(i);
    auto field = std::find_if(schema.begin(), schema.end(), [&](const SourceField& f) { return f.name == name; });
    if (field == schema.end())
      return absl::InvalidArgumentError(absl::StrCat(
          "pipeline.fields[", i, "]: the dataset has no field '", name, "'; it has ",
          absl::StrJoin(schema, ", ", [](std::string* out, const SourceField& f) { absl::StrAppend(out, f.name); })));
    sources.push_back(static_cast<int>(field - schema.begin()));
    if (std::count(sources.begin(), sources.end(), sources.back()) > 1)
      return absl::InvalidArgumentError(absl::StrCat("pipeline.fields[", i, "]: '", name, "' stands twice"));
  }
  return sources;
}

absl::StatusOr<ImageSize> ImageOutput(const v1::Pipeline& pipeline, int ops, const SourceField& source) {
  std::optional<ImageSize> size;
  if (source.kind == SourceField::Kind::kDense) size = ImageSize{source.shape[0], source.shape[1]};
  for (int i = 0; i < ops; ++i) size = OutputSize(pipeline.ops(i), size);
  if (!size.has_value())
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline.ops: field '", source.name,
                     "' would differ in size from sample to sample; end with a crop, or Resize to height and width"));
  return *size;
}

// An op's output, and what a resize keeps between its two passes, are bounded as the input is.
absl::Status CheckPixels(const ImageSize& before, const ImageSize& after, uint64_t max_pixels) {
  const auto height = static_cast<uint64_t>(std::max(before.height, after.height));
  if (height * static_cast<uint64_t>(after.width) <= max_pixels) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("from ", before.width, "×", before.height, " to ", after.width, "×",
                                                    after.height, " takes more than limits.max_pixels, ", max_pixels));
}

uint32_t SpanSamples(uint64_t sample_bytes) {
  const uint64_t fitting = kSpanBytes / sample_bytes;
  if (fitting == 0) return 1;
  const uint64_t below = std::bit_floor(fitting), above = 2 * below;
  const bool nearer_above = above * sample_bytes - kSpanBytes < kSpanBytes - below * sample_bytes;
  return static_cast<uint32_t>(std::min<uint64_t>(nearer_above ? above : below, ServerPipeline::kMaxSpanSamples));
}

}  // namespace

absl::StatusOr<ServerPipeline> ServerPipeline::Create(const v1::Pipeline& pipeline, const SourceSchema& schema) {
  STOKER_RETURN_IF_ERROR(ValidatePipeline(pipeline));
  STOKER_ASSIGN_OR_RETURN(const std::vector<int> sources, Sources(pipeline, schema));
  ServerPipeline server;
  server.pipeline_ = pipeline;
  server.ops_ = ServerOps(pipeline);
  bool has_image = false;
  for (int index : sources) {
    const SourceField& source = schema[index];
    Output output{.source = index, .image = IsImage(source)};
    output.field.set_name(source.name);
    output.field.set_dtype(output.image ? v1::DTYPE_UINT8 : source.dtype);
    if (output.image) {
      STOKER_ASSIGN_OR_RETURN(const ImageSize size, ImageOutput(pipeline, server.ops_, source));
      for (int64_t extent : {size.height, size.width, int64_t{3}}) output.field.add_shape(extent);
    } else {
      output.field.mutable_shape()->Add(source.shape.begin(), source.shape.end());
    }
    STOKER_ASSIGN_OR_RETURN(output.bytes, ByteSize(output.field));
    server.sample_bytes_ += output.bytes;
    has_image = has_image || output.image;
    server.outputs_.push_back(std::move(output));
  }
  if (server.ops_ > 0 && !has_image)
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline.ops[0]: ", OpName(pipeline.ops(0)),
                     " needs an image, and no field that is sent is one; give a pipeline without ops (ops: [])"));
  if (server.sample_bytes_ > kMaxSampleBytes)
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline: a sample has ", server.sample_bytes_, " bytes of output, more than ", kMaxSampleBytes));
  server.span_samples_ = SpanSamples(server.sample_bytes_);
  return server;
}

uint64_t ServerPipeline::max_pixels() const {
  return pipeline_.limits().has_max_pixels() ? pipeline_.limits().max_pixels() : kDefaultMaxPixels;
}

uint32_t ServerPipeline::max_scans() const {
  return pipeline_.limits().has_max_scans() ? pipeline_.limits().max_scans() : kDefaultMaxScans;
}

v1::DecodeWarnings ServerPipeline::decode_warnings() const {
  return pipeline_.decode_warnings() == v1::DECODE_WARNINGS_UNSPECIFIED ? v1::DECODE_WARNINGS_FAIL_TRUNCATED
                                                                        : pipeline_.decode_warnings();
}

absl::StatusOr<std::vector<OpParameters>> ServerPipeline::Draw(ImageSize size, uint64_t seed, uint64_t epoch,
                                                               uint64_t position) const {
  std::vector<OpParameters> parameters;
  for (int i = 0; i < ops_; ++i) {
    const Draws draws({.seed = seed, .epoch = epoch, .position = position, .op = static_cast<uint64_t>(i)});
    const ImageSize before = size;
    absl::Status status = DrawOp(pipeline_.ops(i), draws, size, parameters);
    if (status.ok()) status = CheckPixels(before, size, max_pixels());
    if (!status.ok()) return absl::FailedPreconditionError(absl::StrCat("pipeline.ops[", i, "]: ", status.message()));
  }
  return parameters;
}

}  // namespace stoker
