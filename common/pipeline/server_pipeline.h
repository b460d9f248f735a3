#ifndef STOKER_COMMON_PIPELINE_SERVER_PIPELINE_H_
#define STOKER_COMMON_PIPELINE_SERVER_PIPELINE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/schema.h"
#include "common/ops/cost.h"
#include "common/ops/parameters.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The server's part of a pipeline, joined to a dataset's fields. It says what a span carries, and how each field is
// made. Immutable, hence thread-safe.
class ServerPipeline {
 public:
  // One field of a span, and the source field that it comes from.
  struct Output {
    v1::Field field;
    uint64_t bytes = 0;  // bytes of one sample
    int source = 0;      // index of the source field in the dataset's schema
    bool image = false;  // an image, which is decoded if it is encoded, and goes through the ops

    // A label map or a binary map, which goes through those ops that move the image; what is no image and no map is
    // copied.
    bool map() const { return IsMap(field.kind()); }

    // What the server makes of each number of a field that is no image and no map, before it sends them as the field's
    // dtype: `from` is the dtype that they are stored as.
    struct Cast {
      v1::Dtype from = v1::DTYPE_UNSPECIFIED;
      bool scale = false;  // whether 0…255 becomes 0…1
    };
    std::optional<Cast> cast;

    // The members below are for images and maps.
    int views = -1;                           // index in pipeline().views() of its ops; −1: pipeline().ops()
    uint32_t first_view = 0, view_count = 1;  // its views as DrawKey counts them; their images follow one another
    int first_op = 0;                         // ops before this one were applied when the dataset was prepared
    std::optional<ImageSize> stored;          // the size of its stored image, where that is not encoded
  };

  // Joins `pipeline`, which need not be valid, to a dataset's `schema`. InvalidArgument names the op or field that does
  // not fit. For a prepared dataset it also says what the dataset was prepared with.
  static absl::StatusOr<ServerPipeline> Create(const v1::Pipeline& pipeline, const SourceSchema& schema);

  // The fields of a span, in payload order.
  const std::vector<Output>& outputs() const { return outputs_; }

  // Bytes of one sample of all outputs.
  uint64_t sample_bytes() const { return sample_bytes_; }

  // Samples of a span: the power of two from 1 to kMaxSpanSamples whose output is nearest to 1 MiB.
  uint32_t span_samples() const { return span_samples_; }

  const v1::Pipeline& pipeline() const { return pipeline_; }

  // The pipeline's limits and policies, with defaults filled in.
  uint64_t max_pixels() const;
  uint32_t max_scans() const;
  v1::DecodeWarnings decode_warnings() const;
  v1::JpegScaling jpeg_scaling() const;

  // Draws what the ops of view number `view` < output.view_count do to the image of `size` at `position`. A map's ops
  // are those of the image that it lies on.
  // FailedPrecondition names an op that cannot take an image of this size.
  absl::StatusOr<std::vector<OpParameters>> Draw(const Output& output, uint32_t view, ImageSize size, uint64_t seed,
                                                 uint64_t epoch, uint64_t position) const;

  // What making one sample takes at most, if its encoded images have the size `encoded`: decoding each once, and all
  // ops of all views.
  Cost CostOf(ImageSize encoded) const;

  // The most passes of one view. Its plan takes memory for each.
  double MostPassesOfView() const;

  static constexpr uint32_t kMaxSpanSamples = 4096;

 private:
  ServerPipeline() = default;

  // The functions down to CheckDevice are parts of Create. Those that begin with Add decide what is sent of a source
  // field.
  absl::Status AddOutputsOf(int index, const SourceField& source);
  absl::Status AddViews(const SourceField& source, Output output);
  absl::Status AddImage(const SourceField& source, Output output);
  absl::Status AddMap(const SourceField& source, Output output);
  absl::Status AddNumbers(const SourceField& source, Output output);

  // Returns the size of an output after its ops, and sets output.stored. InvalidArgument where it is not one size.
  absl::StatusOr<ImageSize> SizeAfterOps(const SourceField& source, Output& output) const;
  absl::Status DiffersInSize(const Output& output) const;
  absl::Status Add(Output output);
  absl::Status CheckPrepared(const SourceField& source, const Output& output) const;
  absl::Status CheckPreparedSettings(const SourceField& source) const;
  absl::Status CheckOutputs() const;
  absl::Status CheckMaps() const;
  absl::Status CheckCasts() const;
  absl::Status CheckDevice() const;

  // What the ops of one view take.
  Cost CostOfView(const Output& output, ImageSize encoded) const;

  // Returns the ops of an image that run on the server.
  std::span<const v1::Op* const> OpsOf(const Output& output) const;

  v1::Pipeline pipeline_;
  int ops_ = 0;  // number of leading ops that run on the server
  std::vector<Output> outputs_;
  uint64_t sample_bytes_ = 0;
  uint32_t span_samples_ = 1;
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_SERVER_PIPELINE_H_
