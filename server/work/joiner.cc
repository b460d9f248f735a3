#include "server/work/joiner.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/fields/cast.h"
#include "common/ops/arguments.h"
#include "common/status_macros.h"
#include "server/augment/map.h"
#include "server/augment/points.h"
#include "server/work/decoder_options.h"
#include "server/work/stage_clock.h"

namespace stoker {
namespace {

constexpr int64_t kColors = 3;

// What is larger than this is not kept from sample to sample.
constexpr size_t kKeptBytes = size_t{16} << 20;

void ReleaseJoined(std::vector<uint8_t>& bytes) {
  if (bytes.capacity() > kKeptBytes) std::vector<uint8_t>().swap(bytes);
}

// The bytes of a pixel on the canvas of `output`, whose joined field is `field`.
int64_t PixelBytes(const ServerPipeline::Output& output, const SourceField& field) {
  return output.map() ? ByteSize(field.dtype) : kColors;
}

uint64_t RowCount(const SourceField& field, std::span<const uint8_t> bytes) { return bytes.size() / DenseBytes(field); }

// Whether output number `output` has a row for each box.
bool IsLabel(const ServerPipeline::Joining& joining, size_t output) {
  if (!joining.rows.has_value()) return false;
  const std::vector<size_t>& labels = joining.rows->followers;
  return std::find(labels.begin(), labels.end(), output) != labels.end();
}

}  // namespace

absl::Status Joiner::Add(const Task& task, int cell, uint64_t id, const SampleBytes& sample, v1::StageTimes& times) {
  const auto& outputs = task.pipeline.outputs();
  sizes_ = {};
  joined_.fields.resize(task.schema.size());
  for (const ServerPipeline::Output& output : outputs) {
    if (output.image || output.map())
      STOKER_RETURN_IF_ERROR(AddPixels(task, cell, id, output, sample.fields[output.source], times));
  }
  StageClock clock(times);
  STOKER_RETURN_IF_ERROR(CheckRows(task, sample));
  AddRows(task, cell, sample);
  clock.Book(&v1::StageTimes::pack, &v1::StageTimes::set_pack);
  return absl::OkStatus();
}

void Joiner::Release() {
  for (std::vector<uint8_t>& field : joined_.fields) ReleaseJoined(field);
  for (std::vector<uint8_t>* bytes : {&made_, &dense_map_, &values_}) ReleaseJoined(*bytes);
}

absl::Status Joiner::AddPixels(const Task& task, int cell, uint64_t id, const ServerPipeline::Output& output,
                               std::span<const uint8_t> bytes, v1::StageTimes& times) {
  const SourceField& field = task.schema[output.source];
  const bool encoded = field.kind == SourceField::Kind::kEncodedImage;
  StageClock clock(times);
  ImageSize size;
  if (encoded) {
    STOKER_ASSIGN_OR_RETURN(size, decoder_.Open(bytes, DecoderOptions(task.pipeline, field, task.interrupt),
                                                {task.kept, id, output.source}));
  } else {
    size = {field.shape[0], field.shape[1]};
  }
  STOKER_RETURN_IF_ERROR(sizes_.Add(output.field.name(), output.map(), size));
  STOKER_RETURN_IF_ERROR(CheckPixels(size, task.limits));
  STOKER_RETURN_IF_ERROR(CheckSampleCost(task.pipeline, size, task.limits));
  std::vector<OpParameters> ops = CellOps(task.pipeline.joining()->op, task.draw, cell, size);
  if (output.map()) ops = MapOps(ops);
  const ImagePlan plan = ImagePlan::Make(size, ops, task.pipeline.jpeg_scaling());
  STOKER_RETURN_IF_ERROR(CheckPixels({static_cast<int64_t>(plan.peak_pixels()), 1}, task.limits));
  CachedDecoder::Decoded decoded;
  if (encoded) {
    STOKER_ASSIGN_OR_RETURN(decoded, decoder_.Decode(plan.target()));
  }
  clock.Book(&v1::StageTimes::decode, &v1::StageTimes::set_decode);
  const uint8_t* pixels = bytes.data();
  if (!encoded && output.map()) {
    dense_map_.resize(size.height * size.width * kColors);
    WriteMapPixels(bytes, field.dtype, dense_map_.data());
    pixels = dense_map_.data();
  }
  const SourceImage stored = {{pixels, size, static_cast<ptrdiff_t>(size.width * kColors)}, WholeOf(size)};
  STOKER_RETURN_IF_ERROR(MakeCell(task, plan, encoded ? decoded.image : stored));
  STOKER_RETURN_IF_ERROR(Place(task, cell, output));
  clock.Book(&v1::StageTimes::augment, &v1::StageTimes::set_augment);
  return absl::OkStatus();
}

absl::Status Joiner::MakeCell(const Task& task, const ImagePlan& plan, const SourceImage& source) {
  const ImageSize size = plan.result();
  made_.resize(size.height * size.width * kColors);
  STOKER_RETURN_IF_ERROR(augmenter_.Apply(plan, source, made_, task.interrupt));
  return task.interrupt.status();
}

absl::Status Joiner::Place(const Task& task, int cell, const ServerPipeline::Output& output) {
  const ServerPipeline::Joining& joining = *task.pipeline.joining();
  const SourceField& field = joining.schema[output.source];
  const MosaicCell at = CellOf(joining.op, task.draw, cell);
  const int64_t pixel_bytes = PixelBytes(output, field), width = field.shape[1];
  std::span<const uint8_t> made = made_;
  if (output.map()) {
    values_.resize(at.size.height * at.size.width * pixel_bytes);
    STOKER_RETURN_IF_ERROR(WriteMapValues(made_, v1::FIELD_KIND_LABEL_MAP, field.dtype, values_));
    made = values_;
  }
  std::vector<uint8_t>& canvas = joined_.fields[output.source];
  canvas.resize(field.shape[0] * width * pixel_bytes);
  const int64_t row_bytes = at.size.width * pixel_bytes;
  for (int64_t y = 0; y < at.size.height; ++y)
    std::memcpy(canvas.data() + ((at.top + y) * width + at.left) * pixel_bytes, made.data() + y * row_bytes, row_bytes);
  return absl::OkStatus();
}

absl::Status Joiner::CheckRows(const Task& task, const SampleBytes& sample) const {
  const ServerPipeline::Joining& joining = *task.pipeline.joining();
  const auto& outputs = task.pipeline.outputs();
  for (const ServerPipeline::Output& output : outputs) {
    const v1::Dtype dtype = task.schema[output.source].dtype;
    const size_t bytes = sample.fields[output.source].size();
    if (output.points() && bytes % ByteSize(dtype) != 0)
      return absl::DataLossError(
          absl::StrCat("field '", output.field.name(), "' has ", bytes, " bytes, no whole ", DtypeName(dtype)));
  }
  if (!joining.rows.has_value()) return absl::OkStatus();
  const auto rows_of = [&](size_t output) {
    const int source = outputs[output].source;
    return RowCount(task.schema[source], sample.fields[source]);
  };
  const uint64_t boxes = rows_of(joining.rows->boxes);
  for (const size_t label : joining.rows->followers)
    if (rows_of(label) != boxes)
      return absl::DataLossError(absl::StrCat("field '", outputs[label].field.name(), "' has ", rows_of(label),
                                              " rows, and '", outputs[joining.rows->boxes].field.name(), "' has ",
                                              boxes, "; each box needs one"));
  return absl::OkStatus();
}

void Joiner::AddRows(const Task& task, int cell, const SampleBytes& sample) {
  const ServerPipeline::Joining& joining = *task.pipeline.joining();
  const auto& outputs = task.pipeline.outputs();
  // Own ops see fields that are not sent, too.
  for (size_t source = 0; cell == 0 && source < task.schema.size(); ++source) {
    const bool is_sent = std::any_of(outputs.begin(), outputs.end(), [source](const ServerPipeline::Output& output) {
      return output.source == static_cast<int>(source);
    });
    if (!is_sent && task.pipeline.sources().Has(source)) joined_.fields[source] = sample.fields[source];
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<uint8_t>& bytes = sample.fields[outputs[i].source];
    std::vector<uint8_t>& joined = joined_.fields[outputs[i].source];
    if (outputs[i].image || outputs[i].map() || outputs[i].sizes) continue;
    if (cell == 0) joined.clear();
    if (outputs[i].points()) {
      AddPoints(task, cell, outputs[i], bytes);
    } else if (cell == 0 || IsLabel(joining, i)) {
      joined.insert(joined.end(), bytes.begin(), bytes.end());
    }
  }
}

// Rows are cut to their cell, and then take its place on the canvas.
void Joiner::AddPoints(const Task& task, int cell, const ServerPipeline::Output& output,
                       std::span<const uint8_t> bytes) {
  const SourceField& field = task.schema[output.source];
  const v1::Mosaic& op = task.pipeline.joining()->op;
  points_.resize(bytes.size() / ByteSize(field.dtype));
  CastNumbers(bytes, field.dtype, {}, v1::DTYPE_FLOAT32, reinterpret_cast<uint8_t*>(points_.data()));
  std::vector<OpParameters> ops = CellOps(op, task.draw, cell, *sizes_.size());
  const MosaicCell at = CellOf(op, task.draw, cell);
  ops.emplace_back(CropParameters{.top = -at.top, .left = -at.left, .size = CropSize(op.size())});
  MovePoints(ops, *sizes_.size(), output.field.kind(), output.field.box_format(), points_);
  const auto* moved = reinterpret_cast<const uint8_t*>(points_.data());
  std::vector<uint8_t>& joined = joined_.fields[output.source];
  joined.insert(joined.end(), moved, moved + points_.size() * sizeof(float));
}

}  // namespace stoker
