#include "server/augment/explain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/ops/ops.h"
#include "common/ops/sample_boxes.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"
#include "server/augment/image_plan.h"
#include "server/augment/plan_words.h"

namespace stoker {
namespace {

// The sizes to explain by. The second is for pipelines with an op that refuses small images.
constexpr ImageSize kPhotographs[] = {{375, 500}, {3000, 4000}};

constexpr uint64_t kPositions = 16;  // positions that are tried until an op does something

// Returns `op` with a probability of 1, and so for all ops inside it. An op that never happens stays as it is.
v1::Op Certain(v1::Op op) {
  if (Probability(op).value_or(1) == 0) return op;
  const auto* which = op.GetReflection()->GetOneofFieldDescriptor(op, op.GetDescriptor()->FindOneofByName("op"));
  google::protobuf::Message& arguments = *op.GetReflection()->MutableMessage(&op, which);
  if (const auto* p = arguments.GetDescriptor()->FindFieldByName("p"); p != nullptr && !p->is_repeated())
    arguments.GetReflection()->SetDouble(&arguments, p, 1);
  if (op.has_random_apply())
    for (v1::Op& inner : *op.mutable_random_apply()->mutable_transforms()) inner = Certain(inner);
  if (op.has_random_choice())
    for (v1::Op& inner : *op.mutable_random_choice()->mutable_transforms()) inner = Certain(inner);
  return op;
}

// The parameters that the ops of an output drew for one sample.
struct Drawn {
  std::vector<OpParameters> parameters;
  std::vector<int> ops;  // for each of `parameters`, the index of the op that drew it
};

// One box in the middle of the image, which has `size` by then.
class BoxInTheMiddle : public SampleBoxes {
 public:
  explicit BoxInTheMiddle(const ImageSize& size) : size_(size) {}

  std::vector<BoxSides> After(std::span<const OpParameters>) const override {
    const auto width = static_cast<double>(size_.width), height = static_cast<double>(size_.height);
    return {{width / 4, height / 4, width * 3 / 4, height * 3 / 4}};
  }

 private:
  const ImageSize& size_;
};

absl::Status DrawOne(const v1::Op& op, int index, ImageSize& size, Drawn& drawn) {
  const BoxInTheMiddle boxes(size);
  const ImageSize before = size;
  for (uint64_t position = 0; position < kPositions; ++position) {
    size = before;
    const DrawKey key = {.position = position, .op = static_cast<uint64_t>(index)};
    STOKER_RETURN_IF_ERROR(DrawOp(op, key, size, drawn.parameters, &boxes));
    if (drawn.parameters.size() > drawn.ops.size()) break;
  }
  drawn.ops.resize(drawn.parameters.size(), index);
  return absl::OkStatus();
}

std::vector<v1::Op> OpsOf(const v1::Pipeline& pipeline, const ServerPipeline::Output& output) {
  const auto& ops = output.views < 0 ? pipeline.ops() : pipeline.views(output.views).ops();
  return {ops.begin(), ops.begin() + ServerOps(ops)};
}

// Makes the lines of one output.
class Explanation {
 public:
  Explanation(const ServerPipeline& pipeline, const ServerPipeline::Output& output, const SourceField& source)
      : scaling_(pipeline.jpeg_scaling()),
        ops_(OpsOf(pipeline.pipeline(), output)),
        first_op_(output.first_op),
        joined_(pipeline.joining().has_value()),
        encoded_(source.kind == SourceField::Kind::kEncodedImage && !joined_) {
    const ImageSize size = joined_ ? *output.stored : SizeOf(source);
    const std::string each = output.view_count > 1 ? absl::StrCat(" each of ", output.view_count, " views,") : "";
    lines_.push_back(absl::StrCat(output.field.name(), ":", each, " from an image of ", SizeWords(size), " pixels"));
    if (!Draw(size)) {
      lines_.push_back(std::string(refusal_.message()));
    } else {
      AddPlan(ImagePlan::Make(size, drawn_.parameters, scaling_));
    }
  }

  std::vector<std::string> Lines() && { return std::move(lines_); }

 private:
  bool Draw(ImageSize size) {
    drawn_ = {};
    refusal_ = absl::OkStatus();
    for (size_t i = first_op_; i < ops_.size() && refusal_.ok(); ++i)
      refusal_ = DrawOne(Certain(ops_[i]), static_cast<int>(i), size, drawn_);
    return refusal_.ok();
  }

  ImageSize SizeOf(const SourceField& source) {
    if (!encoded_) return {source.shape[0], source.shape[1]};
    for (const ImageSize& size : kPhotographs)
      if (Draw(size)) return size;
    return kPhotographs[0];
  }

  void AddPlan(const ImagePlan& plan) {
    int number = 0;
    if (joined_)
      lines_.push_back(absl::StrCat(++number, ". ", NameOf(0),
                                    ": decodes four samples' images, fits each into half of ", SizeWords(plan.size()),
                                    " pixels and cuts it to its cell"));
    if (encoded_) lines_.push_back(absl::StrCat(++number, ". ", DecodeWords(plan, scaling_)));
    for (const PlannedStep& planned : plan.steps()) {
      const std::string names = Names(planned.step.ops);
      lines_.push_back(absl::StrCat(++number, ". ", names, names.empty() ? "" : ": ", WordsOf(planned)));
    }
    for (int op = 0; op < static_cast<int>(ops_.size()); ++op) AddLeftOut(op, plan);
  }

  void AddLeftOut(int op, const ImagePlan& plan) {
    const char* reason = nullptr;
    if (ActsOf(ops_[op]) == Acts::kOnField) return;
    if (joined_ && op == 0) return;
    if (op < first_op_) {
      reason = "the dataset was prepared with it";
    } else if (Probability(ops_[op]).value_or(1) == 0) {
      reason = "its p is 0";
    } else if (std::find(drawn_.ops.begin(), drawn_.ops.end(), op) == drawn_.ops.end()) {
      reason = "it changes nothing";
    } else if (std::none_of(plan.steps().begin(), plan.steps().end(),
                            [&](const PlannedStep& planned) { return Works(planned.step, op); })) {
      reason = "another op undoes it";
    }
    if (reason != nullptr) lines_.push_back(absl::StrCat("left out: ", NameOf(op), ": ", reason));
  }

  bool Works(const Step& step, int op) const {
    return std::any_of(step.ops.begin(), step.ops.end(), [&](int parameter) { return drawn_.ops[parameter] == op; });
  }

  // Names the ops that drew `parameters`, which are indexes in drawn_, like "ops[0] RandomResizedCrop + ops[1]
  // RandomHorizontalFlip".
  std::string Names(const std::vector<int>& parameters) const {
    std::string names;
    int last = -1;
    for (int parameter : parameters) {
      const int op = drawn_.ops[parameter];
      if (op != last) absl::StrAppend(&names, names.empty() ? "" : " + ", NameOf(op));
      last = op;
    }
    return names;
  }

  std::string NameOf(int op) const { return absl::StrCat("ops[", op, "] ", OpName(ops_[op])); }

  const v1::JpegScaling scaling_;
  const std::vector<v1::Op> ops_;
  const int first_op_;
  const bool joined_, encoded_;
  Drawn drawn_;
  absl::Status refusal_;
  std::vector<std::string> lines_;
};

// Returns the line of a map, which names the ops that move it.
std::string LineOfMap(const ServerPipeline& pipeline, const ServerPipeline::Output& output) {
  std::vector<std::string> moves;
  const std::vector<v1::Op> ops = OpsOf(pipeline.pipeline(), output);
  for (size_t i = 0; i < ops.size(); ++i)
    if (ActsOf(ops[i]) == Acts::kOnGeometry) moves.push_back(absl::StrCat("ops[", i, "] ", OpName(ops[i])));
  return absl::StrCat(
      output.field.name(), ": a ", KindName(output.field.kind()),
      moves.empty() ? ", as it is stored" : ", moved to the nearest pixel by " + absl::StrJoin(moves, " + "));
}

// Returns the line of audio: what is decoded, and what becomes of it.
std::string LineOfAudio(const ServerPipeline::Output& output) {
  const ServerPipeline::Output::Audio& audio = *output.audio;
  std::string line = absl::StrCat(output.field.name(), ": decoded from a file");
  if (audio.stored.channels == 1) absl::StrAppend(&line, ", its channels mixed to one");
  if (audio.rate != 0) absl::StrAppend(&line, ", resampled to ", audio.rate, " samples a second");
  if (audio.samples != 0)
    absl::StrAppend(&line, ", ", audio.samples, " samples of it taken ",
                    audio.center ? "from the middle" : "at a drawn place");
  return absl::StrCat(line, ", rounded to ", DtypeName(output.field.dtype()));
}

}  // namespace

std::vector<std::string> Explain(const ServerPipeline& pipeline, const SourceSchema& schema) {
  std::vector<std::string> lines;
  for (const ServerPipeline::Output& output : pipeline.outputs()) {
    if (output.map()) lines.push_back(LineOfMap(pipeline, output));
    if (output.audio.has_value()) lines.push_back(LineOfAudio(output));
    if (output.cast.has_value())
      lines.push_back(absl::StrCat(output.field.name(), ": converted from ", DtypeName(output.cast->from), " to ",
                                   DtypeName(output.field.dtype())));
    if (!output.image) continue;
    for (std::string& line : Explanation(pipeline, output, schema[output.source]).Lines())
      lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace stoker
