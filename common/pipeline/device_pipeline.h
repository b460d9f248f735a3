#ifndef STOKER_COMMON_PIPELINE_DEVICE_PIPELINE_H_
#define STOKER_COMMON_PIPELINE_DEVICE_PIPELINE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The device's part of a pipeline as one pass over a batch: flip, cast, scale and bias, change the layout.
// Every device runs this same program. Immutable, hence thread-safe.
class DevicePipeline {
 public:
  // What becomes of the image field; the others are handed out as they came.
  struct ImageProgram {
    int field = 0;  // index among the fields
    int64_t height = 0, width = 0, channels = 3;
    v1::Dtype dtype = v1::DTYPE_UINT8;       // uint8 or float32
    std::array<float, 3> scale = {1, 1, 1};  // y = x · scale + bias, per channel
    std::array<float, 3> bias = {0, 0, 0};
    bool channels_first = false;
  };

  // How one sample is flipped.
  struct Flips {
    bool horizontal = false, vertical = false;
  };

  // `fields` are a span's. InvalidArgument names the op that cannot run.
  static absl::StatusOr<DevicePipeline> Create(const v1::Pipeline& pipeline, const std::vector<v1::Field>& fields);

  // True if batches are handed out just as the server made them.
  bool identity() const { return identity_; }

  const ImageProgram& image() const { return image_; }

  // The fields as handed out.
  const std::vector<v1::Field>& fields() const { return fields_; }

  // Drawn from the same keys as on the server.
  Flips Draw(uint64_t seed, uint64_t epoch, uint64_t position) const;

 private:
  DevicePipeline() = default;

  v1::Pipeline pipeline_;
  int first_op_ = 0;
  bool identity_ = true;
  ImageProgram image_;
  std::vector<v1::Field> fields_;
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_DEVICE_PIPELINE_H_
