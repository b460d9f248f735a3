#ifndef STOKER_COMMON_PIPELINE_DEVICE_PIPELINE_H_
#define STOKER_COMMON_PIPELINE_DEVICE_PIPELINE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/pipeline/device_program.h"
#include "common/pipeline/device_steps.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The device's part of a pipeline, joined to a span's fields. It says what becomes of a batch's fields, and what each
// sample draws. Every device runs this same program. Immutable, hence thread-safe.
class DevicePipeline {
 public:
  // What becomes of the image field. See device_program.h for the order of its parts.
  struct ImageProgram {
    int field = -1;                               // index of the image among the fields; −1: no image program
    int64_t height = 0, width = 0, channels = 3;  // the image as it comes, H×W×C uint8
    std::vector<DeviceStep> steps;                // passes over the image; the first takes height × width
    std::vector<DeviceStep> map_moves;            // how kMovedMap fields are moved with the image: see DeviceSteps
    ImageSize out;                                // size after the last step
    v1::Dtype dtype = v1::DTYPE_UINT8;            // output: uint8, float32, float16 or bfloat16
    std::vector<float> scale, bias;               // one number a channel; 1 and 0 for uint8
    bool erases = false;                          // whether SampleDraw::erase may be set; then dtype is a float
    std::vector<float> erase_value;               // one number a channel, in the output's units
    bool erases_with_noise = false;  // whether erased values are z · erase_scale + erase_value, z drawn for each
    std::vector<float> erase_scale;  // one number a channel; of noise only
    bool mixes_pixels = false;       // whether BatchDraw::kind may be kMixUp; then dtype is a float
    bool mixes_rectangles = false;   // whether BatchDraw::kind may be kCutMix
    bool channels_first = false;     // output layout C×H×W instead of H×W×C

    // A sample of views has `count` images, one after another; DrawKey counts the first of them as `first_view`.
    int64_t count = 1;
    uint64_t first_view = 0;

    // True if no pass is needed before flips, scale and bias.
    bool only_flips() const { return steps.empty(); }
  };

  // What becomes of one field.
  struct FieldProgram {
    enum class Kind {
      kAsItCame,
      kImage,       // what image() says, or of views what views() says
      kOneHot,      // `classes` numbers for each whole number of the field: 1 at its class, 0 elsewhere
      kUnpackBits,  // one element for each bit
      kWiden,       // the same whole numbers, as int64
      kMovedMap,    // a label map or binary map, moved as map_moves says; then as kWiden or kUnpackBits
      kScale,       // each number x as x · scale + bias, in float32, of the field's new dtype
      kDense,  // of sparse samples the arrays that they stand for, with the values that the next field has, or ones
    };
    Kind kind = Kind::kAsItCame;
    int64_t classes = 0;                   // kOneHot
    bool least_significant_first = false;  // kUnpackBits: the order of a byte's bits
    std::vector<float> scale, bias;        // kScale, kOneHot (of its 1 and 0): see Scaling in common/fields/cast.h
    int op = -1;                           // index in the pipeline of the op that makes the field; −1: its kind does
    int views = -1;                        // kImage: index in views(); −1: image()

    // kScale, kOneHot: whether each row is then mixed with another one of the batch, λ · own + (1 − λ) · other, and
    // what becomes of each mixed number x: x · scale_after + bias_after. All is float32, and rounded last.
    bool mixed = false;
    float scale_after = 1, bias_after = 0;

    // kAsItCame, kScale, of samples that differ in size: how many rows each is given, cut off or filled up by an
    // element with the bits `fill`. 0: as many as it has.
    int64_t padded_rows = 0;
    uint64_t fill = 0;
  };

  // Joins `pipeline`, which need not be valid, to a span's `fields`. InvalidArgument names the op that cannot run.
  static absl::StatusOr<DevicePipeline> Create(const v1::Pipeline& pipeline, const std::vector<v1::Field>& fields);

  // True if batches are handed out just as the server made them.
  bool identity() const { return identity_; }

  const ImageProgram& image() const { return image_; }

  // Programs of those views of which ops run on the device. They neither erase in floats nor mix, and move no maps.
  const std::vector<ImageProgram>& views() const { return views_; }

  // What becomes of the images of a field of kImage.
  const ImageProgram& ImagesOf(int field) const {
    return programs_[field].views < 0 ? image_ : views_[programs_[field].views];
  }

  // One program for each field, in the fields' order.
  const std::vector<FieldProgram>& programs() const { return programs_; }

  // The fields as they come from the server.
  const std::vector<v1::Field>& source_fields() const { return source_fields_; }

  // The fields as they are handed out, in the same order.
  const std::vector<v1::Field>& fields() const { return fields_; }

  // Draws what one sample needs, from the same keys as the server would.
  SampleDraw Draw(uint64_t seed, uint64_t epoch, uint64_t position) const;

  // Draws what an image of a field of kImage needs: number `view` below its program's count.
  SampleDraw DrawOf(int field, uint64_t view, uint64_t seed, uint64_t epoch, uint64_t position) const;

  // Draws what a batch needs. `first_position` is the position of its first row.
  BatchDraw DrawBatch(uint64_t seed, uint64_t epoch, uint64_t first_position) const;

  // Whether each row of a batch draws for itself how it is mixed: DrawBatch by its own position.
  bool mixes_each() const { return mixes_each_; }

  // Draws what each row of a batch needs, in order. All are equal unless mixes_each().
  std::vector<BatchDraw> DrawRows(uint64_t seed, uint64_t epoch, uint64_t first_position,
                                  std::span<const uint64_t> positions) const;

  // Checks `count` values of field number `field`, as they came, against the classes of its kOneHot.
  // InvalidArgument names the op and the first value that has no class. OK for fields of other kinds.
  absl::Status CheckClasses(int field, const void* values, int64_t count) const;

 private:
  class Builder;

  DevicePipeline() = default;

  v1::Pipeline pipeline_;
  bool identity_ = true;
  ImageProgram image_;
  std::vector<ImageProgram> views_;
  std::vector<FieldProgram> programs_;
  std::vector<v1::Field> source_fields_, fields_;
  DeviceSteps steps_;                    // draws for image_.steps
  std::vector<DeviceSteps> view_steps_;  // the same for each of views_
  int erase_op_ = -1;                    // index of the RandomErasing that follows ToDtype; −1: there is none
  int mix_op_ = -1;                      // index of MixUp, CutMix or a RandomChoice of them; −1: there is none
  bool mixes_each_ = false;
};

}  // namespace stoker

#endif  // STOKER_COMMON_PIPELINE_DEVICE_PIPELINE_H_
