// The part of ServerPipeline that says what making a sample takes.

#include <algorithm>
#include <span>

#include "common/fields/schema.h"
#include "common/ops/iou_crop.h"
#include "common/ops/mosaic.h"
#include "common/ops/ops.h"
#include "common/pipeline/server_pipeline.h"

namespace stoker {
namespace {

// What decoding takes for each pixel, about: a JPEG's 100 million pixels a second.
constexpr double kDecodingArithmetic = 25;

// The longest file that there can be is decoded, resampled to as many samples, and converted.
Cost CostOfAudio(const ServerPipeline::Output& output) {
  constexpr double kDecoding = 40, kResampling = 60, kConverting = 8;  // for each number
  const double numbers = static_cast<double>(output.audio->max_bytes) / 2;
  const double kept = output.audio->samples == 0 ? numbers : static_cast<double>(output.bytes) / 2;
  return {.arithmetic = kDecoding * numbers + (output.audio->rate == 0 ? kConverting : kResampling) * kept,
          .bytes = 4 * numbers + 2 * kept,
          .passes = 0};
}

}  // namespace

Cost ServerPipeline::CostOfView(const Output& output, ImageSize encoded) const {
  ImageSize size = output.stored.value_or(encoded);
  Cost cost = kNoCost;
  const std::span<const v1::Op* const> ops = OpsOf(output);
  for (size_t i = output.first_op; i < ops.size(); ++i) {
    cost = cost + stoker::CostOf(*ops[i], size);
    size = MostSize(*ops[i], size);
  }
  return cost;
}

// Each row is moved by each pass of the ops at most.
Cost ServerPipeline::CostOfPoints(const Output& output) const {
  constexpr double kArithmetic = 30;  // of a box
  double moves = 0;
  for (const v1::Op* op : OpsOf(output)) moves += std::max(1.0, stoker::CostOf(*op, {1, 1}).passes);
  const double rows = static_cast<double>(output.field.max_bytes()) / static_cast<double>(RowBytes(output.field));
  return {.arithmetic = kArithmetic * rows * moves, .bytes = static_cast<double>(output.bytes), .passes = 0};
}

Cost ServerPipeline::CostOfJoining(ImageSize encoded) const {
  if (!joining_.has_value()) return kNoCost;
  return double{kMosaicCells} * CostOfPixels(encoded, kDecodingArithmetic) + stoker::CostOf(pipeline_.ops(0), encoded);
}

// The ops are drawn once, whatever lies on the image.
Cost ServerPipeline::CostOfBoxCrops() const {
  Cost cost = kNoCost;
  if (!cropped_boxes_.has_value()) return cost;
  const v1::Field& boxes = outputs_[cropped_boxes_->boxes].field;
  const double rows = static_cast<double>(boxes.max_bytes()) / static_cast<double>(RowBytes(boxes));
  for (const v1::RandomIoUCrop& op : box_crops_) cost = cost + CostOfDrawing(op, rows);
  return cost;
}

Cost ServerPipeline::CostOf(ImageSize encoded) const {
  Cost cost = CostOfBoxCrops();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    if (output.cast.has_value()) {
      const double numbers = static_cast<double>(output.bytes) / static_cast<double>(ByteSize(output.field.dtype()));
      cost = cost + Cost{.arithmetic = 8 * numbers, .bytes = static_cast<double>(output.bytes), .passes = 0};
    }
    if (output.audio.has_value()) cost = cost + CostOfAudio(output);
    if (output.points()) cost = cost + CostOfPoints(output);
    if (!output.image && !output.map()) continue;
    const bool decodes = !output.stored.has_value() && (i == 0 || outputs_[i - 1].source != output.source);
    if (decodes) cost = cost + CostOfPixels(encoded, kDecodingArithmetic);
    cost = cost + CostOfJoining(encoded);
    cost = cost + static_cast<double>(output.view_count) * CostOfView(output, encoded);
  }
  return cost;
}

double ServerPipeline::MostPassesOfView() const {
  double most = 0;
  for (const Output& output : outputs_)
    if (output.image || output.map()) most = std::max(most, CostOfView(output, {1, 1}).passes);
  return most;
}

}  // namespace stoker
