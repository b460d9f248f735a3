#include "server/work/sample_maker.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/check.h"
#include "common/fields/cast.h"
#include "common/fields/companions.h"
#include "common/ops/loaded_ops.h"
#include "common/status_macros.h"
#include "server/augment/map.h"
#include "server/augment/points.h"
#include "server/read/printable_name.h"
#include "server/work/decoder_options.h"

namespace stoker {
namespace {

// Returns the smallest region that covers both.
Region Union(const Region& a, const Region& b) {
  const int64_t top = std::min(a.top, b.top), left = std::min(a.left, b.left);
  return {top, left, {std::max(a.bottom(), b.bottom()) - top, std::max(a.right(), b.right()) - left}};
}

// Writes a field's numbers as the server's ToDtype converts them.
void WriteConverted(const ServerPipeline::Output& output, std::span<const uint8_t> bytes, std::span<uint8_t> slot) {
  static constexpr float kNoBias[] = {0};
  const float scale[] = {ScaleOf(output.cast->from)};
  STOKER_CHECK(bytes.size() / ByteSize(output.cast->from) == slot.size() / ByteSize(output.field.dtype()));
  CastNumbers(bytes, output.cast->from, output.cast->scale ? Scaling{scale, kNoBias} : Scaling{}, output.field.dtype(),
              slot.data());
}

// Checks that the values of a sparse field, of `count` numbers, belong to as many places. `before` is the output that
// stands before them.
absl::Status CheckValueCount(const ServerPipeline::Output& before, const ServerPipeline::Output& values, uint64_t count,
                             size_t field, const SpanWriter& writer) {
  if (before.field.kind() != v1::FIELD_KIND_SPARSE || values.field.name() != ValuesName(before.field.name()))
    return absl::OkStatus();
  const uint64_t places = writer.Last(field - 1).size() / RowBytes(before.field);
  if (places == count) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("field '", before.field.name(), "' has ", places, " indices and ", count,
                                          " values; each index needs one"));
}

// Returns the bytes of the boxes that RandomIoUCrop looks at; none without such an op.
std::span<const uint8_t> BoxesOf(const ServerPipeline& pipeline, const SampleBytes& sample) {
  const auto& boxes = pipeline.cropped_boxes();
  return boxes.has_value() ? std::span(sample.fields[pipeline.outputs()[boxes->boxes].source])
                           : std::span<const uint8_t>();
}

absl::Status CheckAudioCost(const Cost& cost, const SampleLimits& limits) {
  if (Seconds(cost) <= limits.seconds) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "its audio would take about %.2g s of one worker, and this server's limits.sample_seconds is %.2g", Seconds(cost),
      limits.seconds));
}

// So many passes may the plans have that are kept until the image is decoded: some 2 MB.
constexpr size_t kKeptPasses = 4096;

constexpr int64_t kChannels = 3;

// A worker's room for pixels is needed for the next image: what is larger than this is not kept from map to map.
constexpr size_t kKeptMapBytes = size_t{4} << 20;

// The sample's boxes, which lie on an image of `size` before the ops.
class BoxesInHand : public SampleBoxes {
 public:
  BoxesInHand(std::span<const float> boxes, v1::BoxFormat format, ImageSize size)
      : boxes_(boxes), format_(format), size_(size) {}

  std::vector<BoxSides> After(std::span<const OpParameters> ops) const override {
    std::vector<BoxSides> sides;
    for (const LeftBox& box : BoxesLeft(ops, size_, format_, boxes_)) sides.push_back(box.sides);
    return sides;
  }

 private:
  const std::span<const float> boxes_;
  const v1::BoxFormat format_;
  const ImageSize size_;
};

void ReleaseLarge(std::vector<uint8_t>& pixels) {
  if (pixels.capacity() > kKeptMapBytes) std::vector<uint8_t>().swap(pixels);
}

}  // namespace

absl::Status SampleMaker::Make(const Task& task, const SampleBytes& sample, SpanWriter& writer, uint32_t index,
                               v1::StageTimes& times) {
  sizes_ = {};
  LoadBoxes(task.pipeline, BoxesOf(task.pipeline, sample));
  STOKER_RETURN_IF_ERROR(MakeFixed(task, sample, {writer, index}, times));
  const auto& outputs = task.pipeline.outputs();
  const auto bytes_of = [&](size_t field, size_t) { return std::span(sample.fields[outputs[field].source]); };
  return MakeOfManySizes(task, bytes_of, writer, index, times);
}

absl::Status SampleMaker::Begin(const Task& task, const SampleBytes& sample, SpanWriter& writer, uint32_t index,
                                v1::StageTimes& times, OwnBatch& batch, Waiting& waiting) {
  sizes_ = {};
  batch_ = &batch;
  waiting_ = &waiting;
  const auto end = absl::MakeCleanup([this] { batch_ = nullptr, waiting_ = nullptr; });
  LoadBoxes(task.pipeline, BoxesOf(task.pipeline, sample));
  STOKER_RETURN_IF_ERROR(MakeFixed(task, sample, {writer, index}, times));
  waiting.sizes = sizes_;
  for (size_t field : task.pipeline.layout().variable())
    waiting.rows.push_back(sample.fields[task.pipeline.outputs()[field].source]);
  return absl::OkStatus();
}

absl::Status SampleMaker::Finish(const Task& task, const OwnBatch& batch, Waiting& waiting, SpanWriter& writer,
                                 uint32_t index, v1::StageTimes& times) {
  StageClock clock(times);
  for (const Waiting::Image& image : waiting.images) {
    STOKER_ASSIGN_OR_RETURN(uint8_t* const pixels, batch.Made(image.number));
    STOKER_RETURN_IF_ERROR(augmenter_.Finish(image.plan, image.step, pixels, image.slot, task.interrupt));
    STOKER_RETURN_IF_ERROR(task.interrupt.status());
  }
  BookAugmenting(clock, times);
  sizes_ = waiting.sizes;
  const std::vector<size_t>& variable = task.pipeline.layout().variable();
  for (size_t i = 0; i < variable.size(); ++i)
    if (const auto& boxes = task.pipeline.cropped_boxes(); boxes.has_value() && boxes->boxes == variable[i])
      LoadBoxes(task.pipeline, waiting.rows[i]);
  const auto bytes_of = [&](size_t, size_t number) { return std::span(std::as_const(waiting.rows[number])); };
  return MakeOfManySizes(task, bytes_of, writer, index, times);
}

template <typename BytesOf>
absl::Status SampleMaker::MakeOfManySizes(const Task& task, BytesOf bytes_of, SpanWriter& writer, uint32_t index,
                                          v1::StageTimes& times) {
  const std::vector<size_t>& variable = task.pipeline.layout().variable();
  if (variable.empty()) return absl::OkStatus();
  const auto& outputs = task.pipeline.outputs();
  for (size_t i = 0; i < variable.size(); ++i)
    if (outputs[variable[i]].audio.has_value())
      STOKER_RETURN_IF_ERROR(MakeAudio(task, variable[i], bytes_of(variable[i], i), writer, index, times));
  StageClock clock(times);
  for (size_t i = 0; i < variable.size(); ++i)
    if (!outputs[variable[i]].image && !outputs[variable[i]].audio.has_value())
      STOKER_RETURN_IF_ERROR(MakeRows(task, variable[i], bytes_of(variable[i], i), writer, index));
  if (task.pipeline.cropped_boxes().has_value())
    STOKER_RETURN_IF_ERROR(LeaveOutBoxes(task, *sizes_.size(), writer, index));
  for (const ServerPipeline::Sanitizer& op : task.pipeline.sanitizers())
    STOKER_RETURN_IF_ERROR(Sanitize(task.pipeline, op, writer, index));
  clock.Book(&v1::StageTimes::pack, &v1::StageTimes::set_pack);
  return absl::OkStatus();
}

absl::Status SampleMaker::MakeFixed(const Task& task, const SampleBytes& sample, const Place& place,
                                    v1::StageTimes& times) {
  sample_ = &sample;
  seen_.clear();
  const auto& outputs = task.pipeline.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int source = outputs[i].source;
    const std::vector<uint8_t>& bytes = sample.fields[source];
    if ((outputs[i].variable() && !outputs[i].image) || outputs[i].sizes) continue;
    if (outputs[i].audio.has_value()) {
      STOKER_RETURN_IF_ERROR(MakeAudio(task, i, bytes, place.writer, place.index, times));
    } else if (!outputs[i].image && !outputs[i].map()) {
      StageClock clock(times);
      if (outputs[i].cast.has_value()) {
        WriteConverted(outputs[i], bytes, place.writer.Slot(i, place.index));
      } else {
        place.writer.Write(i, place.index, bytes);
      }
      clock.Book(&v1::StageTimes::pack, &v1::StageTimes::set_pack);
    } else if (i == 0 || outputs[i - 1].source != source) {
      // The outputs of one source stand side by side, and the first of them makes all.
      STOKER_RETURN_IF_ERROR(MakeImages(task, outputs[i], bytes, place, times));
    }
  }
  return absl::OkStatus();
}

absl::Status SampleMaker::MakeAudio(const Task& task, size_t field, std::span<const uint8_t> bytes, SpanWriter& writer,
                                    uint32_t index, v1::StageTimes& times) {
  const ServerPipeline::Output& output = task.pipeline.outputs()[field];
  const auto draw = [&](int64_t all) {
    return task.pipeline.DrawStart(*output.audio, all, task.seed, task.epoch, task.position);
  };
  StageClock clock(times);
  absl::Status status = audio_.Open(bytes, *output.audio, draw,
                                    {.warnings = task.pipeline.decode_warnings(), .interrupt = &task.interrupt});
  if (status.ok()) status = CheckAudioCost(audio_.cost(), limits_);
  if (status.ok()) status = audio_.Decode();
  clock.Book(&v1::StageTimes::decode, &v1::StageTimes::set_decode);
  if (!status.ok()) return NamedError(absl::StrCat("field '", output.field.name(), "'"), status);
  std::span<uint8_t> rows;
  if (output.variable()) {
    STOKER_ASSIGN_OR_RETURN(rows, writer.Grow(field, index, audio_.rows() * RowBytes(output.field)));
  } else {
    rows = writer.Slot(field, index);
  }
  audio_.Make(rows);
  clock.Book(&v1::StageTimes::augment, &v1::StageTimes::set_augment);
  return absl::OkStatus();
}

absl::Status SampleMaker::MakeRows(const Task& task, size_t field, std::span<const uint8_t> bytes, SpanWriter& writer,
                                   uint32_t index) {
  if (task.pipeline.outputs()[field].field.kind() == v1::FIELD_KIND_SPARSE)
    return MakePlaces(task, field, bytes, writer, index);
  const ServerPipeline::Output& output = task.pipeline.outputs()[field];
  const v1::Dtype dtype = output.field.dtype(), stored = output.cast.has_value() ? output.cast->from : dtype;
  const uint64_t numbers = bytes.size() / ByteSize(stored);
  if (bytes.size() % ByteSize(stored) != 0)
    return absl::DataLossError(
        absl::StrCat("field '", output.field.name(), "' has ", bytes.size(), " bytes, no whole ", DtypeName(stored)));
  if (field > 0)
    STOKER_RETURN_IF_ERROR(CheckValueCount(task.pipeline.outputs()[field - 1], output, numbers, field, writer));
  STOKER_ASSIGN_OR_RETURN(const std::span<uint8_t> rows, writer.Grow(field, index, numbers * ByteSize(dtype)));
  if (output.cast.has_value()) {
    WriteConverted(output, bytes, rows);
  } else {
    std::copy(bytes.begin(), bytes.end(), rows.begin());
  }
  return output.points() && sizes_.size().has_value() ? Move(task, output, *sizes_.size(), rows) : absl::OkStatus();
}

absl::Status SampleMaker::MakePlaces(const Task& task, size_t field, std::span<const uint8_t> bytes, SpanWriter& writer,
                                     uint32_t index) {
  const v1::Field& declared = task.pipeline.outputs()[field].field;
  const v1::Dtype stored = task.schema[task.pipeline.outputs()[field].source].dtype;
  const absl::Status status = CheckPlaces(bytes, stored, DenseElements(declared.dense_shape()));
  if (!status.ok()) return absl::DataLossError(absl::StrCat("field '", declared.name(), "': ", status.message()));
  const auto count = static_cast<int64_t>(bytes.size() / ByteSize(stored));
  STOKER_ASSIGN_OR_RETURN(const std::span<uint8_t> places,
                          writer.Grow(field, index, count * ByteSize(declared.dtype())));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = WholeNumberAt(bytes.data(), stored, i);  // Little-endian: its first bytes are an int32's.
    std::memcpy(places.data() + i * ByteSize(declared.dtype()), &place, ByteSize(declared.dtype()));
  }
  return absl::OkStatus();
}

void SampleMaker::LoadPoints(std::span<const uint8_t> rows) {
  points_.resize(rows.size() / sizeof(float));
  if (!rows.empty()) std::memcpy(points_.data(), rows.data(), rows.size());
}

absl::Status SampleMaker::Move(const Task& task, const ServerPipeline::Output& output, ImageSize size,
                               std::span<uint8_t> rows) {
  STOKER_ASSIGN_OR_RETURN(const auto ops, Draw(task, output, 0, size));
  LoadPoints(rows);
  canvas_ = MovePoints(ops, size, output.field.kind(), output.field.box_format(), points_);
  if (!rows.empty()) std::memcpy(rows.data(), points_.data(), rows.size());
  return absl::OkStatus();
}

// Bytes that are no boxes, or too many, give none here; who writes the field says why.
void SampleMaker::LoadBoxes(const ServerPipeline& pipeline, std::span<const uint8_t> bytes) {
  boxes_.clear();
  drawn_.reset();
  if (!pipeline.cropped_boxes().has_value()) return;
  const ServerPipeline::Output& output = pipeline.outputs()[pipeline.cropped_boxes()->boxes];
  const v1::Dtype stored = output.cast.has_value() ? output.cast->from : output.field.dtype();
  const uint64_t number_bytes = ByteSize(stored), numbers = bytes.size() / number_bytes;
  if (bytes.size() % (4 * number_bytes) != 0 || numbers * sizeof(float) > output.field.max_bytes()) return;
  boxes_.resize(numbers);
  CastNumbers(bytes, stored, {}, v1::DTYPE_FLOAT32, reinterpret_cast<uint8_t*>(boxes_.data()));
}

absl::StatusOr<std::vector<OpParameters>> SampleMaker::Draw(const Task& task, const ServerPipeline::Output& output,
                                                            uint32_t view, ImageSize size) {
  const ServerPipeline& pipeline = task.pipeline;
  if (!pipeline.cropped_boxes().has_value())
    return pipeline.Draw(output, view, size, task.seed, task.epoch, task.position);
  if (drawn_.has_value()) return *drawn_;  // All that lies on the image has its size, and there are no views.
  const v1::BoxFormat format = pipeline.outputs()[pipeline.cropped_boxes()->boxes].field.box_format();
  const BoxesInHand boxes(boxes_, format, size);
  STOKER_ASSIGN_OR_RETURN(drawn_, pipeline.Draw(output, view, size, task.seed, task.epoch, task.position, &boxes));
  return *drawn_;
}

absl::Status SampleMaker::LeaveOutBoxes(const Task& task, ImageSize size, SpanWriter& writer, uint32_t index) {
  const ServerPipeline::BoxRows& rows = *task.pipeline.cropped_boxes();
  const ServerPipeline::Output& boxes = task.pipeline.outputs()[rows.boxes];
  STOKER_ASSIGN_OR_RETURN(const auto ops, Draw(task, boxes, 0, size));
  std::vector<uint32_t> kept;
  for (const LeftBox& box : BoxesLeft(ops, size, boxes.field.box_format(), boxes_)) kept.push_back(box.row);
  return KeepRows(task.pipeline, rows, kept, writer, index);
}

absl::Status SampleMaker::Sanitize(const ServerPipeline& pipeline, const ServerPipeline::Sanitizer& op,
                                   SpanWriter& writer, uint32_t index) {
  LoadPoints(writer.Last(op.rows.boxes));
  const v1::BoxFormat format = pipeline.outputs()[op.rows.boxes].field.box_format();
  const std::vector<uint32_t> kept = SaneBoxes(points_, format, canvas_, op.min_size, op.min_area);
  return KeepRows(pipeline, op.rows, kept, writer, index);
}

absl::Status SampleMaker::KeepRows(const ServerPipeline& pipeline, const ServerPipeline::BoxRows& of,
                                   std::span<const uint32_t> kept, SpanWriter& writer, uint32_t index) {
  const v1::Field& boxes = pipeline.outputs()[of.boxes].field;
  const uint64_t box_count = writer.Last(of.boxes).size() / RowBytes(boxes);
  std::vector<size_t> fields = {of.boxes};
  fields.insert(fields.end(), of.followers.begin(), of.followers.end());
  for (size_t field : fields) {
    const v1::Field& declared = pipeline.outputs()[field].field;
    const uint64_t row_bytes = RowBytes(declared);
    const std::span<uint8_t> rows = writer.Last(field);
    if (rows.size() != box_count * row_bytes)
      return absl::DataLossError(absl::StrCat("field '", declared.name(), "' has ", rows.size() / row_bytes,
                                              " rows, and '", boxes.name(), "' has ", box_count,
                                              "; each box needs one"));
    for (size_t i = 0; i < kept.size(); ++i)
      std::memmove(rows.data() + i * row_bytes, rows.data() + kept[i] * row_bytes, row_bytes);
    STOKER_RETURN_IF_ERROR(writer.Grow(field, index, kept.size() * row_bytes).status());
  }
  return absl::OkStatus();
}

absl::Status SampleMaker::MakeImages(const Task& task, const ServerPipeline::Output& first,
                                     std::span<const uint8_t> bytes, const Place& place, v1::StageTimes& times) {
  const int source = first.source;
  const SourceField& field = task.schema[source];
  if (field.kind == SourceField::Kind::kEncodedImage) {
    StageClock clock(times);
    STOKER_ASSIGN_OR_RETURN(
        const ImageSize size,
        decoder_.Open(bytes, DecoderOptions(task.pipeline, field, task.interrupt), {task.kept, task.sample, source}));
    STOKER_RETURN_IF_ERROR(sizes_.Add(first.field.name(), first.map(), size));
    STOKER_RETURN_IF_ERROR(CheckPixels(size, limits_));
    STOKER_RETURN_IF_ERROR(CheckSampleCost(task.pipeline, size, limits_));
    STOKER_RETURN_IF_ERROR(Plan(task, source, size, place));
    clock.Book(&v1::StageTimes::decode, &v1::StageTimes::set_decode);
    return MakeFromFile(task, size, times);
  }
  StageClock clock(times);
  const ImageSize size = {field.shape[0], field.shape[1]};
  STOKER_RETURN_IF_ERROR(sizes_.Add(first.field.name(), first.map(), size));
  STOKER_RETURN_IF_ERROR(Plan(task, source, size, place));
  const uint8_t* pixels = bytes.data();
  if (first.map()) {
    STOKER_RETURN_IF_ERROR(CheckPixels(size, limits_));
    dense_map_.resize(size.height * size.width * kChannels);
    WriteMapPixels(bytes, field.dtype, dense_map_.data());
    pixels = dense_map_.data();
  }
  const SourceImage image = {{pixels, size, static_cast<ptrdiff_t>(size.width * kChannels)}, WholeOf(size)};
  const absl::Status status = MakeFrom(task, size, image);
  ReleaseLarge(dense_map_);
  BookAugmenting(clock, times);
  return status;
}

absl::Status SampleMaker::Plan(const Task& task, int source, ImageSize size, const Place& place) {
  views_.clear();
  size_t passes = 0;
  const auto& outputs = task.pipeline.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].source != source || outputs[i].sizes) continue;
    for (uint32_t view = 0; view < outputs[i].view_count; ++view) {
      STOKER_RETURN_IF_ERROR(task.interrupt.status());
      STOKER_ASSIGN_OR_RETURN(ImagePlan plan, PlanView(task, outputs[i], view, size));
      if (plan.peak_pixels() > limits_.max_pixels)
        return absl::ResourceExhaustedError(absl::StrCat("its ops make an image of ", plan.peak_pixels(),
                                                         " pixels, above this server's max_pixels of ",
                                                         limits_.max_pixels));
      STOKER_ASSIGN_OR_RETURN(const auto slot, RoomOf(task.pipeline, i, view, plan.result(), place));
      passes += plan.steps().size();
      const DecodeTarget target = plan.target();
      views_.push_back(
          {passes > kKeptPasses ? std::nullopt : std::optional(std::move(plan)), target, outputs[i], view, slot});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::span<uint8_t>> SampleMaker::RoomOf(const ServerPipeline& pipeline, size_t output, uint32_t view,
                                                       ImageSize size, const Place& place) {
  const ServerPipeline::Output& made = pipeline.outputs()[output];
  if (!made.variable()) {
    const std::span<uint8_t> slot = place.writer.Slot(output, place.index);
    const size_t view_bytes = slot.size() / made.view_count;
    return slot.subspan(view * view_bytes, view_bytes);
  }
  const auto pixels = static_cast<uint64_t>(size.height) * static_cast<uint64_t>(size.width);
  const uint64_t most = pipeline.pipeline().native_size().max_pixels();
  if (pixels > most)
    return absl::DataLossError(absl::StrCat("field '", made.field.name(), "' would be an image of ", size.width, "×",
                                            size.height, ", more than the ", most,
                                            " pixels of the pipeline's native_size.max_pixels; raise it, or let a "
                                            "Resize with max_size make images smaller"));
  const auto sides = std::to_array({static_cast<int32_t>(size.height), static_cast<int32_t>(size.width)});
  std::memcpy(place.writer.Slot(output + 1, place.index).data(), sides.data(), sizeof sides);
  return place.writer.Grow(output, place.index, pixels * kChannels);
}

absl::StatusOr<ImagePlan> SampleMaker::PlanView(const Task& task, const ServerPipeline::Output& output, uint32_t number,
                                                ImageSize size) {
  STOKER_ASSIGN_OR_RETURN(auto ops, Draw(task, output, number, size));
  if (output.map()) ops = MapOps(ops);
  if (task.pipeline.sees_fields()) STOKER_RETURN_IF_ERROR(GiveFields(task, ops));
  return ImagePlan::Make(size, ops, task.pipeline.jpeg_scaling());
}

absl::Status SampleMaker::GiveFields(const Task& task, std::vector<OpParameters>& ops) {
  for (OpParameters& op : ops) {
    auto* const own = std::get_if<OwnParameters>(&op);
    if (own == nullptr) continue;
    for (size_t i = 0; i < own->values.size(); ++i) {
      const LoadedOp::Argument& argument = own->op->arguments()[i];
      if (!argument.is_field()) continue;
      const auto field = std::find_if(task.schema.begin(), task.schema.end(),
                                      [&](const SourceField& other) { return other.name == argument.name; });
      const size_t source = field - task.schema.begin();
      if (const auto seen = seen_.find(source); seen != seen_.end()) {
        own->values[i] = seen->second;
        continue;
      }
      const std::vector<uint8_t>& bytes = sample_->fields[source];
      const bool is_variable = field->kind == SourceField::Kind::kRows;
      const uint64_t row = DenseBytes(*field);
      if (is_variable ? bytes.size() % row != 0 || bytes.size() > field->max_bytes : bytes.size() != row)
        return absl::DataLossError(
            absl::StrCat("field '", field->name, "', which the op '", own->op->name(), "' sees, has ", bytes.size(),
                         " bytes, ", is_variable ? "above its max_bytes or no whole rows" : "a wrong number"));
      OwnField seen = {field->dtype, field->shape, std::make_shared<const std::vector<uint8_t>>(bytes)};
      if (is_variable) seen.shape.insert(seen.shape.begin(), static_cast<int64_t>(bytes.size() / row));
      own->values[i] = seen_.emplace(source, std::move(seen)).first->second;
    }
  }
  return absl::OkStatus();
}

absl::Status SampleMaker::MakeFromFile(const Task& task, ImageSize size, v1::StageTimes& times) {
  StageClock clock(times);
  for (std::optional<DecodeTarget> target; (target = NextTarget()).has_value();) {
    STOKER_ASSIGN_OR_RETURN(const CachedDecoder::Decoded decoded, decoder_.Decode(*target));
    clock.Book(&v1::StageTimes::decode, &v1::StageTimes::set_decode);
    const absl::Status status = MakeFrom(task, size, decoded.image);
    BookAugmenting(clock, times);
    STOKER_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

std::optional<DecodeTarget> SampleMaker::NextTarget() const {
  std::optional<DecodeTarget> target;
  for (const View& view : views_) {
    if (view.made) continue;
    const DecodeTarget& wanted = view.target;
    if (!target.has_value()) target = wanted;
    *target = {Union(target->needed, wanted.needed), std::min(target->eighths, wanted.eighths)};
  }
  return target;
}

absl::Status SampleMaker::MakeFrom(const Task& task, ImageSize size, const SourceImage& image) {
  for (View& view : views_) {
    if (view.made || (image.eighths != 8 && image.eighths != view.target.eighths)) continue;
    if (!view.plan.has_value()) {
      STOKER_ASSIGN_OR_RETURN(view.plan, PlanView(task, view.output, view.number, size));
    }
    STOKER_RETURN_IF_ERROR(MakeView(task, view, image));
    view.plan.reset();
    view.made = true;
  }
  return absl::OkStatus();
}

void SampleMaker::BookAugmenting(StageClock& clock, v1::StageTimes& times) {
  clock.Book(&v1::StageTimes::augment, &v1::StageTimes::set_augment);
  const uint64_t own = augmenter_.TakeOwnNanoseconds();
  if (own == 0) return;
  times.set_augment(times.augment() - std::min(own, times.augment()));
  times.set_own_ops(times.own_ops() + own);
}

absl::Status SampleMaker::BeginView(const Task& task, View& view, const SourceImage& image) {
  STOKER_ASSIGN_OR_RETURN(const auto step, augmenter_.Begin(*view.plan, image, view.slot, *batch_, task.interrupt));
  if (step.has_value()) waiting_->images.push_back({*std::move(view.plan), *step, batch_->size() - 1, view.slot});
  return task.interrupt.status();
}

absl::Status SampleMaker::MakeView(const Task& task, View& view, const SourceImage& image) {
  if (!view.output.map()) {
    if (batch_ != nullptr) return BeginView(task, view, image);
    STOKER_RETURN_IF_ERROR(augmenter_.Apply(*view.plan, image, view.slot, task.interrupt));
    return task.interrupt.status();
  }
  const ImageSize size = view.plan->result();
  made_map_.resize(size.height * size.width * kChannels);
  STOKER_RETURN_IF_ERROR(augmenter_.Apply(*view.plan, image, made_map_, task.interrupt));
  STOKER_RETURN_IF_ERROR(task.interrupt.status());
  const absl::Status status = WriteMapValues(made_map_, view.output.field.kind(), view.output.field.dtype(), view.slot);
  ReleaseLarge(made_map_);
  return status;
}

}  // namespace stoker
