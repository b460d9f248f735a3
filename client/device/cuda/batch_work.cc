#include "client/device/cuda/batch_work.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/device/label_values.h"
#include "client/device/noise_quantiles.h"
#include "client/device/resample_arithmetic.h"
#include "common/check.h"
#include "common/fields/cast.h"
#include "common/fields/companions.h"
#include "common/fields/half_precision.h"
#include "common/fields/schema.h"
#include "common/ops/gaussian_kernel.h"
#include "common/pipeline/compose_gather.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr int64_t kMostValues = std::numeric_limits<int32_t>::max();  // values of one field of a sample

uint64_t Aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Makes room for `bytes` at the end of a memory of `all` bytes, and returns the offset.
uint64_t Reserve(uint64_t bytes, uint64_t& all) { return std::exchange(all, all + Aligned(bytes)); }

absl::StatusOr<Element> ElementOf(v1::Dtype dtype) {
  switch (dtype) {
    case v1::DTYPE_UINT8: return Element::kUint8;
    case v1::DTYPE_FLOAT16: return Element::kFloat16;
    case v1::DTYPE_BFLOAT16: return Element::kBfloat16;
    case v1::DTYPE_FLOAT32: return Element::kFloat32;
    default: return absl::UnimplementedError(absl::StrCat("ToDtype: no GPU kernel makes images of ", DtypeName(dtype)));
  }
}

// Collects what every sample drew for a step. A sample that drew nothing gets `nothing`, which leaves it as it is.
template <typename Draw>
std::vector<Draw> DrawsOf(const std::vector<SampleDraw>& draws, size_t step, const Draw& nothing = {}) {
  static_assert(std::is_trivially_copyable_v<Draw>);
  std::vector<Draw> all(draws.size(), nothing);
  for (size_t row = 0; row < draws.size(); ++row)
    if (const auto* drawn = std::get_if<Draw>(&draws[row].steps[step])) all[row] = *drawn;
  return all;
}

MixDraw MixOf(const BatchDraw& draw) {
  const auto [own, other] = SharesOf(draw);
  return {.kind = draw.kind,
          .own_share = own,
          .other_share = other,
          .top = static_cast<int32_t>(draw.top),
          .left = static_cast<int32_t>(draw.left),
          .height = static_cast<int32_t>(draw.size.height),
          .width = static_cast<int32_t>(draw.size.width)};
}

// Returns the bits of `x` as an element of `dtype`, in which whole numbers hold it.
uint64_t BitsOf(float x, v1::Dtype dtype) {
  switch (dtype) {
    case v1::DTYPE_FLOAT32: return std::bit_cast<uint32_t>(x);
    case v1::DTYPE_FLOAT16: return ToFloat16(x);
    case v1::DTYPE_BFLOAT16: return ToBfloat16(x);
    default: return static_cast<uint64_t>(x);
  }
}

// Returns the bits of OneHotArguments::elements.
std::array<uint64_t, 4> ElementsOf(const DevicePipeline::FieldProgram& program, const BatchDraw& draw,
                                   v1::Dtype dtype) {
  const LabelValues values = LabelValuesOf(program, draw);
  std::array<uint64_t, 4> elements;
  for (size_t whose = 0; whose < elements.size(); ++whose) elements[whose] = BitsOf(values[whose], dtype);
  return elements;
}

int64_t Elements(const v1::Field& field) {
  int64_t elements = 1;
  for (int64_t extent : field.shape()) elements *= extent;
  return elements;
}

// Returns the bytes that a sample needs between the two passes of kResample. There are two ways to go.
uint64_t ResampledBytes(ImageSize in, ImageSize out, int64_t channels) {
  const uint64_t blended = out.height * in.width * channels * sizeof(uint16_t);
  const uint64_t convolved = in.height * out.width * channels;
  return (std::max(blended, convolved) + 15) / 16 * 16;
}

// Returns the bytes of a sample's weights for kResample: see ResampleArguments.
uint64_t WeightBytes(ImageSize out, int32_t taps_across, int32_t taps_down) {
  return (out.width * (int64_t{taps_across} + 1) + out.height * (int64_t{taps_down} + 1)) * sizeof(int32_t);
}

}  // namespace

// ---- What is made, and where it lies ----

absl::StatusOr<BatchWork> BatchWork::Create(const DevicePipeline& pipeline, const HostBatch& batch) {
  BatchWork work(pipeline, batch);
  STOKER_RETURN_IF_ERROR(work.CheckBounds());
  STOKER_RETURN_IF_ERROR(work.AddFields());
  for (size_t i = 0; i < work.fields_.size(); ++i)
    if (work.fields_[i].kind == FieldKind::kImage) STOKER_RETURN_IF_ERROR(work.AddImages(static_cast<int>(i)));
  work.ReserveScratch();
  work.parameters_at_ = Reserve(work.parameters_.size(), work.staging_bytes_);
  return work;
}

absl::Status BatchWork::CheckBounds() const {
  if (pipeline_->identity()) return absl::OkStatus();
  const DevicePipeline::ImageProgram& image = pipeline_->image();
  if (batch_->rows() > kMostSamples)
    return absl::InvalidArgumentError(
        absl::StrCat("batch_size: a GPU's ops take at most ", kMostSamples, " samples, not ", batch_->rows()));
  for (const DevicePipeline::ImageProgram& views : pipeline_->views()) {
    if (views.channels > kMostChannels)
      return absl::InvalidArgumentError(
          absl::StrCat("a GPU's ops take images of at most ", kMostChannels, " channels, not ", views.channels));
    if (batch_->rows() * views.count > kMostSamples)
      return absl::InvalidArgumentError(absl::StrCat("batch_size: a GPU's ops take at most ", kMostSamples,
                                                     " images of one field, not ", batch_->rows(), " samples of ",
                                                     views.count, " views"));
  }
  if (image.field >= 0 && image.channels > kMostChannels)
    return absl::InvalidArgumentError(
        absl::StrCat("a GPU's ops take images of at most ", kMostChannels, " channels, not ", image.channels));
  for (const v1::Field& field : pipeline_->fields())
    if (Elements(field) > kMostValues)
      return absl::InvalidArgumentError(
          absl::StrCat("a GPU's ops take fields of less than 2^31 values, unlike '", field.name(), "'"));
  for (const HostBatch::Rows& rows : batch_->variable)
    if (const v1::Field& field = pipeline_->source_fields()[rows.field];
        rows.offsets.back() > kMostValues / Elements(field))
      return absl::InvalidArgumentError(absl::StrCat("batch_size: a GPU's ops take fewer than 2^31 values of '",
                                                     field.name(), "' together; have fewer samples"));
  return absl::OkStatus();
}

absl::Status BatchWork::AddFields() {
  STOKER_CHECK(batch_->fields.size() == pipeline_->fields().size());
  fields_.resize(batch_->fields.size());
  for (const HostBatch::Rows& rows : batch_->variable) fields_[rows.field].rows = &rows;
  if (!pipeline_->identity() && batch_->rows() > 0)
    mixes_ = pipeline_->DrawRows(batch_->seed, batch_->epoch, batch_->FirstPosition(), batch_->positions);
  for (size_t i = 0; i < fields_.size(); ++i) {
    fields_[i].kind = pipeline_->identity() ? FieldKind::kAsItCame : pipeline_->programs()[i].kind;
    if (fields_[i].rows != nullptr) {
      AddRows(*fields_[i].rows);
    } else {
      STOKER_RETURN_IF_ERROR(AddField(i));
    }
  }
  for (const HostBatch::Rows& rows : batch_->variable)
    if (fields_[rows.field].ragged())
      fields_[rows.field].offsets_made_at = Reserve(rows.offsets.size() * sizeof(int64_t), slot_bytes_);
  return absl::OkStatus();
}

absl::Status BatchWork::AddField(size_t i) {
  Field& field = fields_[i];
  const std::span<const uint8_t> bytes = batch_->fields[i];
  field.bytes = bytes.size();
  field.staged_at = Reserve(field.bytes, staging_bytes_);
  Upload(bytes, field.staged_at);
  field.made_bytes = field.bytes;
  if (field.kind != FieldKind::kAsItCame) {
    STOKER_ASSIGN_OR_RETURN(const uint64_t sample_bytes, ByteSize(pipeline_->fields()[i]));
    field.made_bytes = sample_bytes * batch_->rows();
    if (field.kind == FieldKind::kScale) AddScale(i);
    if (pipeline_->programs()[i].mixed) AddShares(i);
    const int64_t numbers = Elements(pipeline_->source_fields()[i]) * batch_->rows();
    STOKER_RETURN_IF_ERROR(pipeline_->CheckClasses(static_cast<int>(i), bytes.data(), numbers));
  }
  field.made_at = Reserve(field.made_bytes, slot_bytes_);
  return absl::OkStatus();
}

void BatchWork::AddRows(const HostBatch::Rows& rows) {
  Field& field = fields_[rows.field];
  for (const std::span<const uint8_t> part : rows.parts) field.bytes += part.size();
  field.staged_at = Reserve(field.bytes, staging_bytes_);
  uint64_t to = field.staged_at;
  for (const std::span<const uint8_t> part : rows.parts) {
    Upload(part, to);
    to += part.size();
  }
  const int64_t padded_rows = pipeline_->identity() ? 0 : pipeline_->programs()[rows.field].padded_rows;
  field.padded = padded_rows > 0;
  const v1::Field& made = pipeline_->fields()[rows.field];
  field.made_bytes = (field.ragged() ? rows.offsets.back() : batch_->rows()) * Elements(made) * ByteSize(made.dtype());
  if (field.kind == FieldKind::kScale) AddScale(rows.field);
  field.offsets_at = AddParameters(rows.offsets);
  field.made_at = Reserve(field.made_bytes, slot_bytes_);
}

void BatchWork::AddScale(size_t i) {
  fields_[i].scale_at = AddParameters(pipeline_->programs()[i].scale);
  fields_[i].bias_at = AddParameters(pipeline_->programs()[i].bias);
}

// Adds what mixes numbers, or one-hot labels where each row draws for itself.
void BatchWork::AddShares(size_t i) {
  const DevicePipeline::FieldProgram& program = pipeline_->programs()[i];
  std::vector<float> shares;
  std::vector<std::array<uint64_t, 4>> elements;
  for (const BatchDraw& draw : mixes_) {
    shares.insert(shares.end(), {SharesOf(draw).own, SharesOf(draw).other});
    elements.push_back(ElementsOf(program, draw, pipeline_->fields()[i].dtype()));
  }
  if (program.kind == FieldKind::kScale)
    fields_[i].shares_at = AddParameters(shares);
  else if (pipeline_->mixes_each())
    fields_[i].shares_at = AddParameters(elements);
}

// Adds a copy. It joins the copy before it if both its source and its destination follow directly.
void BatchWork::Upload(std::span<const uint8_t> bytes, uint64_t to) {
  if (bytes.empty()) return;
  if (!uploads_.empty()) {
    Part& last = uploads_.back();
    if (last.from + last.bytes == bytes.data() && last.to + last.bytes == to) {
      last.bytes += bytes.size();
      return;
    }
  }
  uploads_.push_back({bytes.data(), to, bytes.size()});
}

template <typename T>
uint64_t BatchWork::AddParameters(const std::vector<T>& values) {
  const uint64_t at = parameters_.size();
  parameters_.resize(at + Aligned(values.size() * sizeof(T)));
  if (!values.empty()) std::memcpy(parameters_.data() + at, values.data(), values.size() * sizeof(T));
  return at;
}

absl::Status BatchWork::AddImages(int field) {
  const DevicePipeline::ImageProgram& program = pipeline_->ImagesOf(field);
  Images images = {.field = field, .program = &program, .samples = batch_->rows() * program.count};
  STOKER_ASSIGN_OR_RETURN(images.element, ElementOf(program.dtype));
  std::vector<SampleDraw> draws;
  std::vector<uint8_t> flips;
  std::vector<EraseDraw> erases;
  for (int64_t i = 0; i < images.samples; ++i) {
    draws.push_back(
        pipeline_->DrawOf(field, i % program.count, batch_->seed, batch_->epoch, batch_->positions[i / program.count]));
    const SampleDraw& draw = draws.back();
    flips.push_back((draw.flips.horizontal ? kFlipHorizontal : 0) | (draw.flips.vertical ? kFlipVertical : 0));
    erases.push_back(draw.erase);
  }
  for (size_t i = 0; i < program.steps.size(); ++i) AddStep(program.steps[i], draws, i, images.steps);
  if (std::any_of(flips.begin(), flips.end(), [](uint8_t each) { return each != 0; }))
    images.flips_at = AddParameters(flips);
  const auto erases_something = [](const EraseDraw& each) { return each.size.height > 0 && each.size.width > 0; };
  if (program.erases && std::any_of(erases.begin(), erases.end(), erases_something)) {
    images.erases_at = AddParameters(erases);
    if (program.erases_with_noise) images.quantiles_at = AddParameters(NoiseQuantiles());
  }
  if ((program.mixes_pixels || program.mixes_rectangles) && pipeline_->mixes_each()) {
    std::vector<MixDraw> mixes;
    for (const BatchDraw& draw : mixes_) mixes.push_back(MixOf(draw));
    images.mixes_at = AddParameters(mixes);
  }
  if (program.count == 1 && field == pipeline_->image().field) AddMapMoves(draws);
  images_.push_back(std::move(images));
  return absl::OkStatus();
}

// The images of all fields take turns in it.
void BatchWork::ReserveScratch() {
  uint64_t most = 0, between = 0;
  for (const Images& images : images_)
    for (const Step& step : images.steps) {
      most = std::max<uint64_t>(most, step.out.height * step.out.width * images.program->channels * images.samples);
      between = std::max(between, BetweenBytes(images, step));
    }
  for (uint64_t& scratch_at : scratch_at_) scratch_at = Reserve(most, staging_bytes_);
  between_at_ = Reserve(between, staging_bytes_);
}

uint64_t BatchWork::BetweenBytes(const Images& images, const Step& step) {
  const int64_t channels = images.program->channels, rows = images.samples;
  switch (step.kind) {
    case DeviceStep::Kind::kBlur: return step.out.height * step.out.width * channels * rows * sizeof(uint16_t);
    case DeviceStep::Kind::kColors: return step.tables ? rows * kTableLevels : 0;
    case DeviceStep::Kind::kResample:
      return Aligned(rows * WeightBytes(step.out, step.taps_across, step.taps_down)) +
             rows * ResampledBytes(step.in, step.out, channels);
    default: return 0;
  }
}

void BatchWork::AddMapMoves(const std::vector<SampleDraw>& draws) {
  const auto moves_maps = [](const Field& field) { return field.kind == FieldKind::kMovedMap; };
  if (std::none_of(fields_.begin(), fields_.end(), moves_maps)) return;
  const std::vector<DeviceStep>& moves = pipeline_->image().map_moves;
  const DevicePipeline::ImageProgram& program = pipeline_->image();
  uint64_t most = program.height * program.width;
  for (size_t i = 0; i < moves.size(); ++i) {
    std::vector<GatherDraw> labels, binary;
    for (const SampleDraw& draw : draws) {
      labels.push_back(draw.map_moves[i]);
      binary.push_back(ForBinaryMap(draw.map_moves[i]));
    }
    map_moves_.push_back({moves[i].in, moves[i].out, AddParameters(labels), AddParameters(binary)});
    most = std::max<uint64_t>(most, moves[i].out.height * moves[i].out.width);
  }
  for (uint64_t& scratch_at : map_scratch_at_)
    scratch_at = Reserve(most * sizeof(int16_t) * batch_->rows(), staging_bytes_);
}

// Adds a step, unless no sample drew anything for it.
void BatchWork::AddStep(const DeviceStep& step, const std::vector<SampleDraw>& draws, size_t index,
                        std::vector<Step>& steps) {
  const auto draws_nothing = [index](const SampleDraw& draw) {
    return std::holds_alternative<std::monostate>(draw.steps[index]);
  };
  if (std::all_of(draws.begin(), draws.end(), draws_nothing)) return;
  Step added{.kind = step.kind, .in = step.in, .out = step.out, .resampling = step.resampling};
  switch (step.kind) {
    case DeviceStep::Kind::kGather:
      added.draws_at = AddParameters(DrawsOf<GatherDraw>(draws, index, GatherComposer(step.in).gather()));
      break;
    case DeviceStep::Kind::kColors: AddColors(DrawsOf<ColorsDraw>(draws, index), added); break;
    case DeviceStep::Kind::kResample: AddResample(draws, index, added); break;
    case DeviceStep::Kind::kSharpen: added.draws_at = AddParameters(DrawsOf<SharpenDraw>(draws, index)); break;
    case DeviceStep::Kind::kBlur: AddBlur(draws, index, added); break;
    case DeviceStep::Kind::kMask: added.draws_at = AddParameters(DrawsOf<MaskDraw>(draws, index)); break;
    case DeviceStep::Kind::kErase: added.draws_at = AddParameters(DrawsOf<EraseDraw>(draws, index)); break;
  }
  steps.push_back(added);
}

// Adds what a step of colors needs. Figures of whole images are measured only where a sample drew what takes them.
void BatchWork::AddColors(const std::vector<ColorsDraw>& draws, Step& step) {
  bool contrast = false;
  for (const ColorsDraw& draw : draws)
    for (int i = 0; i < draw.count; ++i) {
      contrast = contrast || draw.changes[i].kind == ColorChange::Kind::kContrast;
      step.tables = step.tables || TakesHistogram(draw.changes[i].kind);
    }
  step.draws_at = AddParameters(draws);
  if (contrast) step.gray_sums_at = AddParameters(std::vector<uint64_t>(draws.size()));
}

// Adds the rectangle of each sample. One that drew nothing is resized to the size that it has.
void BatchWork::AddResample(const std::vector<SampleDraw>& draws, size_t index, Step& step) {
  std::vector<ResampledBox> boxes;
  for (const ResampleDraw& draw : DrawsOf<ResampleDraw>(draws, index, {.size = step.in})) {
    const int64_t across = TapCount(step.resampling, {draw.size.width, step.out.width});
    const int64_t down = TapCount(step.resampling, {draw.size.height, step.out.height});
    boxes.push_back({.top = static_cast<int32_t>(draw.top),
                     .left = static_cast<int32_t>(draw.left),
                     .height = static_cast<int32_t>(draw.size.height),
                     .width = static_cast<int32_t>(draw.size.width),
                     .taps_across = static_cast<int32_t>(across),
                     .taps_down = static_cast<int32_t>(down),
                     .blended = IsBlended(step.resampling, across, down)});
    step.taps_across = std::max(step.taps_across, boxes.back().taps_across);
    step.taps_down = std::max(step.taps_down, boxes.back().taps_down);
  }
  step.draws_at = AddParameters(boxes);
}

// Adds the weights of a blur, with the same number of taps for each sample. A sample that drew nothing gets a kernel
// whose middle pixel has all the weight.
void BatchWork::AddBlur(const std::vector<SampleDraw>& draws, size_t index, Step& step) {
  const BlurDraw nothing = {.across = {kHalfKernelSum}, .down = {kHalfKernelSum}};
  std::vector<const BlurDraw*> blurs;
  size_t across = 1, down = 1;
  for (const SampleDraw& draw : draws) {
    const auto* blur = std::get_if<BlurDraw>(&draw.steps[index]);
    blurs.push_back(blur == nullptr ? &nothing : blur);
    across = std::max(across, blurs.back()->across.size());
    down = std::max(down, blurs.back()->down.size());
  }
  std::vector<int32_t> weights_across(draws.size() * across), weights_down(draws.size() * down);
  for (size_t row = 0; row < draws.size(); ++row) {
    std::copy(blurs[row]->across.begin(), blurs[row]->across.end(), weights_across.begin() + row * across);
    std::copy(blurs[row]->down.begin(), blurs[row]->down.end(), weights_down.begin() + row * down);
  }
  step.draws_at = AddParameters(weights_across);
  step.down_at = AddParameters(weights_down);
  step.taps_across = static_cast<int32_t>(across);
  step.taps_down = static_cast<int32_t>(down);
}

// ---- Which kernels and copies make it ----

std::vector<KernelCall> BatchWork::Kernels(uint8_t* staging, uint8_t* slot) const {
  std::vector<KernelCall> calls;
  if (batch_->rows() == 0) return calls;
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].padded) {
      calls.push_back(Pad(i, staging, slot));
      continue;
    }
    switch (fields_[i].kind) {
      case FieldKind::kAsItCame: break;
      case FieldKind::kImage: {
        const auto images = std::find_if(images_.begin(), images_.end(),
                                         [i](const Images& one) { return one.field == static_cast<int>(i); });
        AppendSteps(*images, staging, calls);
        AppendTransform(*images, staging, slot, calls);
        break;
      }
      case FieldKind::kOneHot: calls.push_back(OneHot(i, staging, slot)); break;
      case FieldKind::kUnpackBits: calls.push_back(Unpack(i, staging, slot)); break;
      case FieldKind::kWiden: calls.push_back(Widen(i, staging, slot)); break;
      case FieldKind::kMovedMap: AppendMap(i, staging, slot, calls); break;
      case FieldKind::kScale:
        if (pipeline_->programs()[i].mixed)
          calls.push_back(MixNumbers(i, staging, slot));
        else if (fields_[i].made_bytes > 0)
          calls.push_back(Scale(i, staging, slot));
        break;
      case FieldKind::kDense: calls.push_back(Dense(i, staging, slot)); break;
    }
  }
  return calls;
}

uint64_t BatchWork::ImageAt(const Images& images, size_t count) const {
  return count == 0 ? fields_[images.field].staged_at : scratch_at_[(count - 1) % 2];
}

void BatchWork::AppendSteps(const Images& images, uint8_t* staging, std::vector<KernelCall>& calls) const {
  for (size_t i = 0; i < images.steps.size(); ++i) {
    const Step& step = images.steps[i];
    const ImagesArguments arguments = {.in = staging + ImageAt(images, i),
                                       .out = staging + ImageAt(images, i + 1),
                                       .samples = images.samples,
                                       .in_height = static_cast<int32_t>(step.in.height),
                                       .in_width = static_cast<int32_t>(step.in.width),
                                       .height = static_cast<int32_t>(step.out.height),
                                       .width = static_cast<int32_t>(step.out.width),
                                       .channels = static_cast<int32_t>(images.program->channels)};
    AppendStep(step, arguments, staging, calls);
  }
}

void BatchWork::AppendStep(const Step& step, const ImagesArguments& images, uint8_t* staging,
                           std::vector<KernelCall>& calls) const {
  switch (step.kind) {
    case DeviceStep::Kind::kGather:
      calls.push_back(GatherArguments{images, Parameters<GatherDraw>(staging, step.draws_at)});
      break;
    case DeviceStep::Kind::kColors: {
      const auto* draws = Parameters<ColorsDraw>(staging, step.draws_at);
      uint64_t* sums = step.gray_sums_at.has_value() ? Parameters<uint64_t>(staging, *step.gray_sums_at) : nullptr;
      uint8_t* tables = step.tables ? staging + between_at_ : nullptr;
      if (sums != nullptr) calls.push_back(GraySumArguments{images, draws, sums});
      if (tables != nullptr) calls.push_back(LevelTableArguments{images, draws, tables});
      calls.push_back(ColorArguments{images, draws, sums, tables});
      break;
    }
    case DeviceStep::Kind::kResample: AppendResample(step, images, staging, calls); break;
    case DeviceStep::Kind::kSharpen:
      calls.push_back(SharpenArguments{images, Parameters<SharpenDraw>(staging, step.draws_at)});
      break;
    case DeviceStep::Kind::kBlur: {
      auto* blurred = reinterpret_cast<uint16_t*>(staging + between_at_);
      calls.push_back(BlurDownArguments{images, blurred, Parameters<int32_t>(staging, step.down_at), step.taps_down});
      calls.push_back(
          BlurAcrossArguments{images, blurred, Parameters<int32_t>(staging, step.draws_at), step.taps_across});
      break;
    }
    case DeviceStep::Kind::kMask:
      calls.push_back(MaskArguments{images, Parameters<MaskDraw>(staging, step.draws_at)});
      break;
    case DeviceStep::Kind::kErase:
      calls.push_back(EraseArguments{images, Parameters<EraseDraw>(staging, step.draws_at)});
      break;
  }
}

void BatchWork::AppendResample(const Step& step, const ImagesArguments& images, uint8_t* staging,
                               std::vector<KernelCall>& calls) const {
  const uint64_t weights = Aligned(images.samples * WeightBytes(step.out, step.taps_across, step.taps_down));
  const ResampleArguments all = {.images = images,
                                 .boxes = Parameters<ResampledBox>(staging, step.draws_at),
                                 .weights = reinterpret_cast<int32_t*>(staging + between_at_),
                                 .most_across = step.taps_across,
                                 .most_down = step.taps_down,
                                 .between = staging + between_at_ + weights,
                                 .between_bytes = ResampledBytes(step.in, step.out, images.channels),
                                 .resampling = step.resampling};
  calls.push_back(ResampleWeightsArguments{all});
  calls.push_back(ResampleFirstArguments{all});
  calls.push_back(ResampleSecondArguments{all});
}

void BatchWork::AppendTransform(const Images& images, uint8_t* staging, uint8_t* slot,
                                std::vector<KernelCall>& calls) const {
  const DevicePipeline::ImageProgram& program = *images.program;
  const auto at = [&]<typename T>(const std::optional<uint64_t>& offset, T*& to) {
    to = offset.has_value() ? Parameters<T>(staging, *offset) : nullptr;
  };
  TransformArguments transform = {.in = staging + ImageAt(images, images.steps.size()),
                                  .out = slot + fields_[images.field].made_at,
                                  .samples = images.samples,
                                  .height = static_cast<int32_t>(program.out.height),
                                  .width = static_cast<int32_t>(program.out.width),
                                  .channels = static_cast<int32_t>(program.channels),
                                  .element = images.element,
                                  .channels_first = program.channels_first};
  std::copy(program.scale.begin(), program.scale.end(), transform.scale);
  std::copy(program.bias.begin(), program.bias.end(), transform.bias);
  at(images.flips_at, transform.flips);
  if (!images.erases_at.has_value() && mixes_[0].kind == BatchDraw::Kind::kNone) {
    calls.push_back(transform);
    return;
  }
  MixArguments mix = {.transform = transform, .mix = MixOf(mixes_[0])};
  at(images.erases_at, mix.erases);
  at(images.quantiles_at, mix.quantiles);
  at(images.mixes_at, mix.mixes);
  std::copy(program.erase_value.begin(), program.erase_value.end(), mix.erase_value);
  std::copy(program.erase_scale.begin(), program.erase_scale.end(), mix.erase_scale);
  calls.push_back(mix);
}

// A map is moved as an image of one channel a byte. Bits are unpacked first, and labels are widened last.
void BatchWork::AppendMap(size_t i, uint8_t* staging, uint8_t* slot, std::vector<KernelCall>& calls) const {
  const v1::Field& source = pipeline_->source_fields()[i];
  const bool binary = source.kind() == v1::FIELD_KIND_BINARY_MAP;
  const auto value_bytes = static_cast<int32_t>(binary ? 1 : ByteSize(source.dtype()));
  const auto scratch = [&](size_t number) { return staging + map_scratch_at_[number % 2]; };
  const uint8_t* in = staging + fields_[i].staged_at;
  if (binary) {
    calls.push_back(UnpackArguments{
        .in = in, .out = scratch(1), .samples = batch_->rows(), .bits = static_cast<int32_t>(Elements(source))});
    in = scratch(1);
  }
  for (size_t number = 0; number < map_moves_.size(); ++number) {
    const MapMove& move = map_moves_[number];
    const bool makes_slot = binary && number + 1 == map_moves_.size();
    uint8_t* const out = makes_slot ? slot + fields_[i].made_at : scratch(number);
    const ImagesArguments images = {.in = in,
                                    .out = out,
                                    .samples = batch_->rows(),
                                    .in_height = static_cast<int32_t>(move.in.height),
                                    .in_width = static_cast<int32_t>(move.in.width),
                                    .height = static_cast<int32_t>(move.out.height),
                                    .width = static_cast<int32_t>(move.out.width),
                                    .channels = value_bytes};
    calls.push_back(
        GatherArguments{images, Parameters<GatherDraw>(staging, binary ? move.binary_draws_at : move.draws_at)});
    in = out;
  }
  if (binary) return;
  calls.push_back(WidenArguments{.in = in,
                                 .out = reinterpret_cast<int64_t*>(slot + fields_[i].made_at),
                                 .samples = batch_->rows(),
                                 .numbers = static_cast<int32_t>(Elements(pipeline_->fields()[i])),
                                 .in_bytes = value_bytes});
}

KernelCall BatchWork::OneHot(size_t i, uint8_t* staging, uint8_t* slot) const {
  const v1::Field &source = pipeline_->source_fields()[i], &made = pipeline_->fields()[i];
  OneHotArguments arguments = {.in = staging + fields_[i].staged_at,
                               .out = slot + fields_[i].made_at,
                               .samples = batch_->rows(),
                               .numbers = static_cast<int32_t>(Elements(source)),
                               .classes = static_cast<int32_t>(pipeline_->programs()[i].classes),
                               .in_bytes = static_cast<int32_t>(ByteSize(source.dtype())),
                               .out_bytes = static_cast<int32_t>(ByteSize(made.dtype())),
                               .mixed = pipeline_->programs()[i].mixed};
  const auto elements = ElementsOf(pipeline_->programs()[i], mixes_[0], made.dtype());
  std::copy(elements.begin(), elements.end(), arguments.elements);
  if (arguments.mixed && pipeline_->mixes_each()) arguments.each = Parameters<uint64_t>(staging, fields_[i].shares_at);
  return arguments;
}

KernelCall BatchWork::Unpack(size_t i, uint8_t* staging, uint8_t* slot) const {
  return UnpackArguments{.in = staging + fields_[i].staged_at,
                         .out = slot + fields_[i].made_at,
                         .samples = batch_->rows(),
                         .bits = static_cast<int32_t>(Elements(pipeline_->fields()[i])),
                         .least_significant_first = pipeline_->programs()[i].least_significant_first};
}

KernelCall BatchWork::Widen(size_t i, uint8_t* staging, uint8_t* slot) const {
  const v1::Field& source = pipeline_->source_fields()[i];
  return WidenArguments{.in = staging + fields_[i].staged_at,
                        .out = reinterpret_cast<int64_t*>(slot + fields_[i].made_at),
                        .samples = batch_->rows(),
                        .numbers = static_cast<int32_t>(Elements(source)),
                        .in_bytes = static_cast<int32_t>(ByteSize(source.dtype()))};
}

ScaleArguments BatchWork::Scale(size_t i, uint8_t* staging, uint8_t* slot) const {
  const HostBatch::Rows* const rows = fields_[i].rows;
  const v1::Field &source = pipeline_->source_fields()[i], &made = pipeline_->fields()[i];
  return {.in = staging + fields_[i].staged_at,
          .out = slot + fields_[i].made_at,
          .scale = Parameters<float>(staging, fields_[i].scale_at),
          .bias = Parameters<float>(staging, fields_[i].bias_at),
          .samples = rows == nullptr ? batch_->rows() : 1,  // Rows are as one sample of all numbers.
          .numbers = static_cast<int32_t>(Elements(source) * (rows == nullptr ? 1 : rows->offsets.back())),
          .period = static_cast<int32_t>(pipeline_->programs()[i].scale.size()),
          .from = NumberOf(source.dtype()),
          .to = NumberOf(made.dtype())};
}

KernelCall BatchWork::MixNumbers(size_t i, uint8_t* staging, uint8_t* slot) const {
  return MixNumbersArguments{.scale = Scale(i, staging, slot),
                             .shares = Parameters<float>(staging, fields_[i].shares_at),
                             .scale_after = pipeline_->programs()[i].scale_after,
                             .bias_after = pipeline_->programs()[i].bias_after};
}

KernelCall BatchWork::Pad(size_t i, uint8_t* staging, uint8_t* slot) const {
  const DevicePipeline::FieldProgram& program = pipeline_->programs()[i];
  ScaleArguments scale = Scale(i, staging, slot);
  scale.samples = batch_->rows();
  scale.numbers = static_cast<int32_t>(Elements(pipeline_->source_fields()[i]));
  return PadArguments{.scale = scale,
                      .offsets = Parameters<int64_t>(staging, fields_[i].offsets_at),
                      .rows = static_cast<int32_t>(program.padded_rows),
                      .element_bytes = static_cast<int32_t>(ByteSize(pipeline_->fields()[i].dtype())),
                      .scales = program.kind == FieldKind::kScale,
                      .fill = program.fill};
}

KernelCall BatchWork::Dense(size_t i, uint8_t* staging, uint8_t* slot) const {
  const v1::Field &source = pipeline_->source_fields()[i], &made = pipeline_->fields()[i];
  DenseArguments arguments = {.places = staging + fields_[i].staged_at,
                              .offsets = Parameters<int64_t>(staging, fields_[i].offsets_at),
                              .out = slot + fields_[i].made_at,
                              .samples = batch_->rows(),
                              .elements = static_cast<int32_t>(Elements(made)),
                              .out_bytes = static_cast<int32_t>(ByteSize(made.dtype())),
                              .wide = source.dtype() == v1::DTYPE_INT64};
  const size_t values = i + 1;
  if (values == fields_.size() || pipeline_->source_fields()[values].name() != ValuesName(source.name()))
    return arguments;
  arguments.scales = fields_[values].kind == FieldKind::kScale;
  arguments.values.in = staging + fields_[values].staged_at;
  if (arguments.scales) arguments.values = Scale(values, staging, slot);
  return arguments;
}

std::vector<BatchWork::Part> BatchWork::Copies(const uint8_t* staging) const {
  std::vector<Part> copies;
  for (const Field& field : fields_) {
    if (field.kind == FieldKind::kAsItCame && field.bytes > 0 && !field.padded)
      copies.push_back({staging + field.staged_at, field.made_at, field.bytes});
    if (field.ragged())
      copies.push_back({staging + parameters_at_ + field.offsets_at, field.offsets_made_at,
                        field.rows->offsets.size() * sizeof(int64_t)});
  }
  return copies;
}

std::vector<Tensor> BatchWork::Tensors(const uint8_t* slot, DeviceId device) const {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < fields_.size(); ++i) tensors.push_back(TensorOf(i, slot, device));
  for (const HostBatch::Rows& rows : batch_->variable)
    if (fields_[rows.field].ragged()) tensors.push_back(OffsetsOf(rows.field, slot, device));
  return tensors;
}

Tensor BatchWork::TensorOf(size_t i, const uint8_t* slot, DeviceId device) const {
  const v1::Field& made = pipeline_->fields()[i];
  Tensor tensor{.name = made.name(),
                .dtype = made.dtype(),
                .shape = {fields_[i].ragged() ? fields_[i].rows->offsets.back() : batch_->rows()},
                .data = slot + fields_[i].made_at,
                .bytes = fields_[i].made_bytes,
                .device = device};
  tensor.shape.insert(tensor.shape.end(), made.shape().begin(), made.shape().end());
  return tensor;
}

Tensor BatchWork::OffsetsOf(size_t i, const uint8_t* slot, DeviceId device) const {
  const auto offsets = static_cast<int64_t>(fields_[i].rows->offsets.size());
  return {.name = OffsetsName(pipeline_->fields()[i].name()),
          .dtype = v1::DTYPE_INT64,
          .shape = {offsets},
          .data = slot + fields_[i].offsets_made_at,
          .bytes = offsets * sizeof(int64_t),
          .device = device};
}

}  // namespace stoker
