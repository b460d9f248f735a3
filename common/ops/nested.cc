#include "common/ops/nested.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/ops/arguments.h"
#include "common/ops/mix.h"
#include "common/ops/ops.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr int kMaxDepth = 4;
constexpr int kMaxNestedOps = 64;

using Transforms = google::protobuf::RepeatedPtrField<v1::Op>;

// How deep ops stand inside of `transforms`, and how many.
struct Extent {
  int depth = 1, ops = 0;
};

Extent ExtentOf(const Transforms& transforms) {
  Extent extent = {.ops = transforms.size()};
  for (const v1::Op& op : transforms) {
    const Transforms* nested = NestedTransforms(op);
    if (nested == nullptr) continue;
    const Extent inner = ExtentOf(*nested);
    extent = {std::max(extent.depth, inner.depth + 1), extent.ops + inner.ops};
  }
  return extent;
}

// `status` of an op inside of another, its message preceded by the path.
absl::Status At(const google::protobuf::Message& op, int index, const absl::Status& status) {
  if (status.ok()) return status;
  return {status.code(), absl::StrCat(op.GetDescriptor()->name(), ".transforms[", index, "]: ", status.message())};
}

absl::Status ValidateTransforms(const google::protobuf::Message& op, const Transforms& transforms) {
  if (transforms.empty()) return Invalid(op, "transforms", "give at least one op");
  const Extent extent = ExtentOf(transforms);
  if (extent.depth > kMaxDepth)
    return Invalid(op, "transforms", absl::StrCat("ops stand ", extent.depth, " deep, at most ", kMaxDepth));
  if (extent.ops > kMaxNestedOps)
    return Invalid(op, "transforms", absl::StrCat(extent.ops, " ops in all, at most ", kMaxNestedOps));
  for (int i = 0; i < transforms.size(); ++i) {
    STOKER_RETURN_IF_ERROR(At(op, i, ValidateOp(transforms[i])));
    STOKER_RETURN_IF_ERROR(At(op, i, ValidateOnBytes(transforms[i])));
    if (IsDeviceOnly(transforms[i]) || ActsOf(transforms[i]) == Acts::kOnField || transforms[i].has_mosaic())
      return At(op, i, absl::InvalidArgumentError(absl::StrCat(OpName(transforms[i]), ": stands in no other op")));
    if (transforms[i].placement() == v1::PLACEMENT_DEVICE)
      return At(op, i,
                absl::InvalidArgumentError(absl::StrCat(
                    OpName(transforms[i]), ".placement: it runs where the op does that it stands in; leave it out")));
  }
  return absl::OkStatus();
}

absl::Status DrawTransform(const google::protobuf::Message& op, const Transforms& transforms, int index,
                           Drawing& drawing) {
  DrawKey key = drawing.key;
  key.op = NestedOp(drawing.key.op, index);
  return At(op, index, DrawOp(transforms[index], key, drawing.size, drawing.parameters, drawing.boxes));
}

std::optional<ImageSize> SizeAfter(const Transforms& transforms, std::optional<ImageSize> size) {
  for (const v1::Op& op : transforms) size = OutputSize(op, size);
  return size;
}

// Returns the size that is as high as the higher of both, and as wide as the wider.
ImageSize LargerOf(ImageSize a, ImageSize b) { return {std::max(a.height, b.height), std::max(a.width, b.width)}; }

// A choice's probability. Weights that are in proportion give the same bits.
double ShareOf(const v1::RandomChoice& op, int index) {
  if (op.p().empty()) return 1.0 / op.transforms_size();
  double sum = 0;
  for (double weight : op.p()) sum += weight;
  return op.p(index) / sum;
}

int DrawIndex(const v1::RandomChoice& op, Draws& draws) {
  double rest = draws.Uniform(0, 1);
  int chosen = 0;  // The last one with a share, where rounding leaves a rest.
  for (int i = 0; i < op.transforms_size(); ++i) {
    const double share = ShareOf(op, i);
    if (share > 0) chosen = i;
    if (rest < share) break;
    rest -= share;
  }
  return chosen;
}

}  // namespace

const Transforms* NestedTransforms(const v1::Op& op) {
  if (op.has_random_apply()) return &op.random_apply().transforms();
  if (op.has_random_choice()) return &op.random_choice().transforms();
  return nullptr;
}

Transforms* MutableNestedTransforms(v1::Op& op) {
  if (op.has_random_apply()) return op.mutable_random_apply()->mutable_transforms();
  if (op.has_random_choice()) return op.mutable_random_choice()->mutable_transforms();
  return nullptr;
}

std::vector<bool> ChosenTransforms(const v1::Op& op, const DrawKey& key) {
  Draws draws(key);
  if (op.has_random_apply())
    return std::vector<bool>(op.random_apply().transforms_size(), draws.Bernoulli(ProbabilityOf(op.random_apply())));
  std::vector<bool> chosen(op.random_choice().transforms_size());
  chosen[DrawIndex(op.random_choice(), draws)] = true;
  return chosen;
}

absl::Status Description<v1::RandomApply>::Validate(const v1::RandomApply& op) {
  return ValidateTransforms(op, op.transforms());
}

void Description<v1::RandomApply>::FillDefaults(v1::RandomApply& op) {
  for (v1::Op& nested : *op.mutable_transforms()) nested = WithDefaults(nested);
}

std::optional<ImageSize> Description<v1::RandomApply>::OutputSize(const v1::RandomApply& op,
                                                                  std::optional<ImageSize> input) {
  const std::optional<ImageSize> applied = SizeAfter(op.transforms(), input);
  if (ProbabilityOf(op) == 0 || applied == input) return input;
  return ProbabilityOf(op) == 1 ? applied : std::nullopt;
}

ImageSize Description<v1::RandomApply>::MostSize(const v1::RandomApply& op, ImageSize input) {
  ImageSize applied = input;
  for (const v1::Op& transform : op.transforms()) applied = stoker::MostSize(transform, applied);
  return LargerOf(input, applied);
}

bool Description<v1::RandomApply>::IsDeterministic(const v1::RandomApply& op) {
  return std::all_of(op.transforms().begin(), op.transforms().end(),
                     [](const v1::Op& transform) { return stoker::IsDeterministic(transform); });
}

// All of the ops, one after the other.
Cost Description<v1::RandomApply>::CostOf(const v1::RandomApply& op, ImageSize input, ImageSize) {
  Cost cost = kNoCost;
  for (const v1::Op& transform : op.transforms()) {
    cost = cost + stoker::CostOf(transform, input);
    input = stoker::MostSize(transform, input);
  }
  return cost;
}

absl::Status Description<v1::RandomApply>::Draw(const v1::RandomApply& op, Drawing& drawing) {
  for (int i = 0; i < op.transforms_size(); ++i) STOKER_RETURN_IF_ERROR(DrawTransform(op, op.transforms(), i, drawing));
  return absl::OkStatus();
}

absl::Status Description<v1::RandomChoice>::Validate(const v1::RandomChoice& op) {
  STOKER_RETURN_IF_ERROR(ChoosesBatchOp(op) ? ValidateBatchChoice(op) : ValidateTransforms(op, op.transforms()));
  if (op.p().empty()) return absl::OkStatus();
  if (op.p_size() != op.transforms_size())
    return Invalid(
        op, "p", absl::StrCat("give a weight for each of ", op.transforms_size(), " transforms; found ", op.p_size()));
  double sum = 0;
  for (double weight : op.p()) {
    STOKER_RETURN_IF_ERROR(ValidateWithin(op, "p", weight, 0, 1e9));
    sum += weight;
  }
  if (!(sum >= 1e-9)) return Invalid(op, "p", "weights must not all be 0");
  return absl::OkStatus();
}

void Description<v1::RandomChoice>::FillDefaults(v1::RandomChoice& op) {
  for (v1::Op& nested : *op.mutable_transforms()) nested = WithDefaults(nested);
  if (!op.p().empty() && op.p_size() != op.transforms_size()) return;  // Not valid.
  Numbers shares;
  for (int i = 0; i < op.transforms_size(); ++i) shares.Add(ShareOf(op, i));
  op.mutable_p()->Swap(&shares);
}

std::optional<ImageSize> Description<v1::RandomChoice>::OutputSize(const v1::RandomChoice& op,
                                                                   std::optional<ImageSize> input) {
  std::optional<ImageSize> size;
  for (int i = 0, branches = 0; i < op.transforms_size(); ++i) {
    if (ShareOf(op, i) == 0) continue;
    const std::optional<ImageSize> branch = stoker::OutputSize(op.transforms(i), input);
    if (branches++ > 0 && branch != size) return std::nullopt;
    size = branch;
  }
  return size;
}

ImageSize Description<v1::RandomChoice>::MostSize(const v1::RandomChoice& op, ImageSize input) {
  ImageSize most = {0, 0};
  for (const v1::Op& transform : op.transforms()) most = LargerOf(most, stoker::MostSize(transform, input));
  return most;
}

// The weights leave one choice only.
bool Description<v1::RandomChoice>::IsDeterministic(const v1::RandomChoice& op) {
  const auto certain = std::find(op.p().begin(), op.p().end(), 1.0);
  return certain != op.p().end() && stoker::IsDeterministic(op.transforms(static_cast<int>(certain - op.p().begin())));
}

// The dearest of the ops.
Cost Description<v1::RandomChoice>::CostOf(const v1::RandomChoice& op, ImageSize input, ImageSize) {
  Cost most = kNoCost;
  for (const v1::Op& transform : op.transforms()) most = MostOf(most, stoker::CostOf(transform, input));
  return most;
}

absl::Status Description<v1::RandomChoice>::Draw(const v1::RandomChoice& op, Drawing& drawing) {
  return DrawTransform(op, op.transforms(), DrawIndex(op, drawing.draws), drawing);
}

}  // namespace stoker
