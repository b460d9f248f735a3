#include "common/pipeline/device_pipeline.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/fields/cast.h"
#include "common/fields/companions.h"
#include "common/fields/schema.h"
#include "common/ops/mix.h"
#include "common/ops/nested.h"
#include "common/ops/ops.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// Returns the index of the image field, or −1. It is the field that the server's ops work on too, but it may have any
// number of channels.
int ImageField(const std::vector<v1::Field>& fields) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name() == "image" && fields[i].dtype() == v1::DTYPE_UINT8 && fields[i].shape_size() == 3)
      return static_cast<int>(i);
  return -1;
}

// Returns the index of that field where its images have sizes of their own, or −1.
int NativeImageField(const std::vector<v1::Field>& fields) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name() == "image" && fields[i].kind() == v1::FIELD_KIND_RAGGED_IMAGE) return static_cast<int>(i);
  return -1;
}

int FieldNamed(const std::vector<v1::Field>& fields, const std::string& name) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name() == name) return static_cast<int>(i);
  return -1;
}

// Calls see(value) with `map_fill` of the op, or of all ops in it, where they have one.
template <typename See>
void ForEachMapFill(const v1::Op& op, const See& see) {
  if (const auto* transforms = NestedTransforms(op)) {
    for (const v1::Op& transform : *transforms) ForEachMapFill(transform, see);
    return;
  }
  const google::protobuf::FieldDescriptor* set =
      op.GetReflection()->GetOneofFieldDescriptor(op, v1::Op::descriptor()->FindOneofByName("op"));
  if (set == nullptr) return;
  const google::protobuf::Message& arguments = op.GetReflection()->GetMessage(op, set);
  const google::protobuf::FieldDescriptor* fill = arguments.GetDescriptor()->FindFieldByName("map_fill");
  if (fill != nullptr) see(arguments.GetReflection()->GetInt32(arguments, fill));
}

int32_t LeastMapFill(const v1::Op& op) {
  int32_t least = 0;
  ForEachMapFill(op, [&least](int32_t fill) { least = std::min(least, fill); });
  return least;
}

int32_t MostMapFill(const v1::Op& op) {
  int32_t most = 0;
  ForEachMapFill(op, [&most](int32_t fill) { most = std::max(most, fill); });
  return most;
}

double OneOrAt(const google::protobuf::RepeatedField<double>& values, int64_t i) {
  return values.empty() ? 0 : values[values.size() == 1 ? 0 : static_cast<int>(i)];
}

}  // namespace

// Fills a DevicePipeline, one device op after the other. Errors say what is wrong with the op, without its path.
class DevicePipeline::Builder {
 public:
  explicit Builder(DevicePipeline& device) : device_(device), image_(device.image_) {}

  absl::Status Add(const v1::Op& op, int index) {
    device_.identity_ = false;
    if (op.has_one_hot()) return AddOneHot(op.one_hot(), index);
    if (op.has_unpack_bits()) return AddUnpackBits(op.unpack_bits(), index);
    if (op.has_to_dense()) return AddToDense(op.to_dense(), index);
    if (const int native = NativeFieldOf(op); native >= 0) return AddToNative(op, native, index);
    if (op.has_label_smoothing()) return AddSmoothing(op.label_smoothing(), index);
    if (op.has_to_padded()) return AddToPadded(op.to_padded(), index);
    if (op.has_to_dtype() && !op.to_dtype().field().empty()) return AddToDtypeOf(op.to_dtype(), index);
    if (op.has_normalize() && !op.normalize().field().empty()) return AddNormalizeOf(op.normalize(), index);
    STOKER_RETURN_IF_ERROR(NeedImage());
    STOKER_RETURN_IF_ERROR(CheckFieldsOnImage(op));
    if (op.has_to_memory_format()) {
      image_.channels_first = op.to_memory_format().memory_format() != v1::MEMORY_FORMAT_CHANNELS_LAST;
      return absl::OkStatus();
    }
    if (device_.mix_op_ >= 0) return absl::InvalidArgumentError("images are mixed last; move it before MixUp, CutMix");
    if (ActsOf(op) == Acts::kOnBatch) return AddMix(op, index);
    if (op.has_to_dtype()) return AddToDtype(op.to_dtype());
    if (op.has_normalize()) return AddNormalize(op.normalize());
    if (floats()) return AddAfterToDtype(op, index);
    return device_.steps_.Add(op, index);
  }

  // Returns the field of images of native size that the op works on, or −1.
  int NativeFieldOf(const v1::Op& op) const {
    const std::string& name = op.has_to_dtype() ? op.to_dtype().field() : op.normalize().field();
    if (name.empty()) return ActsOf(op) == Acts::kOnField ? -1 : NativeImageField(device_.source_fields_);
    const int field = FieldNamed(device_.source_fields_, name);
    return field >= 0 && device_.source_fields_[field].kind() == v1::FIELD_KIND_RAGGED_IMAGE ? field : -1;
  }

  absl::Status AddToNative(const v1::Op& op, int field, int index) {
    const bool is_device_float = IsDeviceFloat(device_.fields_[field].dtype());
    NativeImage& image = native_[field];
    if (op.has_to_dtype()) {
      if (is_device_float)
        return absl::InvalidArgumentError(
            absl::StrCat("the image is ", DtypeName(device_.fields_[field].dtype()), " already"));
      if (op.to_dtype().dtype() == v1::DTYPE_UINT8) return absl::OkStatus();
      if (op.to_dtype().scale()) image.scale.fill(1 / 255.0);
      STOKER_RETURN_IF_ERROR(Take(field, {.kind = FieldProgram::Kind::kScale, .op = index}));
      SetDtype(op.to_dtype().dtype(), device_.fields_[field]);
      return absl::OkStatus();
    }
    if (!op.has_normalize())
      return absl::InvalidArgumentError(absl::StrCat(
          "works on images of one size, and those of '", device_.fields_[field].name(),
          "' have their native ones, height × width × 3 each: only ToDtype and Normalize take these on the device; ",
          PlacementsOf(op).server ? "place it on the server" : "leave it out"));
    if (!is_device_float) return absl::InvalidArgumentError("needs ToDtype to float32, float16 or bfloat16 before it");
    return AddNormalize(op.normalize(), image.scale, image.bias);
  }

  // Gives the fields that no op makes what their kind says.
  void MakeMaps() {
    for (size_t i = 0; i < device_.fields_.size(); ++i) {
      v1::Field& field = device_.fields_[i];
      FieldProgram& program = device_.programs_[i];
      if (!IsMap(field.kind()) || program.kind != FieldProgram::Kind::kAsItCame) continue;
      const bool binary = field.kind() == v1::FIELD_KIND_BINARY_MAP;
      program.kind = binary ? FieldProgram::Kind::kUnpackBits : FieldProgram::Kind::kWiden;
      if (!image_.map_moves.empty()) {
        program.kind = FieldProgram::Kind::kMovedMap;
        field.clear_shape();
        for (int64_t extent : {image_.out.height, image_.out.width}) field.add_shape(extent);
      }
      field.set_dtype(binary ? v1::DTYPE_UINT8 : v1::DTYPE_INT64);
      field.clear_kind();
      device_.identity_ = false;
    }
  }

  // Adds the ops of group number `group` of the pipeline's views that run on the device, if it is sent. Errors begin
  // with the op's path.
  absl::Status AddViews(int group, uint64_t first_view) {
    const v1::Views& views = device_.pipeline_.views(group);
    const int field = FieldNamed(device_.fields_, views.name()), begin = ServerOps(views.ops());
    if (field < 0 || begin == views.ops_size()) return absl::OkStatus();
    device_.identity_ = false;
    const v1::Field& sent = device_.fields_[field];
    if (sent.dtype() != v1::DTYPE_UINT8 || sent.shape_size() != 4)
      return absl::InvalidArgumentError(
          absl::StrCat("pipeline.views[", group, "]: field '", views.name(), "' is sent as no images"));
    device_.programs_[field] = {.kind = FieldProgram::Kind::kImage, .views = static_cast<int>(device_.views_.size())};
    ImageProgram& program = device_.views_.emplace_back();
    program.field = field;
    program.count = sent.shape(0), program.first_view = first_view;
    program.height = sent.shape(1), program.width = sent.shape(2), program.channels = sent.shape(3);
    view_scales_.push_back({std::vector<double>(program.channels, 1), std::vector<double>(program.channels)});
    DeviceSteps& steps = device_.view_steps_.emplace_back();
    steps.Start({program.height, program.width}, program.channels);
    for (int i = begin; i < views.ops_size(); ++i) {
      const absl::Status status = steps.Add(views.ops(i), i);
      if (!status.ok())
        return absl::InvalidArgumentError(absl::StrCat("pipeline.views[", group, "].ops[", i, "]: ", status.message()));
    }
    steps.Finish();
    program.steps = steps.steps();
    program.out = steps.size();
    return absl::OkStatus();
  }

  void FinishViews() {
    for (size_t i = 0; i < device_.views_.size(); ++i) {
      ImageProgram& program = device_.views_[i];
      program.scale.assign(view_scales_[i].scale.begin(), view_scales_[i].scale.end());
      program.bias.assign(view_scales_[i].bias.begin(), view_scales_[i].bias.end());
      v1::Field& field = device_.fields_[program.field];
      field.set_dtype(program.dtype);
      field.set_shape(1, program.out.height);
      field.set_shape(2, program.out.width);
    }
  }

  void Finish() {
    FinishViews();
    if (image_.field >= 0) {
      device_.steps_.Finish();
      image_.steps = device_.steps_.steps();
      image_.map_moves = device_.steps_.map_moves();
      image_.out = device_.steps_.size();
    }
    MakeMaps();
    for (const auto& [field, image] : native_) {
      FieldProgram& program = device_.programs_[field];
      if (program.kind != FieldProgram::Kind::kScale) continue;
      program.scale.assign(image.scale.begin(), image.scale.end());
      program.bias.assign(image.bias.begin(), image.bias.end());
    }
    if (image_.field < 0) return;
    for (int64_t c = 0; c < image_.channels; ++c) {
      image_.scale.push_back(static_cast<float>(scale_[c]));
      image_.bias.push_back(static_cast<float>(bias_[c]));
      if (image_.erases) image_.erase_value.push_back(static_cast<float>(erase_value_[c]));
      if (image_.erases_with_noise) image_.erase_scale.push_back(static_cast<float>(erase_scale_[c]));
    }
    v1::Field& field = device_.fields_[image_.field];
    field.set_dtype(image_.dtype);
    field.clear_shape();
    if (image_.channels_first) field.add_shape(image_.channels);
    for (int64_t extent : {image_.out.height, image_.out.width}) field.add_shape(extent);
    if (!image_.channels_first) field.add_shape(image_.channels);
  }

 private:
  bool floats() const { return image_.dtype != v1::DTYPE_UINT8; }

  // Has maps moved with the image by an op that moves it. Refuses what moves or mixes the image, if something lies on
  // it that would stay.
  absl::Status CheckFieldsOnImage(const v1::Op& op) {
    const Acts acts = ActsOf(op);
    if (acts != Acts::kOnGeometry && acts != Acts::kOnBatch) return absl::OkStatus();
    for (size_t i = 0; i < device_.source_fields_.size(); ++i) {
      const v1::Field& field = device_.source_fields_[i];  // Also one that is made something else.
      if (!IsMap(field.kind()) && !HasPoints(field.kind())) continue;
      if (acts == Acts::kOnBatch || HasPoints(field.kind()))
        return absl::InvalidArgumentError(
            absl::StrCat(acts == Acts::kOnBatch ? "does not mix '" : "does not move on the device '", field.name(),
                         "', ", IsMap(field.kind()) ? "a " : "", KindName(field.kind()), " on the image; ",
                         acts == Acts::kOnBatch ? "leave one of them out" : "place it on the server"));
      STOKER_RETURN_IF_ERROR(CheckMoves(op, field, device_.programs_[i]));
      moves_maps_ = true;
      device_.steps_.MoveMaps();
    }
    return absl::OkStatus();
  }

  // Checks that the op can move a map with the image.
  absl::Status CheckMoves(const v1::Op& op, const v1::Field& map, const FieldProgram& program) const {
    const bool fits = map.shape_size() == 2 && map.shape(0) == image_.height && map.shape(1) == image_.width;
    if (!fits)
      return absl::InvalidArgumentError(absl::StrCat("moves on the device '", map.name(),
                                                     "', whose size is not the image's; place it on the server"));
    if (program.kind != FieldProgram::Kind::kAsItCame)
      return absl::InvalidArgumentError(absl::StrCat("moves on the device '", map.name(), "', of which ",
                                                     OpName(device_.pipeline_.ops(program.op)),
                                                     " made something else; place it on the server"));
    if (const auto least = LeastMapFill(op), most = MostMapFill(op);
        map.kind() == v1::FIELD_KIND_LABEL_MAP && map.dtype() == v1::DTYPE_UINT8 && (least < 0 || most > 255))
      return absl::InvalidArgumentError(absl::StrCat("map_fill: ", least < 0 ? least : most, " is no value of '",
                                                     map.name(), "', which is uint8; set the field's dtype to int16"));
    return absl::OkStatus();
  }

  absl::Status NeedImage() {
    if (image_.field >= 0) return absl::OkStatus();
    const int found = ImageField(device_.fields_);
    if (found < 0) return absl::InvalidArgumentError("needs an image, and no field that is sent is one");
    STOKER_RETURN_IF_ERROR(Take(found, {.kind = FieldProgram::Kind::kImage}));
    const v1::Field& field = device_.fields_[found];
    image_.field = found;
    image_.height = field.shape(0), image_.width = field.shape(1), image_.channels = field.shape(2);
    scale_.assign(image_.channels, 1);
    bias_.assign(image_.channels, 0);
    device_.steps_.Start({image_.height, image_.width}, image_.channels);
    return absl::OkStatus();
  }

  // Gives `field` its program. Only one op may make a field, except the image.
  absl::Status Take(int field, const FieldProgram& program) {
    FieldProgram& taken = device_.programs_[field];
    if (taken.kind != FieldProgram::Kind::kAsItCame)
      return absl::InvalidArgumentError(
          absl::StrCat("field '", device_.fields_[field].name(), "' is made by another op already; leave one out"));
    taken = program;
    return absl::OkStatus();
  }

  absl::StatusOr<int> Named(const std::string& name) const {
    const int field = FieldNamed(device_.fields_, name);
    if (field < 0)
      return absl::InvalidArgumentError(absl::StrCat("field '", name, "' is not sent; name another in `field`"));
    if (device_.fields_[field].kind() == v1::FIELD_KIND_BINARY_MAP)
      return absl::InvalidArgumentError(
          absl::StrCat("field '", name, "' is a binary_map, whose bits are unpacked without an op; leave it out"));
    if (device_.programs_[field].padded_rows > 0)
      return absl::InvalidArgumentError(absl::StrCat("field '", name, "' is padded already; put it before ToPadded"));
    return field;
  }

  // Turns each whole number of the field into `program.classes` numbers of `dtype`.
  absl::Status MakeOneHot(int field, v1::Dtype dtype, const FieldProgram& program) {
    STOKER_RETURN_IF_ERROR(Take(field, program));
    v1::Field made = device_.fields_[field];
    STOKER_RETURN_IF_ERROR(CheckOneSize(made));
    if (moves_maps_ && IsMap(made.kind()))
      return absl::InvalidArgumentError(absl::StrCat(
          "field '", made.name(), "' is moved with its image on the device; place what moves them on the server"));
    if (!IsWholeNumber(made.dtype()))
      return absl::InvalidArgumentError(
          absl::StrCat("field '", made.name(), "' has ", DtypeName(made.dtype()), ", not whole numbers"));
    made.set_dtype(dtype);
    made.clear_kind();
    made.add_shape(program.classes);
    STOKER_RETURN_IF_ERROR(ByteSize(made).status());
    device_.fields_[field] = made;
    return absl::OkStatus();
  }

  static absl::Status CheckOneSize(const v1::Field& field) {
    if (!IsVariable(field.kind())) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("field '", field.name(), "' is ", KindName(field.kind()),
                                                   ", whose samples differ in size; name another"));
  }

  absl::Status AddOneHot(const v1::OneHot& op, int index) {
    STOKER_ASSIGN_OR_RETURN(const int field, Named(op.field().empty() ? "label" : op.field()));
    return MakeOneHot(field, op.dtype() == v1::DTYPE_UNSPECIFIED ? v1::DTYPE_FLOAT32 : op.dtype(),
                      {.kind = FieldProgram::Kind::kOneHot, .classes = op.num_classes(), .op = index});
  }

  absl::Status AddUnpackBits(const v1::UnpackBits& op, int index) {
    STOKER_ASSIGN_OR_RETURN(const int field, Named(op.field()));
    v1::Field made = device_.fields_[field];
    STOKER_RETURN_IF_ERROR(CheckOneSize(made));
    if (IsMap(made.kind()))
      return absl::InvalidArgumentError(
          absl::StrCat("field '", made.name(), "' is a ", KindName(made.kind()), ", and has no bits to unpack"));
    if (made.dtype() != v1::DTYPE_UINT8)
      return absl::InvalidArgumentError(
          absl::StrCat("field '", made.name(), "' has ", DtypeName(made.dtype()), ", not uint8"));
    STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, ByteSize(made));
    *made.mutable_shape() = op.shape();
    STOKER_ASSIGN_OR_RETURN(const uint64_t bits, ByteSize(made));
    if ((bits + 7) / 8 != bytes)
      return absl::InvalidArgumentError(absl::StrCat("shape has ", bits, " bits, which are ", (bits + 7) / 8,
                                                     " bytes, and field '", made.name(), "' has ", bytes));
    STOKER_RETURN_IF_ERROR(Take(field, {.kind = FieldProgram::Kind::kUnpackBits,
                                        .least_significant_first = op.bit_order() == v1::BIT_ORDER_LITTLE,
                                        .op = index}));
    device_.fields_[field] = made;
    return absl::OkStatus();
  }

  absl::Status AddToDense(const v1::ToDense& op, int index) {
    STOKER_ASSIGN_OR_RETURN(const int field, Named(op.field()));
    const v1::Field& source = device_.source_fields_[field];
    if (source.kind() != v1::FIELD_KIND_SPARSE)
      return absl::InvalidArgumentError(absl::StrCat("field '", op.field(), "' is not sparse; leave the op out"));
    STOKER_RETURN_IF_ERROR(Take(field, {.kind = FieldProgram::Kind::kDense, .op = index}));
    const int values = FieldNamed(device_.fields_, ValuesName(op.field()));
    v1::Field dense;
    dense.set_name(source.name());
    dense.set_dtype(values < 0 ? v1::DTYPE_FLOAT32 : device_.fields_[values].dtype());
    *dense.mutable_shape() = source.dense_shape();
    device_.fields_[field] = std::move(dense);
    return absl::OkStatus();
  }

  absl::Status AddMix(const v1::Op& op, int index) {
    image_.mixes_pixels = MayMixUp(op);
    image_.mixes_rectangles = MayCutMix(op);
    if (image_.mixes_pixels && !floats())
      return absl::InvalidArgumentError("needs ToDtype to float32, float16 or bfloat16 before it");
    const MixedLabels labels = MixedLabelsOf(op);
    device_.mix_op_ = index;
    device_.mixes_each_ = labels.per_sample;
    STOKER_ASSIGN_OR_RETURN(const int field, Named(labels.field));
    return labels.classes > 0 ? MixClasses(field, labels.classes, index) : MixFloats(field, index);
  }

  // Makes whole numbers one-hot, and mixes these.
  absl::Status MixClasses(int field, int64_t classes, int index) {
    const v1::Field& named = device_.fields_[field];
    if (IsDeviceFloat(named.dtype()) && device_.programs_[field].kind != FieldProgram::Kind::kImage)
      return absl::InvalidArgumentError(absl::StrCat("field '", named.name(), "' has ", DtypeName(named.dtype()),
                                                     " already, and num_classes is for whole numbers; leave it out"));
    if (!named.shape().empty())
      return absl::InvalidArgumentError(
          absl::StrCat("field '", named.name(), "' is not one whole number a sample (labels are made one-hot here)"));
    STOKER_RETURN_IF_ERROR(
        MakeOneHot(field, v1::DTYPE_FLOAT32, {.kind = FieldProgram::Kind::kOneHot, .classes = classes, .op = index}));
    device_.programs_[field].mixed = true;
    return absl::OkStatus();
  }

  absl::Status MixFloats(int field, int index) {
    const v1::Field& named = device_.fields_[field];
    if (named.shape().empty() && IsWholeNumber(named.dtype()))
      return absl::InvalidArgumentError(
          absl::StrCat("field '", named.name(), "' has ", DtypeName(named.dtype()),
                       ", whole numbers; say in num_classes how many classes there are, or put OneHot before it"));
    STOKER_ASSIGN_OR_RETURN(FieldProgram * program, LabelsOf(field, index));
    if (named.shape_size() != 1)
      return absl::InvalidArgumentError(
          absl::StrCat("field '", named.name(), "' has ", named.shape_size(),
                       " dimensions; labels that are mixed are one vector of floats a sample"));
    program->mixed = true;
    return absl::OkStatus();
  }

  // Returns the program of a field of floats, which OneHot or ToDtype may have made, and takes those that came so.
  absl::StatusOr<FieldProgram*> LabelsOf(int field, int index) {
    const v1::Field& named = device_.fields_[field];
    FieldProgram& program = device_.programs_[field];
    STOKER_RETURN_IF_ERROR(CheckOneSize(named));
    if (field == ImageField(device_.fields_) || program.kind == FieldProgram::Kind::kImage || IsMap(named.kind()))
      return absl::InvalidArgumentError(absl::StrCat("field '", named.name(), "' has no labels in floats, but is ",
                                                     IsMap(named.kind()) ? "a map" : "the image"));
    if (!IsDeviceFloat(named.dtype()))
      return absl::InvalidArgumentError(
          absl::StrCat("field '", named.name(), "' has ", DtypeName(named.dtype()), ", not floats; put ",
                       IsWholeNumber(named.dtype()) ? "OneHot, or ToDtype where it is a vector already,"
                                                    : "ToDtype to float32, float16 or bfloat16",
                       " before it"));
    if (program.kind == FieldProgram::Kind::kAsItCame) program = {.kind = FieldProgram::Kind::kScale, .op = index};
    labels_.push_back(field);
    return &program;
  }

  bool IsLabels(int field) const { return std::count(labels_.begin(), labels_.end(), field) > 0; }

  // Appends y · (1 − smoothing) + smoothing / K.
  absl::Status AddSmoothing(const v1::LabelSmoothing& op, int index) {
    STOKER_ASSIGN_OR_RETURN(const int field, Named(op.field().empty() ? "label" : op.field()));
    STOKER_ASSIGN_OR_RETURN(FieldProgram * program, LabelsOf(field, index));
    const v1::Field& made = device_.fields_[field];
    if (made.shape().empty())
      return absl::InvalidArgumentError(absl::StrCat(
          "field '", made.name(), "' has one number a sample, and no classes to smooth; put OneHot first"));
    const double kept = 1 - op.smoothing();
    const double spread = op.smoothing() / static_cast<double>(made.shape(made.shape_size() - 1));
    if (program->mixed) {
      program->scale_after = static_cast<float>(program->scale_after * kept);
      program->bias_after = static_cast<float>(program->bias_after * kept + spread);
      return absl::OkStatus();
    }
    if (program->scale.empty()) program->scale = {1}, program->bias = {0};
    for (float& scale : program->scale) scale = static_cast<float>(scale * kept);
    for (float& bias : program->bias) bias = static_cast<float>(bias * kept + spread);
    return absl::OkStatus();
  }

  absl::Status AddToPadded(const v1::ToPadded& op, int index) {
    STOKER_ASSIGN_OR_RETURN(const int field, Named(op.field()));
    v1::Field& made = device_.fields_[field];
    if (!IsVariable(made.kind()))
      return absl::InvalidArgumentError(
          absl::StrCat("the samples of field '", made.name(), "' have one size; leave it out"));
    if (made.kind() == v1::FIELD_KIND_SPARSE || made.kind() == v1::FIELD_KIND_RAGGED_IMAGE || IsCompanion(made.name()))
      return absl::InvalidArgumentError(absl::StrCat("field '", op.field(), "' is no list of rows; leave it out"));
    FieldProgram& program = device_.programs_[field];
    STOKER_ASSIGN_OR_RETURN(program.fill, FillBits(op.fill(), made.dtype()));
    program.padded_rows = op.rows();
    if (program.kind == FieldProgram::Kind::kAsItCame) program.op = index;
    v1::Field padded;
    padded.set_name(made.name());
    padded.set_dtype(made.dtype());
    padded.add_shape(op.rows());
    padded.mutable_shape()->MergeFrom(made.shape());
    padded.set_sample_rate(made.sample_rate());
    made = padded;
    return absl::OkStatus();
  }

  // Returns the bits of `fill` as an element of `dtype`.
  static absl::StatusOr<uint64_t> FillBits(double fill, v1::Dtype dtype) {
    if (dtype == v1::DTYPE_FLOAT64) return std::bit_cast<uint64_t>(fill);
    if (!IsWholeNumber(dtype)) {
      uint8_t bytes[sizeof(uint64_t)] = {};
      StoreFloat(NumberOf(dtype), static_cast<float>(fill), bytes);
      uint64_t bits = 0;
      std::memcpy(&bits, bytes, sizeof bits);
      return bits;
    }
    const int bits = static_cast<int>(8 * ByteSize(dtype)) - (dtype == v1::DTYPE_UINT8 ? 0 : 1);
    const double least = dtype == v1::DTYPE_UINT8 ? 0 : -std::ldexp(1.0, bits), beyond = std::ldexp(1.0, bits);
    if (fill != std::floor(fill) || fill < least || fill >= beyond)
      return absl::InvalidArgumentError(absl::StrCat("ToPadded.fill: ", fill, " is no ", DtypeName(dtype)));
    return static_cast<uint64_t>(static_cast<int64_t>(fill));
  }

  // Returns the field of numbers that `name` says, neither an image nor a map, and makes it one that is scaled.
  absl::StatusOr<int> ScaledField(const std::string& name, int index) {
    STOKER_ASSIGN_OR_RETURN(const int field, Named(name));
    const v1::Field& named = device_.fields_[field];
    if (field == ImageField(device_.fields_) || field == image_.field)
      return absl::InvalidArgumentError(absl::StrCat("'", name, "' is the image; leave `field` out"));
    if (IsMap(named.kind()))
      return absl::InvalidArgumentError(
          absl::StrCat("field '", name, "' is a ", KindName(named.kind()), ", which becomes int64 without an op"));
    if (IsVariable(named.kind()) && named.kind() != v1::FIELD_KIND_RAGGED && named.kind() != v1::FIELD_KIND_AUDIO)
      return absl::InvalidArgumentError(
          absl::StrCat("field '", name, "' is ", KindName(named.kind()), ", which stays as it is; leave the op out"));
    if (ByteSize(named.dtype()) == 0)
      return absl::InvalidArgumentError(absl::StrCat("field '", name, "' has no numbers"));
    if (IsLabels(field))
      return absl::InvalidArgumentError(
          absl::StrCat("field '", name, "' is smoothed or mixed already; put it before LabelSmoothing, MixUp, CutMix"));
    if (device_.programs_[field].kind != FieldProgram::Kind::kScale)
      STOKER_RETURN_IF_ERROR(Take(field, {.kind = FieldProgram::Kind::kScale, .op = index}));
    return field;
  }

  // Returns the name of the field whose numbers ToDtype takes: of a sparse field its values, if it has some.
  std::string NumbersOf(const std::string& name) const {
    const int field = FieldNamed(device_.source_fields_, name);
    const bool is_sparse = field >= 0 && device_.source_fields_[field].kind() == v1::FIELD_KIND_SPARSE;
    return is_sparse && FieldNamed(device_.source_fields_, ValuesName(name)) >= 0 ? ValuesName(name) : name;
  }

  absl::Status AddToDtypeOf(const v1::ToDtype& op, int index) {
    const int named = FieldNamed(device_.source_fields_, op.field());
    if (const int views = ViewsAt(named); views >= 0) {
      ImageProgram& program = device_.views_[views];
      if (program.dtype != v1::DTYPE_UINT8)
        return absl::InvalidArgumentError(absl::StrCat("field '", op.field(), "' is converted already"));
      program.dtype = op.dtype();
      if (op.scale()) std::fill(view_scales_[views].scale.begin(), view_scales_[views].scale.end(), 1 / 255.0);
      return absl::OkStatus();
    }
    if (named >= 0 && device_.programs_[named].kind == FieldProgram::Kind::kDense)
      return absl::InvalidArgumentError(absl::StrCat("field '", op.field(), "' is dense; put it before ToDense"));
    STOKER_ASSIGN_OR_RETURN(const int field, ScaledField(NumbersOf(op.field()), index));
    FieldProgram& program = device_.programs_[field];
    if (program.op != index)
      return absl::InvalidArgumentError(
          absl::StrCat("field '", op.field(), "' is converted already; put it first, and leave others out"));
    const v1::Dtype stored = device_.fields_[field].dtype();
    if (op.scale() && stored != v1::DTYPE_UINT8 && stored != v1::DTYPE_INT16)
      return absl::InvalidArgumentError(
          absl::StrCat("field '", op.field(), "' has ", DtypeName(stored), ", not uint8 or int16; leave `scale` out"));
    if (op.scale()) {
      program.scale = {ScaleOf(stored)};
      program.bias = {0};
    }
    SetDtype(op.dtype(), device_.fields_[field]);
    return absl::OkStatus();
  }

  // Makes the numbers of a field those of another type.
  static void SetDtype(v1::Dtype dtype, v1::Field& made) {
    const uint64_t from = ByteSize(made.dtype()), to = ByteSize(dtype);
    made.set_max_bytes(made.max_bytes() / from * to);
    made.set_typical_bytes(made.typical_bytes() / from * to);
    made.set_dtype(dtype);
  }

  // Returns the index in views_ of the program that makes a field, or −1.
  int ViewsAt(int field) const { return field < 0 ? -1 : device_.programs_[field].views; }

  absl::Status AddNormalizeOf(const v1::Normalize& op, int index) {
    if (const int views = ViewsAt(FieldNamed(device_.source_fields_, op.field())); views >= 0) {
      if (device_.views_[views].dtype == v1::DTYPE_UINT8)
        return absl::InvalidArgumentError(
            absl::StrCat("field '", op.field(), "' needs ToDtype to float32, float16 or bfloat16 before it"));
      return AddNormalize(op, view_scales_[views].scale, view_scales_[views].bias);
    }
    STOKER_ASSIGN_OR_RETURN(const int field, ScaledField(op.field(), index));
    FieldProgram& program = device_.programs_[field];
    const v1::Field& made = device_.fields_[field];
    if (!IsDeviceFloat(made.dtype()))
      return absl::InvalidArgumentError(
          absl::StrCat("field '", op.field(), "' needs ToDtype to float32, float16 or bfloat16 before it"));
    STOKER_ASSIGN_OR_RETURN(const uint64_t elements, ElementCount(made));
    const uint64_t last = made.shape().empty() ? 1 : made.shape(made.shape_size() - 1);
    size_t period = std::max<size_t>(program.scale.size(), 1);
    for (int numbers : {op.mean_size(), op.std_size()}) {
      const auto given = static_cast<uint64_t>(numbers);
      if (given != 1 && given != last && given != elements)
        return absl::InvalidArgumentError(absl::StrCat("give one number, one for each index of the last dimension of '",
                                                       op.field(), "' (", last, "), or one for each element (",
                                                       elements, "); found ", numbers));
      period = std::max<size_t>(period, given);  // Each of the three divides the next.
    }
    std::vector<float> scale(period), bias(period);
    for (size_t i = 0; i < period; ++i) {
      const bool is_scaled = !program.scale.empty();
      const size_t before = is_scaled ? i % program.scale.size() : 0;
      const double mean = op.mean(static_cast<int>(i % op.mean_size())),
                   std = op.std(static_cast<int>(i % op.std_size()));
      scale[i] = static_cast<float>((is_scaled ? program.scale[before] : 1) / std);
      bias[i] = static_cast<float>(((is_scaled ? program.bias[before] : 0) - mean) / std);
    }
    program.scale = std::move(scale);
    program.bias = std::move(bias);
    return absl::OkStatus();
  }

  absl::Status AddToDtype(const v1::ToDtype& op) {
    if (floats()) return absl::InvalidArgumentError(absl::StrCat("the image is ", DtypeName(image_.dtype), " already"));
    image_.dtype = op.dtype();
    if (op.scale()) std::fill(scale_.begin(), scale_.end(), 1 / 255.0);
    return absl::OkStatus();
  }

  absl::Status AddNormalize(const v1::Normalize& op) {
    if (!floats()) return absl::InvalidArgumentError("needs ToDtype to float32, float16 or bfloat16 before it");
    STOKER_RETURN_IF_ERROR(AddNormalize(op, scale_, bias_));
    for (int64_t c = 0; image_.erases && c < image_.channels; ++c) {
      erase_value_[c] = (erase_value_[c] - OneOrAt(op.mean(), c)) / OneOrAt(op.std(), c);
      if (image_.erases_with_noise) erase_scale_[c] /= OneOrAt(op.std(), c);
    }
    return absl::OkStatus();
  }

  // Appends (x − mean) / std to scale and bias, which have one number a channel.
  static absl::Status AddNormalize(const v1::Normalize& op, std::span<double> scale, std::span<double> bias) {
    for (const auto numbers : {static_cast<size_t>(op.mean_size()), static_cast<size_t>(op.std_size())})
      if (numbers != 1 && numbers != scale.size())
        return absl::InvalidArgumentError(
            absl::StrCat("give one number or one a channel (", scale.size(), "); found ", numbers));
    for (size_t c = 0; c < scale.size(); ++c) {
      const double mean = OneOrAt(op.mean(), static_cast<int64_t>(c)), std = OneOrAt(op.std(), static_cast<int64_t>(c));
      scale[c] /= std;
      bias[c] = (bias[c] - mean) / std;
    }
    return absl::OkStatus();
  }

  // Adds an op that stands after ToDtype. Flips may be moved before it, since they commute with arithmetic on single
  // values.
  absl::Status AddAfterToDtype(const v1::Op& op, int index) {
    const DeviceTraits traits = DeviceTraitsOf(op, device_.steps_.size());
    if (!traits.on_floats) return absl::InvalidArgumentError("works on uint8 on the device; move it before ToDtype");
    if (image_.erases)
      return absl::InvalidArgumentError("move it before RandomErasing, of which one may follow ToDtype");
    if (traits.pass == DevicePass::kGather) return device_.steps_.Add(op, index);  // The op is a flip.
    const auto& value = op.random_erasing().value();
    const bool gray = std::adjacent_find(value.begin(), value.end(), std::not_equal_to<>()) == value.end();
    if (!gray && value.size() != image_.channels)
      return absl::InvalidArgumentError(
          absl::StrCat("give one number for all of the image's ", image_.channels, " channels"));
    for (int64_t c = 0; c < image_.channels; ++c) erase_value_.push_back(OneOrAt(value, gray ? 0 : c));
    image_.erases = true;
    image_.erases_with_noise = op.random_erasing().noise();
    if (image_.erases_with_noise) erase_scale_.assign(image_.channels, 1);
    device_.erase_op_ = index;
    return absl::OkStatus();
  }

  // What becomes of the channels of views.
  struct ViewScales {
    std::vector<double> scale, bias;
  };

  // What becomes of the channels of images of native size.
  struct NativeImage {
    std::array<double, 3> scale = {1, 1, 1}, bias = {0, 0, 0};
  };

  DevicePipeline& device_;
  ImageProgram& image_;
  bool moves_maps_ = false;
  std::vector<double> scale_, bias_, erase_value_, erase_scale_;
  std::map<int, NativeImage> native_;    // by field
  std::vector<ViewScales> view_scales_;  // of each of views_
  std::vector<int> labels_;              // fields that were smoothed or mixed
};

absl::StatusOr<DevicePipeline> DevicePipeline::Create(const v1::Pipeline& pipeline,
                                                      const std::vector<v1::Field>& fields) {
  STOKER_RETURN_IF_ERROR(ValidatePipeline(pipeline));
  for (const v1::Field& field : fields) {
    STOKER_RETURN_IF_ERROR(ByteSize(field).status());
    STOKER_RETURN_IF_ERROR(CheckKind(field));
  }
  STOKER_RETURN_IF_ERROR(CheckCompanions(fields));
  DevicePipeline device;
  device.pipeline_ = pipeline;
  device.source_fields_ = device.fields_ = fields;
  device.programs_.resize(fields.size());
  Builder builder(device);
  uint64_t first_view = 0;
  for (int i = 0; i < pipeline.views_size(); ++i) {
    STOKER_RETURN_IF_ERROR(builder.AddViews(i, first_view));
    first_view += pipeline.views(i).has_count() ? pipeline.views(i).count() : 1;
  }
  for (int i = ServerOps(pipeline); i < pipeline.ops_size(); ++i) {
    const absl::Status status = builder.Add(pipeline.ops(i), i);
    const std::string name = OpName(pipeline.ops(i));
    const bool named = absl::StartsWith(status.message(), name);
    if (!status.ok())
      return absl::InvalidArgumentError(
          absl::StrCat("pipeline.ops[", i, "]: ", named ? "" : name + ": ", status.message()));
  }
  builder.Finish();
  for (const v1::Field& field : device.fields_) {
    const absl::Status fits = ByteSize(field).status();
    if (!fits.ok()) return absl::InvalidArgumentError(absl::StrCat("on the device: ", fits.message()));
  }
  return device;
}

SampleDraw DevicePipeline::Draw(uint64_t seed, uint64_t epoch, uint64_t position) const {
  SampleDraw draw = steps_.Draw(seed, epoch, position);
  if (erase_op_ < 0) return draw;
  ImageSize size = image_.out;
  std::vector<OpParameters> parameters;
  const DrawKey key = {.seed = seed, .epoch = epoch, .position = position, .op = static_cast<uint64_t>(erase_op_)};
  DrawOp(pipeline_.ops(erase_op_), key, size, parameters).IgnoreError();  // RandomErasing fits every image.
  if (parameters.empty()) return draw;
  const auto& erase = std::get<EraseParameters>(parameters[0]);
  draw.erase = {erase.top, erase.left, erase.size};
  if (image_.erases_with_noise) {
    DrawKey noise = key;
    noise.op = NestedOp(key.op, 0);
    draw.erase.key = Draws::MixedKey(noise);
    draw.erase.position = noise.position;
  }
  return draw;
}

SampleDraw DevicePipeline::DrawOf(int field, uint64_t view, uint64_t seed, uint64_t epoch, uint64_t position) const {
  const int views = programs_[field].views;
  return views < 0 ? Draw(seed, epoch, position)
                   : view_steps_[views].Draw(seed, epoch, position, views_[views].first_view + view);
}

BatchDraw DevicePipeline::DrawBatch(uint64_t seed, uint64_t epoch, uint64_t first_position) const {
  if (mix_op_ < 0) return {};
  const DrawKey key = {.seed = seed, .epoch = epoch, .position = first_position, .op = static_cast<uint64_t>(mix_op_)};
  return DrawBatchOp(pipeline_.ops(mix_op_), key, image_.out);
}

std::vector<BatchDraw> DevicePipeline::DrawRows(uint64_t seed, uint64_t epoch, uint64_t first_position,
                                                std::span<const uint64_t> positions) const {
  if (!mixes_each_) return std::vector<BatchDraw>(positions.size(), DrawBatch(seed, epoch, first_position));
  std::vector<BatchDraw> draws;
  for (uint64_t position : positions) draws.push_back(DrawBatch(seed, epoch, position));
  return draws;
}

absl::Status DevicePipeline::CheckClasses(int field, const void* values, int64_t count) const {
  const FieldProgram& program = programs_[field];
  if (program.kind != FieldProgram::Kind::kOneHot) return absl::OkStatus();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = WholeNumberAt(values, source_fields_[field].dtype(), i);
    if (value < 0 || value >= program.classes)
      return absl::InvalidArgumentError(absl::StrCat("pipeline.ops[", program.op,
                                                     "]: ", OpName(pipeline_.ops(program.op)), ".num_classes: field '",
                                                     fields_[field].name(), "' has a ", value, ", and ",
                                                     program.classes, " classes end at ", program.classes - 1));
  }
  return absl::OkStatus();
}

}  // namespace stoker
