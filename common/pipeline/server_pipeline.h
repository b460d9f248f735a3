#ifndef STOKER_COMMON_PIPELINE_SERVER_PIPELINE_H_
#define STOKER_COMMON_PIPELINE_SERVER_PIPELINE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/schema.h"
#include "common/ops/parameters.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The server's part of a pipeline, joined to a dataset's fields: what a span carries and how each sample comes
// to it. Immutable, hence thread-safe.
class ServerPipeline {
 public:
  // One field of a span, and the source field that it comes from.
  struct Output {
    v1::Field field;
    uint64_t bytes = 0;  // of one sample
    int source = 0;      // index in the dataset's schema
    bool image = false;  // decoded where encoded, then augmented

    // An image's ops, by index in pipeline().views(), or -1: those of pipeline() itself.
    int views = -1;
    uint32_t first_view = 0, view_count = 1;  // Its views' draws; the images follow one another in the field.
    int first_op = 0;                         // Those before it were applied when the dataset was prepared.
  };

  // InvalidArgument names the op or field that does not fit; on a prepared dataset also what it was prepared with.
  static absl::StatusOr<ServerPipeline> Create(const v1::Pipeline& pipeline, const SourceSchema& schema);

  const std::vector<Output>& outputs() const { return outputs_; }

  // Sum of the outputs' sizes.
  uint64_t sample_bytes() const { return sample_bytes_; }

  // Samples of a span: the power of two nearest 1 MiB of output, from 1 to kMaxSpanSamples.
  uint32_t span_samples() const { return span_samples_; }

  const v1::Pipeline& pipeline() const { return pipeline_; }

  // Limits and policies, defaults filled in.
  uint64_t max_pixels() const;
  uint32_t max_scans() const;
  v1::DecodeWarnings decode_warnings() const;
  v1::JpegScaling jpeg_scaling() const;

  // What the ops of view `view` < output.view_count do to an image of `size` at a position. FailedPrecondition,
  // naming the op, where one cannot take an image of this size.
  absl::StatusOr<std::vector<OpParameters>> Draw(const Output& output, uint32_t view, ImageSize size, uint64_t seed,
                                                 uint64_t epoch, uint64_t position) const;

  static constexpr uint32_t kMaxSpanSamples = 4096;

 private:
  ServerPipeline() = default;

  // Of Create: what is sent of a source field.
  absl::Status AddOutputsOf(int index, const SourceField& source);
  absl::Status AddViews(const SourceField& source, Output output);
  absl::Status AddImage(const SourceField& source, Output output);
  absl::Status Add(Output output);
  absl::Status CheckPrepared(const SourceField& source, const Output& output) const;
  absl::Status CheckPreparedSettings(const SourceField& source) const;
  absl::Status CheckOutputs() const;
  absl::Status CheckDevice() const;

  // An image's ops that run on the server.
  std::span<const v1::Op* const> OpsOf(const Output& output) const;

  v1::Pipeline pipeline_;
  int ops_ = 0;  // that run on the server
  std::vector<Output> outputs_;
  uint64_t sample_bytes_ = 0;
  uint32_t span_samples_ = 1;
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_SERVER_PIPELINE_H_
