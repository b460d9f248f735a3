// The part of ServerPipeline that makes one sample of several, as a Mosaic says.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/ops/arguments.h"
#include "common/ops/ops.h"
#include "common/pipeline/server_pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// Returns an image, map, boxes or keypoints as a joined sample has them: as pixels of the canvas, or float32 rows.
SourceField Joined(SourceField field, ImageSize canvas) {
  if (HasPoints(field.meaning)) {
    field.dtype = v1::DTYPE_FLOAT32;
    return field;
  }
  field.kind = SourceField::Kind::kDense;
  field.shape = {canvas.height, canvas.width};
  if (IsMap(field.meaning)) return field;
  field.dtype = v1::DTYPE_UINT8;
  field.shape.push_back(3);
  return field;
}

}  // namespace

void ServerPipeline::BeginJoining(const SourceSchema& schema) {
  if (ops_ == 0 || !pipeline_.ops(0).has_mosaic()) return;
  joining_ = Joining{.op = WithDefaults(pipeline_.ops(0)).mosaic(), .schema = schema};
}

bool ServerPipeline::JoinsRows(const SourceField& source) const {
  if (!joining_.has_value()) return false;
  const auto& labels = joining_->op.labels();
  return HasPoints(source.meaning) || std::find(labels.begin(), labels.end(), source.name) != labels.end();
}

absl::Status ServerPipeline::FinishJoining() {
  if (!joining_.has_value()) return absl::OkStatus();
  const auto wrong = [](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat("pipeline.ops[0]: Mosaic.", what...));
  };
  const ImageSize canvas = CropSize(joining_->op.size());
  if (Pixels(canvas) > static_cast<double>(max_pixels()))
    return wrong("size: ", canvas.width, "×", canvas.height, " is more than limits.max_pixels, ", max_pixels());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    if (output.image || output.map() || output.points())
      joining_->schema[output.source] = Joined(joining_->schema[output.source], canvas);
    if (output.field.kind() == v1::FIELD_KIND_BOXES && !joining_->rows.has_value()) joining_->rows = BoxRows{i, {}};
  }
  for (const std::string& name : joining_->op.labels()) {
    absl::StatusOr<size_t> field = RowsNamed("labels", name);
    if (!field.ok()) return wrong(field.status().message());
    if (!joining_->rows.has_value()) return wrong("labels: '", name, "' has a row for each box, and no boxes are sent");
    if (outputs_[*field].points()) return wrong("labels: '", name, "' lies on the image, and is joined anyway");
    joining_->rows->followers.push_back(*field);
  }
  return absl::OkStatus();
}

}  // namespace stoker
