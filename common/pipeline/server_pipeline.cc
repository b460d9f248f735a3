#include "common/pipeline/server_pipeline.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/fields/companions.h"
#include "common/identity/draws.h"
#include "common/ops/arguments.h"
#include "common/ops/audio.h"
#include "common/ops/loaded_ops.h"
#include "common/ops/mosaic.h"
#include "common/ops/nested.h"
#include "common/ops/ops.h"
#include "common/pipeline/device_pipeline.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr uint64_t kSpanBytes = uint64_t{1} << 20;
constexpr int64_t kChannels = 3;

bool IsImage(const SourceField& field) {
  if (IsMap(field.meaning)) return false;
  return field.kind == SourceField::Kind::kEncodedImage ||
         (field.name == "image" && field.dtype == v1::DTYPE_UINT8 && field.shape.size() == 3 && field.shape[2] == 3);
}

std::string NamesOf(const SourceSchema& schema) {
  std::vector<std::string> names;
  for (const SourceField& field : schema)
    if (!IsCompanion(field.name)) names.push_back(field.name);
  return absl::StrJoin(names, ", ");
}

// Whether the source field `index` is followed by the values that belong to it.
bool HasValues(const SourceSchema& schema, size_t index) {
  return schema[index].meaning == v1::FIELD_KIND_SPARSE && index + 1 < schema.size() &&
         schema[index + 1].name == ValuesName(schema[index].name);
}

// Returns the indexes in the schema of the source fields to send, in order.
absl::StatusOr<std::vector<int>> Sources(const v1::Pipeline& pipeline, const SourceSchema& schema) {
  std::vector<int> sources;
  if (pipeline.fields().empty())
    for (size_t i = 0; i < schema.size(); ++i)
      if (!IsCompanion(schema[i].name)) sources.push_back(static_cast<int>(i));
  for (int i = 0; i < pipeline.fields_size(); ++i) {
    const std::string& name = pipeline.fields(i);
    auto field = std::find_if(schema.begin(), schema.end(),
                              [&](const SourceField& f) { return f.name == name && !IsCompanion(name); });
    if (field == schema.end())
      return absl::InvalidArgumentError(
          absl::StrCat("pipeline.fields[", i, "]: the dataset has no field '", name, "'; it has ", NamesOf(schema)));
    sources.push_back(static_cast<int>(field - schema.begin()));
    if (std::count(sources.begin(), sources.end(), sources.back()) > 1)
      return absl::InvalidArgumentError(absl::StrCat("pipeline.fields[", i, "]: '", name, "' stands twice"));
  }
  return sources;
}

// Returns the path of an output's ops, for errors: "pipeline.ops", "pipeline.views[1].ops".
std::string PathOf(const ServerPipeline::Output& output) {
  return output.views < 0 ? "pipeline.ops" : absl::StrCat("pipeline.views[", output.views, "].ops");
}

// Returns bytes that are equal for ops that do the same, wherever they run.
std::string Meaning(const v1::Op& op) {
  v1::Op full = WithDefaults(op);
  full.clear_placement();
  full.DiscardUnknownFields();
  return full.SerializeAsString();
}

std::string Names(const std::vector<v1::Op>& ops) {
  return absl::StrJoin(ops, ", ", [](std::string* out, const v1::Op& op) { absl::StrAppend(out, OpName(op)); });
}

// Returns a `map_fill` of the op, or of one inside of it, that is no uint8.
std::optional<int32_t> FillBeyondBytes(const v1::Op& op) {
  if (const auto* transforms = NestedTransforms(op))
    for (const v1::Op& inner : *transforms)
      if (auto fill = FillBeyondBytes(inner); fill.has_value()) return fill;
  const auto* which = op.GetReflection()->GetOneofFieldDescriptor(op, op.GetDescriptor()->FindOneofByName("op"));
  const google::protobuf::Message& arguments = op.GetReflection()->GetMessage(op, which);
  const auto* argument = arguments.GetDescriptor()->FindFieldByName("map_fill");
  if (argument == nullptr) return std::nullopt;
  const int32_t fill = arguments.GetReflection()->GetInt32(arguments, argument);
  return fill < 0 || fill > UINT8_MAX ? std::optional(fill) : std::nullopt;
}

// Appends the op, if it is a RandomIoUCrop, and those inside of it to `crops`, with their defaults.
void AppendBoxCrops(const v1::Op& op, std::vector<v1::RandomIoUCrop>& crops) {
  if (op.has_random_iou_crop()) crops.push_back(WithDefaults(op).random_iou_crop());
  if (const auto* transforms = NestedTransforms(op))
    for (const v1::Op& inner : *transforms) AppendBoxCrops(inner, crops);
}

// Checks that what `op` makes of an image of `size` has at most `max_pixels`, and also what a resize keeps between its
// two passes. Sets `size` to that of the result.
absl::Status CheckPixels(const OpParameters& op, ImageSize& size, uint64_t max_pixels) {
  const ImageSize before = size;
  auto height = static_cast<uint64_t>(before.height);
  if (const auto* crop = std::get_if<CropParameters>(&op)) {
    size = crop->size;
    height = static_cast<uint64_t>(size.height);
  } else if (const auto* resize = std::get_if<ResizeParameters>(&op)) {
    size = resize->size;
    height = std::max(height, static_cast<uint64_t>(size.height));
  } else if (const auto* own = std::get_if<OwnParameters>(&op)) {
    size = own->size;
    height = static_cast<uint64_t>(size.height);
  }
  if (height * static_cast<uint64_t>(size.width) <= max_pixels) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("from ", before.width, "×", before.height, " to ", size.width, "×",
                                                    size.height, " takes more than limits.max_pixels, ", max_pixels));
}

// `typical_bytes` are those of a usual sample, and `most_bytes` those of the largest.
uint32_t SpanSamples(uint64_t typical_bytes, uint64_t most_bytes) {
  const uint64_t fitting = kSpanBytes / typical_bytes;
  if (fitting == 0) return 1;
  const uint64_t below = std::bit_floor(fitting), above = 2 * below;
  const bool nearer_above = above * typical_bytes - kSpanBytes < kSpanBytes - below * typical_bytes;
  const uint64_t bounded = std::bit_floor(std::max<uint64_t>(ServerPipeline::kMostSpanBytes / most_bytes, 1));
  return static_cast<uint32_t>(
      std::min({nearer_above ? above : below, bounded, uint64_t{ServerPipeline::kMaxSpanSamples}}));
}

// Returns the set; All where it has each of the `fields` of a schema.
FieldSet AllIfFull(FieldSet set, size_t fields) {
  for (size_t i = 0; i < fields; ++i)
    if (!set.Has(i)) return set;
  return FieldSet::All();
}

// What an own op sees of a sample's fields may take so much: for one in Python it goes through a socket, whose messages
// Linux bounds at some 200 KiB.
constexpr uint64_t kMostSeenBytes = uint64_t{128} << 10;

// OK where an own op can see `field` as it asks for it; otherwise what is in the way.
absl::Status CheckSeen(const SourceField& field, const OwnField& asked) {
  const bool is_variable = field.kind == SourceField::Kind::kRows;
  if (IsImage(field) || IsMap(field.meaning) || HasPoints(field.meaning) || field.meaning == v1::FIELD_KIND_AUDIO)
    return absl::InvalidArgumentError("is no field that an own op can see: it goes through ops itself");
  const size_t dimensions = field.shape.size() + (is_variable ? 1 : 0);
  if (field.dtype == asked.dtype && dimensions == asked.shape.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("is ", DtypeName(field.dtype), " of ", dimensions,
                                                 " dimensions, where the op asks for ", DtypeName(asked.dtype), " of ",
                                                 asked.shape.size()));
}

}  // namespace

absl::StatusOr<ServerPipeline> ServerPipeline::Create(const v1::Pipeline& pipeline, const SourceSchema& schema) {
  STOKER_RETURN_IF_ERROR(ValidatePipeline(pipeline));
  STOKER_ASSIGN_OR_RETURN(const std::vector<int> sources, Sources(pipeline, schema));
  ServerPipeline server;
  server.pipeline_ = pipeline;
  STOKER_RETURN_IF_ERROR(ResolveOwnOps(server.pipeline_));
  server.ops_ = ServerOps(pipeline);
  server.BeginJoining(schema);
  for (int index : sources) {
    STOKER_RETURN_IF_ERROR(server.AddOutputsOf(index, schema[index]));
    if (HasValues(schema, index)) STOKER_RETURN_IF_ERROR(server.AddOutputsOf(index + 1, schema[index + 1]));
  }
  STOKER_RETURN_IF_ERROR(server.FinishJoining());
  STOKER_RETURN_IF_ERROR(server.CheckOutputs());
  for (const Output& output : server.outputs_) server.sources_.Add(output.source);
  STOKER_RETURN_IF_ERROR(server.AddSeen(schema));
  server.sources_ = AllIfFull(server.sources_, schema.size());
  std::vector<v1::Field> fields;
  for (const Output& output : server.outputs_) fields.push_back(output.field);
  STOKER_RETURN_IF_ERROR(server.CheckDevice(fields));
  server.layout_ = SpanLayout(fields);
  server.span_samples_ = SpanSamples(server.layout_.typical_bytes(), server.sample_bytes_);
  return server;
}

absl::Status ServerPipeline::AddOutputsOf(int index, const SourceField& source) {
  Output output{.source = index, .image = IsImage(source)};
  output.field.set_name(source.name);
  if (IsMap(source.meaning)) return AddMap(source, std::move(output));
  if (output.image && pipeline_.views().empty()) return AddImage(source, std::move(output));
  if (output.image) return AddViews(source, output);
  output.field.set_dtype(source.dtype);
  output.field.mutable_shape()->Add(source.shape.begin(), source.shape.end());
  if (source.kind == SourceField::Kind::kRows) return AddRows(source, std::move(output));
  return AddNumbers(source, std::move(output));
}

absl::Status ServerPipeline::AddNumbers(const SourceField& source, Output output) {
  STOKER_RETURN_IF_ERROR(AddCast(source, output));
  return Add(std::move(output));
}

absl::Status ServerPipeline::AddRows(const SourceField& source, Output output) {
  if (source.meaning == v1::FIELD_KIND_AUDIO) return AddAudio(source, std::move(output));
  output.field.set_kind(source.meaning);
  output.field.set_max_bytes(source.max_bytes);
  output.field.set_typical_bytes(source.typical_bytes);
  output.field.set_box_format(source.box_format);
  if (source.meaning == v1::FIELD_KIND_SPARSE) return AddSparse(source, std::move(output));
  if (source.meaning == v1::FIELD_KIND_RAGGED) {
    STOKER_RETURN_IF_ERROR(AddCast(source, output));
    const uint64_t from = ByteSize(source.dtype), to = ByteSize(output.field.dtype());
    output.field.set_max_bytes(source.max_bytes / from * to);
    output.field.set_typical_bytes(source.typical_bytes / from * to);
  }
  if (output.points() && source.dtype != v1::DTYPE_FLOAT32) {
    output.cast = {.from = source.dtype};
    output.field.set_dtype(v1::DTYPE_FLOAT32);
  }
  if (output.points()) STOKER_RETURN_IF_ERROR(CheckNoViews(source));
  if (JoinsRows(source)) {
    output.field.set_max_bytes(kMosaicCells * output.field.max_bytes());
    output.field.set_typical_bytes(kMosaicCells * output.field.typical_bytes());
  }
  if (joining_.has_value() && output.points()) {
    output.first_op = 1;
    output.cast.reset();  // Rows are joined as float32.
  }
  STOKER_RETURN_IF_ERROR(CheckKind(output.field));
  return Add(std::move(output));
}

// Places are sent as int32 or int64, whatever they are stored as.
absl::Status ServerPipeline::AddSparse(const SourceField& source, Output output) {
  for (const int64_t extent : source.dense_shape) output.field.add_dense_shape(extent);
  output.field.set_dtype(IndexDtype(output.field.dense_shape()));
  STOKER_RETURN_IF_ERROR(CheckKind(output.field));
  return Add(std::move(output));
}

absl::Status ServerPipeline::AddAudio(const SourceField& source, Output output) {
  Output::Audio audio = {.stored = source.audio, .max_bytes = source.max_bytes};
  const auto wrong = [&](int op, const char* what) {
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline.ops[", op, "]: ", OpName(pipeline_.ops(op)), ".field: '", source.name, "' ", what));
  };
  for (int i = 0; i < ops_; ++i) {
    const v1::Op& op = pipeline_.ops(i);
    if (AudioFieldOf(op) != source.name) continue;
    if (audio.samples != 0) return wrong(i, "is cropped already; put the crop last, and have one of them");
    if (op.has_resample() && audio.rate != 0) return wrong(i, "is resampled already; leave one out");
    if (op.has_resample()) {
      audio.rate = op.resample().sample_rate();
    } else {
      audio.samples = op.random_audio_crop().samples();
      audio.center = op.random_audio_crop().center();
      audio.crop_op = i;
    }
  }
  v1::Field& field = output.field;
  field.set_dtype(audio.stored.dtype);
  field.set_sample_rate(audio.rate != 0 ? audio.rate : audio.stored.sample_rate);
  field.clear_shape();
  if (audio.samples != 0) {
    field.add_shape(audio.samples);
  } else {
    field.set_kind(source.meaning);
    field.set_max_bytes(source.max_bytes);
    field.set_typical_bytes(source.typical_bytes);
  }
  field.add_shape(audio.stored.channels);
  output.audio = audio;
  STOKER_RETURN_IF_ERROR(CheckKind(field));
  return Add(std::move(output));
}

absl::Status ServerPipeline::AddCast(const SourceField& source, Output& output) const {
  for (int i = 0; i < ops_; ++i) {
    const v1::ToDtype& op = pipeline_.ops(i).to_dtype();
    if (!pipeline_.ops(i).has_to_dtype() || (op.field() != source.name && ValuesName(op.field()) != source.name))
      continue;
    const auto wrong = [&](const auto&... what) {
      return absl::InvalidArgumentError(absl::StrCat("pipeline.ops[", i, "]: ToDtype", what...));
    };
    if (output.cast.has_value()) return wrong(".field: '", source.name, "' is converted already; leave one out");
    if (op.scale() && source.dtype != v1::DTYPE_UINT8 && source.dtype != v1::DTYPE_INT16)
      return wrong(".scale: field '", source.name, "' has ", DtypeName(source.dtype),
                   ", not uint8 or int16; leave it out");
    output.cast = {.from = source.dtype, .scale = op.scale()};
    output.field.set_dtype(op.dtype());
  }
  return absl::OkStatus();
}

absl::Status ServerPipeline::AddViews(const SourceField& source, Output output) {
  for (const Output& other : outputs_)
    if (other.image)
      return absl::InvalidArgumentError(absl::StrCat("pipeline.views: it is not clear which image they are made of: '",
                                                     source.name, "' is another one; name one in pipeline.fields"));
  for (output.views = 0; output.views < pipeline_.views_size(); ++output.views) {
    const v1::Views& views = pipeline_.views(output.views);
    output.field.set_name(views.name());
    output.view_count = views.has_count() ? views.count() : 1;
    STOKER_RETURN_IF_ERROR(AddImage(source, output));
    output.first_view += output.view_count;
  }
  return absl::OkStatus();
}

absl::Status ServerPipeline::AddImage(const SourceField& source, Output output) {
  STOKER_RETURN_IF_ERROR(CheckPrepared(source, output));
  output.first_op = static_cast<int>(source.prepared.size());
  const std::optional<ImageSize> size = SizeAfterOps(source, output);
  output.field.set_dtype(v1::DTYPE_UINT8);
  if (pipeline_.has_native_size()) return AddNativeImage(std::move(output));
  if (!size.has_value()) return DiffersInSize(output);
  if (output.views >= 0) output.field.add_shape(output.view_count);
  for (int64_t extent : {size->height, size->width, kChannels}) output.field.add_shape(extent);
  return Add(std::move(output));
}

// Images of native size have a pixel a row, and a field of their heights and widths behind them.
absl::Status ServerPipeline::AddNativeImage(Output output) {
  const v1::NativeSize native = WithDefaults(pipeline_).native_size();
  Output sizes{.source = output.source, .sizes = true};
  sizes.field.set_name(SizesName(output.field.name()));
  sizes.field.set_dtype(v1::DTYPE_INT32);
  sizes.field.add_shape(2);
  output.field.set_kind(v1::FIELD_KIND_RAGGED_IMAGE);
  output.field.add_shape(kChannels);
  output.field.set_max_bytes(native.max_pixels() * kChannels);
  output.field.set_typical_bytes(native.typical_pixels() * kChannels);
  STOKER_RETURN_IF_ERROR(Add(std::move(output)));
  return Add(std::move(sizes));
}

// Checks that what lies on the image is not sent beside views of it.
absl::Status ServerPipeline::CheckNoViews(const SourceField& source) const {
  if (pipeline_.views().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("pipeline.views: '", source.name, "' is ",
                                                 IsMap(source.meaning) ? "a " : "", KindName(source.meaning),
                                                 " on the image, and views have none; leave it out: name the fields "
                                                 "to send in pipeline.fields"));
}

absl::Status ServerPipeline::AddMap(const SourceField& source, Output output) {
  STOKER_RETURN_IF_ERROR(CheckNoViews(source));
  output.field.set_kind(source.meaning);
  if (source.meaning == v1::FIELD_KIND_LABEL_MAP && source.dtype == v1::DTYPE_UINT8)
    for (int i = 0; i < ops_; ++i)
      if (const std::optional<int32_t> fill = FillBeyondBytes(pipeline_.ops(i)); fill.has_value())
        return absl::InvalidArgumentError(absl::StrCat("pipeline.ops[", i, "]: ", OpName(pipeline_.ops(i)),
                                                       ".map_fill: ", *fill, " does not fit the labels of '",
                                                       source.name, "', which are uint8; give 0 to 255"));
  const std::optional<ImageSize> size = SizeAfterOps(source, output);
  if (!size.has_value() && pipeline_.has_native_size())
    return absl::InvalidArgumentError(absl::StrCat(
        "pipeline.native_size: '", source.name, "' is a ", KindName(source.meaning),
        ", which would have the size of its image, and maps are sent in one size alone; leave it out: name the fields "
        "to send in pipeline.fields"));
  if (!size.has_value()) return DiffersInSize(output);
  output.field.set_dtype(source.meaning == v1::FIELD_KIND_BINARY_MAP ? v1::DTYPE_UINT8 : source.dtype);
  for (int64_t extent : {size->height, size->width}) output.field.add_shape(extent);
  return Add(std::move(output));
}

std::optional<ImageSize> ServerPipeline::SizeAfterOps(const SourceField& source, Output& output) const {
  if (source.kind == SourceField::Kind::kDense) output.stored = ImageSize{source.shape[0], source.shape[1]};
  if (joining_.has_value()) {
    output.stored = CropSize(joining_->op.size());
    output.first_op = 1;
  }
  std::optional<ImageSize> size = output.stored;
  for (const v1::Op* op : OpsOf(output)) size = OutputSize(*op, size);
  return size;
}

absl::Status ServerPipeline::DiffersInSize(const Output& output) const {
  constexpr char kOneSize[] = "RandomResizedCrop or CenterCrop, or a Resize to height and width";
  std::span<const v1::Op* const> ops = OpsOf(output);
  while (!ops.empty() && ActsOf(*ops.back()) == Acts::kOnField) ops = ops.first(ops.size() - 1);
  const std::string after = ops.empty() ? "" : absl::StrCat(", also after ", OpName(*ops.back()));
  for (int i = ops_; i < pipeline_.ops_size(); ++i) {
    const v1::Op& op = pipeline_.ops(i);
    if (ActsOf(op) == Acts::kOnField) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "pipeline.ops[", i, "]: ", OpName(op), " needs images of one size, and those of field '", output.field.name(),
        "' would differ in size from sample to sample", after, "; put ", kOneSize, ", before it"));
  }
  if (output.views >= 0 && ops.size() < static_cast<size_t>(pipeline_.views(output.views).ops_size()))
    return absl::InvalidArgumentError(absl::StrCat(
        PathOf(output), "[", ops.size(), "]: ", OpName(pipeline_.views(output.views).ops(static_cast<int>(ops.size()))),
        " needs images of one size, and those of field '", output.field.name(),
        "' would differ in size from sample to sample", after, "; put ", kOneSize, ", before it"));
  return absl::InvalidArgumentError(absl::StrCat(
      PathOf(output), ": the images of field '", output.field.name(), "' would differ in size from sample to sample",
      after, "; end with ", kOneSize, output.views < 0 ? ", or give native_size: {max_pixels: …}" : ""));
}

absl::Status ServerPipeline::Add(Output output) {
  STOKER_ASSIGN_OR_RETURN(output.bytes, ByteSize(output.field));
  sample_bytes_ += output.bytes;
  outputs_.push_back(std::move(output));
  return absl::OkStatus();
}

absl::Status ServerPipeline::CheckPrepared(const SourceField& source, const Output& output) const {
  const std::span<const v1::Op* const> ops = OpsOf(output);
  for (size_t i = 0; i < source.prepared.size(); ++i) {
    if (i < ops.size() && Meaning(*ops[i]) == Meaning(source.prepared[i])) continue;
    const std::string found = i < ops.size() ? absl::StrCat("another ", OpName(*ops[i])) : "nothing";
    return absl::InvalidArgumentError(absl::StrCat(
        PathOf(output), ": the dataset was prepared with ", Names(source.prepared),
        "; begin with these, with the arguments that it was prepared with, or take the dataset that it "
        "was prepared from (",
        PathOf(output), "[", i, "] must be ", source.prepared[i].ShortDebugString(), ", found ", found, ")"));
  }
  return CheckPreparedSettings(source);
}

// A prepared image was decoded in one way, when it was prepared. Checks that the pipeline would decode it the same way.
absl::Status ServerPipeline::CheckPreparedSettings(const SourceField& source) const {
  if (source.prepared.empty()) return absl::OkStatus();
  const v1::Pipeline wanted = DecodeSettings(pipeline_), &held = source.prepared_settings;
  const auto differs = [](absl::string_view key, absl::string_view has, absl::string_view wants) {
    return absl::InvalidArgumentError(absl::StrCat("pipeline.", key, ": the dataset was prepared with ", has,
                                                   ", and this pipeline has ", wants,
                                                   "; make them equal, or take the dataset that it was prepared from"));
  };
  if (wanted.jpeg_scaling() != held.jpeg_scaling())
    return differs("jpeg_scaling", v1::JpegScaling_Name(held.jpeg_scaling()),
                   v1::JpegScaling_Name(wanted.jpeg_scaling()));
  if (wanted.decode_warnings() != held.decode_warnings())
    return differs("decode_warnings", v1::DecodeWarnings_Name(held.decode_warnings()),
                   v1::DecodeWarnings_Name(wanted.decode_warnings()));
  if (wanted.limits().SerializeAsString() != held.limits().SerializeAsString())
    return differs("limits", held.limits().ShortDebugString(), wanted.limits().ShortDebugString());
  return absl::OkStatus();
}

absl::Status ServerPipeline::CheckOutputs() {
  STOKER_RETURN_IF_ERROR(CheckMaps());
  STOKER_RETURN_IF_ERROR(CheckPoints());
  STOKER_RETURN_IF_ERROR(CheckOwnOps());
  STOKER_RETURN_IF_ERROR(CheckCasts());
  STOKER_RETURN_IF_ERROR(AddBoxCrops());
  STOKER_RETURN_IF_ERROR(CheckAudioOps());
  STOKER_RETURN_IF_ERROR(AddSanitizers());
  const bool has_image =
      std::any_of(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.image || o.map(); });
  int first = 0;  // of the server's ops, the first that needs an image
  while (first < ops_ && ActsOf(pipeline_.ops(first)) == Acts::kOnField) ++first;
  const bool has_ops = first < ops_;
  if (!has_image && (has_ops || !pipeline_.views().empty()))
    return absl::InvalidArgumentError(absl::StrCat(
        has_ops ? absl::StrCat("pipeline.ops[", first, "]: ", OpName(pipeline_.ops(first)), " needs")
                : std::string("pipeline.views: need"),
        " an image, and no field that is sent is one; give a pipeline without ", has_ops ? "ops (ops: [])" : "views"));
  for (const Output& output : outputs_)
    for (const Output& other : outputs_)
      if (output.views >= 0 && !other.image && output.field.name() == other.field.name())
        return absl::InvalidArgumentError(absl::StrCat("pipeline.views[", output.views, "].name: '",
                                                       output.field.name(), "' is another field that is sent"));
  if (sample_bytes_ > kMaxSampleBytes)
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline: a sample has ", sample_bytes_, " bytes of output, more than ", kMaxSampleBytes));
  return absl::OkStatus();
}

// Checks that maps have the size of the image that they lie on, and without one of each other, where sizes are known.
// Others are compared sample by sample.
absl::Status ServerPipeline::CheckMaps() const {
  const auto is_known_map = [](const Output& o) { return o.map() && o.stored.has_value(); };
  auto first = std::find_if(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.image; });
  if (first == outputs_.end() || !first->stored.has_value())
    first = std::find_if(outputs_.begin(), outputs_.end(), is_known_map);
  for (const Output& output : outputs_)
    if (is_known_map(output) && *output.stored != *first->stored)
      return absl::InvalidArgumentError(
          absl::StrCat("the ", KindName(output.field.kind()), " '", output.field.name(), "' has ", output.stored->width,
                       "×", output.stored->height, " pixels, and '", first->field.name(), "' ", first->stored->width,
                       "×", first->stored->height, "; a map has the size of the image that it lies on"));
  return absl::OkStatus();
}

// Checks that boxes and keypoints lie on one image, which was not moved before.
absl::Status ServerPipeline::CheckPoints() const {
  const auto points = std::find_if(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.points(); });
  const auto image = std::find_if(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.image; });
  for (const Output& other : outputs_)
    if (points != outputs_.end() && other.image && other.source != image->source)
      return absl::InvalidArgumentError(absl::StrCat("it is not clear which image '", points->field.name(),
                                                     "' lies on: '", image->field.name(), "' or '", other.field.name(),
                                                     "'; name one of them in pipeline.fields"));
  const auto moved = std::find_if(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.first_op > 0; });
  if (joining_.has_value() || points == outputs_.end() || moved == outputs_.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'", points->field.name(), "' lies on the image '",
                                                 moved->field.name(),
                                                 "' as it was before it was prepared; take the "
                                                 "dataset that it was prepared from, or leave one of the two out"));
}

// Checks that no own op changes the size of an image on which other fields lie, which would not follow.
absl::Status ServerPipeline::CheckOwnOps() const {
  const auto follower =
      std::find_if(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.map() || o.points(); });
  if (follower == outputs_.end()) return absl::OkStatus();
  for (const v1::Op& op : pipeline_.ops())
    if (const LoadedOp* const changing = SizeChangingOp(op))
      return absl::InvalidArgumentError(
          absl::StrCat("the own op '", changing->name(), "' changes the image's size, and '", follower->field.name(),
                       "', which lies on the image, cannot follow; name the other fields in pipeline.fields"));
  return absl::OkStatus();
}

absl::Status ServerPipeline::AddSeen(const SourceSchema& schema) {
  for (const LoadedOp* const op : OwnOpsOf(pipeline_)) {
    uint64_t bytes = 0;
    for (const LoadedOp::Argument& argument : op->arguments()) {
      if (!argument.is_field()) continue;
      const auto wrong = [&](const auto&... what) {
        return absl::InvalidArgumentError(
            absl::StrCat("the own op '", op->name(), "' sees the field '", argument.name, "', which ", what...));
      };
      const auto field = std::find_if(schema.begin(), schema.end(),
                                      [&](const SourceField& other) { return other.name == argument.name; });
      if (field == schema.end()) return wrong("the dataset does not have");
      const absl::Status seen = CheckSeen(*field, std::get<OwnField>(argument.otherwise));
      if (!seen.ok()) return wrong(seen.message());
      if (joining_.has_value() && JoinsRows(*field)) return wrong("Mosaic joins; leave one of the two out");
      bytes += field->kind == SourceField::Kind::kRows ? field->max_bytes : DenseBytes(*field);
      if (bytes > kMostSeenBytes)
        return wrong("makes what it sees take up to ", bytes, " bytes, more than ", kMostSeenBytes,
                     "; give the field a smaller max_bytes");
      sources_.Add(field - schema.begin());
      sees_fields_ = true;
    }
  }
  return absl::OkStatus();
}

// Checks that what is converted here is sent, and is neither an image nor a map.
absl::Status ServerPipeline::CheckCasts() const {
  for (int i = 0; i < ops_; ++i) {
    if (!pipeline_.ops(i).has_to_dtype()) continue;
    const std::string& name = pipeline_.ops(i).to_dtype().field();
    const auto find = [&](const std::string& wanted) {
      return std::find_if(outputs_.begin(), outputs_.end(), [&](const Output& o) { return o.field.name() == wanted; });
    };
    auto named = find(name);
    const bool is_sparse = named != outputs_.end() && named->field.kind() == v1::FIELD_KIND_SPARSE;
    if (is_sparse) named = find(ValuesName(name));
    const std::string why = named == outputs_.end() ? is_sparse ? "is sparse without values" : "is not sent"
                            : named->points() ? absl::StrCat("is ", KindName(named->field.kind()), ", always float32")
                            : named->audio.has_value() ? "is audio, whose dtype its dataset's configuration says"
                            : named->cast.has_value()  ? ""
                            : named->image             ? "is an image, which is converted on the device"
                            : named->map()             ? absl::StrCat("is a ", KindName(named->field.kind()))
                            : named->variable()        ? absl::StrCat("is ", KindName(named->field.kind()))
                                                       : "is an image, which is converted on the device";
    if (!why.empty())
      return absl::InvalidArgumentError(absl::StrCat("pipeline.ops[", i, "]: ToDtype.field: '", name, "' ", why));
  }
  return absl::OkStatus();
}

absl::Status ServerPipeline::AddBoxCrops() {
  for (int i = 0; i < ops_; ++i) {
    std::vector<v1::RandomIoUCrop> crops;
    AppendBoxCrops(pipeline_.ops(i), crops);
    for (const v1::RandomIoUCrop& crop : crops)
      if (const absl::Status status = AddBoxCrop(crop); !status.ok())
        return absl::InvalidArgumentError(absl::StrCat("pipeline.ops[", i, "]: RandomIoUCrop: ", status.message()));
  }
  std::vector<v1::RandomIoUCrop> of_views;
  for (const v1::Views& views : pipeline_.views())
    for (const v1::Op& op : views.ops()) AppendBoxCrops(op, of_views);
  if (of_views.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("pipeline.views: RandomIoUCrop looks at boxes, and views have none; leave it out");
}

absl::Status ServerPipeline::AddBoxCrop(const v1::RandomIoUCrop& op) {
  STOKER_ASSIGN_OR_RETURN(const BoxRows rows, BoxRowsNamed(op.field(), op.labels()));
  if (cropped_boxes_.has_value() &&
      (rows.boxes != cropped_boxes_->boxes || rows.followers != cropped_boxes_->followers))
    return absl::InvalidArgumentError("names another field or other labels than the RandomIoUCrop before it");
  STOKER_RETURN_IF_ERROR(CheckHasCanvas());
  cropped_boxes_ = rows;
  box_crops_.push_back(op);
  return absl::OkStatus();
}

absl::StatusOr<ServerPipeline::BoxRows> ServerPipeline::BoxRowsNamed(
    const std::string& field, const google::protobuf::RepeatedPtrField<std::string>& labels) const {
  BoxRows rows;
  STOKER_ASSIGN_OR_RETURN(rows.boxes, RowsNamed("field", field));
  if (outputs_[rows.boxes].field.kind() != v1::FIELD_KIND_BOXES)
    return absl::InvalidArgumentError(
        absl::StrCat("field: '", field, "' is ", KindName(outputs_[rows.boxes].field.kind()), ", not boxes"));
  for (const std::string& name : labels) {
    STOKER_ASSIGN_OR_RETURN(rows.followers.emplace_back(), RowsNamed("labels", name));
  }
  return rows;
}

// Checks that there is an image that boxes lie on.
absl::Status ServerPipeline::CheckHasCanvas() const {
  if (std::any_of(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.image || o.map(); }))
    return absl::OkStatus();
  return absl::InvalidArgumentError("needs the image that the boxes lie on, and no field that is sent is one");
}

// Checks that the ops on audio name audio that is sent.
absl::Status ServerPipeline::CheckAudioOps() const {
  for (int i = 0; i < ops_; ++i) {
    const std::string name = AudioFieldOf(pipeline_.ops(i));
    const auto named =
        std::find_if(outputs_.begin(), outputs_.end(), [&](const Output& o) { return o.field.name() == name; });
    if (name.empty() || (named != outputs_.end() && named->audio.has_value())) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "pipeline.ops[", i, "]: ", OpName(pipeline_.ops(i)), ".field: '", name, "' ",
        named == outputs_.end() ? "is not sent" : "is no audio; its dataset's configuration says `kind: audio`"));
  }
  return absl::OkStatus();
}

absl::Status ServerPipeline::AddSanitizers() {
  for (int i = 0; i < ops_; ++i) {
    if (!pipeline_.ops(i).has_sanitize_bounding_boxes()) continue;
    absl::Status status = AddSanitizer(pipeline_.ops(i).sanitize_bounding_boxes());
    for (int later = i + 1; later < ops_ && status.ok(); ++later)
      if (ActsOf(pipeline_.ops(later)) == Acts::kOnGeometry)
        status = absl::InvalidArgumentError(
            absl::StrCat("put it behind the ops that move the image; ", OpName(pipeline_.ops(later)), " follows it"));
    if (!status.ok())
      return absl::InvalidArgumentError(
          absl::StrCat("pipeline.ops[", i, "]: SanitizeBoundingBoxes: ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status ServerPipeline::AddSanitizer(const v1::SanitizeBoundingBoxes& given) {
  v1::Op full;
  *full.mutable_sanitize_bounding_boxes() = given;
  full = WithDefaults(full);
  const v1::SanitizeBoundingBoxes& op = full.sanitize_bounding_boxes();
  Sanitizer sanitizer{.min_size = op.min_size(), .min_area = op.min_area()};
  STOKER_ASSIGN_OR_RETURN(sanitizer.rows, BoxRowsNamed(op.field(), op.labels()));
  const auto has = [](const BoxRows& rows, size_t field) {
    return rows.boxes == field ||
           std::find(rows.followers.begin(), rows.followers.end(), field) != rows.followers.end();
  };
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!has(sanitizer.rows, i)) continue;
    for (const Sanitizer& other : sanitizers_)
      if (has(other.rows, i))
        return absl::InvalidArgumentError(absl::StrCat(
            "'", outputs_[i].field.name(), "' loses rows by another SanitizeBoundingBoxes already; have one of them"));
    if (cropped_boxes_.has_value() && has(*cropped_boxes_, sanitizer.rows.boxes) && !has(*cropped_boxes_, i))
      return absl::InvalidArgumentError(
          absl::StrCat("labels: '", outputs_[i].field.name(),
                       "' keeps the rows of boxes that RandomIoUCrop leaves out; name it in RandomIoUCrop.labels too"));
  }
  STOKER_RETURN_IF_ERROR(CheckHasCanvas());
  sanitizers_.push_back(std::move(sanitizer));
  return absl::OkStatus();
}

absl::StatusOr<size_t> ServerPipeline::RowsNamed(const std::string& key, const std::string& name) const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].field.name() != name) continue;
    const bool has_rows = outputs_[i].variable() && !outputs_[i].image && !outputs_[i].audio.has_value();
    if (has_rows && outputs_[i].field.kind() != v1::FIELD_KIND_SPARSE) return i;
    return absl::InvalidArgumentError(
        absl::StrCat(key, ": '", name, "' has no row for each box; its dataset's configuration gives it a kind"));
  }
  return absl::InvalidArgumentError(absl::StrCat(key, ": '", name, "' is not sent"));
}

// Checks the device's part. Clients would find its errors too, but later.
absl::Status ServerPipeline::CheckDevice(const std::vector<v1::Field>& fields) const {
  return DevicePipeline::Create(pipeline_, fields).status();
}

std::span<const v1::Op* const> ServerPipeline::OpsOf(const Output& output) const {
  const auto& ops = output.views < 0 ? pipeline_.ops() : pipeline_.views(output.views).ops();
  return {ops.data(), static_cast<size_t>(output.views < 0 ? ops_ : ServerOps(ops))};
}

uint64_t ServerPipeline::max_pixels() const {
  return pipeline_.limits().has_max_pixels() ? pipeline_.limits().max_pixels() : kDefaultMaxPixels;
}

uint32_t ServerPipeline::max_scans() const {
  return pipeline_.limits().has_max_scans() ? pipeline_.limits().max_scans() : kDefaultMaxScans;
}

v1::DecodeWarnings ServerPipeline::decode_warnings() const {
  return pipeline_.decode_warnings() == v1::DECODE_WARNINGS_UNSPECIFIED ? v1::DECODE_WARNINGS_FAIL_TRUNCATED
                                                                        : pipeline_.decode_warnings();
}

v1::JpegScaling ServerPipeline::jpeg_scaling() const {
  return pipeline_.jpeg_scaling() == v1::JPEG_SCALING_UNSPECIFIED ? v1::JPEG_SCALING_K2 : pipeline_.jpeg_scaling();
}

int64_t ServerPipeline::DrawStart(const Output::Audio& audio, int64_t all, uint64_t seed, uint64_t epoch,
                                  uint64_t position) const {
  const DrawKey key = {.seed = seed, .epoch = epoch, .position = position, .op = static_cast<uint64_t>(audio.crop_op)};
  return StartOfStretch(pipeline_.ops(audio.crop_op).random_audio_crop(), all, key);
}

absl::StatusOr<std::vector<OpParameters>> ServerPipeline::Draw(const Output& output, uint32_t view, ImageSize size,
                                                               uint64_t seed, uint64_t epoch, uint64_t position,
                                                               const SampleBoxes* boxes) const {
  std::vector<OpParameters> parameters;
  const std::span<const v1::Op* const> ops = OpsOf(output);
  for (size_t i = output.first_op; i < ops.size(); ++i) {
    const DrawKey key = {
        .seed = seed, .epoch = epoch, .position = position, .op = i, .view = uint64_t{output.first_view} + view};
    ImageSize made = size;
    const size_t first = parameters.size();
    absl::Status status = DrawOp(*ops[i], key, size, parameters, boxes);
    for (size_t p = first; p < parameters.size() && status.ok(); ++p)
      status = CheckPixels(parameters[p], made, max_pixels());
    if (status.ok()) continue;
    // An own op may blame the sample, or find its process gone. All else is the pipeline's fault.
    const bool kept = absl::IsInternal(status) || absl::IsDataLoss(status);
    return absl::Status(kept ? status.code() : absl::StatusCode::kFailedPrecondition,
                        absl::StrCat(PathOf(output), "[", i, "]: ", status.message()));
  }
  return parameters;
}

v1::Pipeline DefaultPipelineOf(const SourceSchema& schema) {
  const bool has_image = std::any_of(schema.begin(), schema.end(),
                                     [](const SourceField& field) { return IsImage(field) || IsMap(field.meaning); });
  return has_image ? DefaultPipeline() : v1::Pipeline();
}

}  // namespace stoker
