#ifndef STOKER_COMMON_PIPELINE_DEVICE_PIPELINE_H_
#define STOKER_COMMON_PIPELINE_DEVICE_PIPELINE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/pipeline/device_program.h"
#include "common/pipeline/device_steps.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The device's part of a pipeline, joined to a span's fields: what becomes of a batch, and what its samples draw.
// Every device runs this same program. Immutable, hence thread-safe.
class DevicePipeline {
 public:
  // What becomes of the image field, if `field` is one. See device_program.h for the order.
  struct ImageProgram {
    int field = -1;                               // index among the fields
    int64_t height = 0, width = 0, channels = 3;  // As it comes: H×W×C uint8.
    std::vector<DeviceStep> steps;                // The first takes height × width.
    ImageSize out;                                // Of the last step.
    v1::Dtype dtype = v1::DTYPE_UINT8;            // uint8, float32, float16 or bfloat16
    std::vector<float> scale, bias;               // Of each channel; 1 and 0 for uint8.
    bool erases = false;                          // SampleDraw::erase may be something; dtype is a float.
    std::vector<float> erase_value;               // Of each channel, of the output.
    bool mixes_pixels = false;                    // BatchDraw::kind may be kMixUp; dtype is a float.
    bool mixes_rectangles = false;                // BatchDraw::kind may be kCutMix.
    bool channels_first = false;
    bool only_flips() const { return steps.empty(); }  // before scale and bias
  };

  // What becomes of a field.
  struct FieldProgram {
    enum class Kind {
      kAsItCame,
      kImage,       // as image() says
      kOneHot,      // `classes` numbers for each of the field's whole numbers
      kMixedLabel,  // kOneHot in float32, then mixed: λ · own + (1 − λ) · the other row's
      kUnpackBits,  // fields()[i]'s elements from bits
    };
    Kind kind = Kind::kAsItCame;
    int64_t classes = 0;
    bool least_significant_first = false;  // kUnpackBits
    int op = -1;                           // That makes it, by index in the pipeline.
  };

  // `fields` are a span's. InvalidArgument names the op that cannot run. Any pipeline is fine, a valid one or not.
  static absl::StatusOr<DevicePipeline> Create(const v1::Pipeline& pipeline, const std::vector<v1::Field>& fields);

  // True if batches are handed out just as the server made them.
  bool identity() const { return identity_; }

  const ImageProgram& image() const { return image_; }

  // Of each field.
  const std::vector<FieldProgram>& programs() const { return programs_; }

  // The fields as they come and as handed out.
  const std::vector<v1::Field>& source_fields() const { return source_fields_; }
  const std::vector<v1::Field>& fields() const { return fields_; }

  // Drawn from the same keys as on the server.
  SampleDraw Draw(uint64_t seed, uint64_t epoch, uint64_t position) const;

  // Drawn by the position of the batch's first row.
  BatchDraw DrawBatch(uint64_t seed, uint64_t epoch, uint64_t first_position) const;

  // OK, or InvalidArgument that names the op and the first of `count` values of source field `field`, as they came,
  // that its kOneHot or kMixedLabel has no class for. OK for other kinds.
  absl::Status CheckClasses(int field, const void* values, int64_t count) const;

 private:
  class Builder;

  DevicePipeline() = default;

  v1::Pipeline pipeline_;
  bool identity_ = true;
  ImageProgram image_;
  std::vector<FieldProgram> programs_;
  std::vector<v1::Field> source_fields_, fields_;
  DeviceSteps steps_;  // That image_.steps are of.
  int erase_op_ = -1;  // After ToDtype.
  int mix_op_ = -1;    // MixUp, CutMix or RandomChoice of them.
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_DEVICE_PIPELINE_H_
