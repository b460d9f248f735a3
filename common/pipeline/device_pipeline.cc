#include "common/pipeline/device_pipeline.h"

#include "absl/strings/str_cat.h"
#include "common/pipeline/ops.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// The field that the server's ops work on too.
int ImageField(const std::vector<v1::Field>& fields) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name() == "image" && fields[i].dtype() == v1::DTYPE_UINT8 && fields[i].shape_size() == 3 &&
        fields[i].shape(2) == 3)
      return static_cast<int>(i);
  return -1;
}

absl::Status Invalid(const v1::Pipeline& pipeline, int op, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat("pipeline.ops[", op, "]: ", OpName(pipeline.ops(op)), ": ", reason));
}

// Appends (x − mean) / std to the affine map in `scale` and `bias`.
void Fold(const v1::Normalize& normalize, std::array<double, 3>& scale, std::array<double, 3>& bias) {
  for (int c = 0; c < 3; ++c) {
    const double mean = normalize.mean(normalize.mean_size() == 1 ? 0 : c);
    const double std = normalize.std(normalize.std_size() == 1 ? 0 : c);
    scale[c] /= std;
    bias[c] = (bias[c] - mean) / std;
  }
}

}  // namespace

absl::StatusOr<DevicePipeline> DevicePipeline::Create(const v1::Pipeline& pipeline,
                                                      const std::vector<v1::Field>& fields) {
  STOKER_RETURN_IF_ERROR(ValidatePipeline(pipeline));
  DevicePipeline device;
  device.pipeline_ = pipeline;
  device.first_op_ = ServerOps(pipeline);
  device.fields_ = fields;
  if (device.first_op_ == pipeline.ops_size()) return device;

  device.identity_ = false;
  ImageProgram& image = device.image_;
  image.field = ImageField(fields);
  if (image.field < 0) return Invalid(pipeline, device.first_op_, "needs an image, and no field that is sent is one");
  v1::Field& field = device.fields_[image.field];
  image.height = field.shape(0), image.width = field.shape(1);
  std::array<double, 3> scale = {1, 1, 1}, bias = {0, 0, 0};
  for (int i = device.first_op_; i < pipeline.ops_size(); ++i) {
    const v1::Op& op = pipeline.ops(i);
    if (op.has_to_dtype()) {
      if (image.dtype == v1::DTYPE_FLOAT32) return Invalid(pipeline, i, "the image is float32 already");
      image.dtype = op.to_dtype().dtype();
      if (op.to_dtype().scale()) scale = {1 / 255.0, 1 / 255.0, 1 / 255.0};
    } else if (op.has_normalize()) {
      if (image.dtype != v1::DTYPE_FLOAT32) return Invalid(pipeline, i, "needs ToDtype to float32 before it");
      Fold(op.normalize(), scale, bias);
    } else if (op.has_to_memory_format()) {
      image.channels_first = op.to_memory_format().memory_format() != v1::MEMORY_FORMAT_CHANNELS_LAST;
    }
  }
  for (int c = 0; c < 3; ++c) {
    image.scale[c] = static_cast<float>(scale[c]);
    image.bias[c] = static_cast<float>(bias[c]);
  }
  field.set_dtype(image.dtype);
  if (image.channels_first) {
    field.clear_shape();
    for (int64_t extent : {image.channels, image.height, image.width}) field.add_shape(extent);
  }
  return device;
}

DevicePipeline::Flips DevicePipeline::Draw(uint64_t seed, uint64_t epoch, uint64_t position) const {
  Flips flips;
  ImageSize size = {image_.height, image_.width};
  std::vector<OpParameters> parameters;
  for (int i = first_op_; i < pipeline_.ops_size(); ++i) {
    const v1::Op& op = pipeline_.ops(i);
    if (!op.has_random_horizontal_flip() && !op.has_random_vertical_flip()) continue;
    const DrawKey key = {.seed = seed, .epoch = epoch, .position = position, .op = static_cast<uint64_t>(i)};
    DrawOp(op, key, size, parameters).IgnoreError();  // Flips fit every image.
  }
  for (const OpParameters& flip : parameters) {
    const bool horizontal = std::get<FlipParameters>(flip).axis == FlipParameters::Axis::kHorizontal;
    bool& side = horizontal ? flips.horizontal : flips.vertical;
    side = !side;
  }
  return flips;
}

}  // namespace stoker
