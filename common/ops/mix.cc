#include "common/ops/mix.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/identity/elementary.h"
#include "common/ops/arguments.h"
#include "common/ops/gamma.h"
#include "common/ops/nested.h"
#include "common/ops/ops.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr double kMinAlpha = 0.001, kMaxAlpha = 1000;
constexpr int kMaxChoices = 64;

bool IsMix(const v1::Op& op) { return op.has_mix_up() || op.has_cut_mix(); }

// Calls f with each MixUp's or CutMix's own message.
template <typename F>
void ForEachMix(const v1::Op& op, F f) {
  if (op.has_mix_up()) f(op.mix_up());
  if (op.has_cut_mix()) f(op.cut_mix());
  if (const auto* transforms = NestedTransforms(op))
    for (const v1::Op& transform : *transforms) ForEachMix(transform, f);
}

absl::Status ValidateMix(const auto& op) {
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "alpha", op.has_alpha() ? op.alpha() : 1, kMinAlpha, kMaxAlpha));
  return op.num_classes() == 0 ? absl::OkStatus() : ValidateClasses(op, op.num_classes());
}

void FillMix(auto& op) {
  if (!op.has_alpha()) op.set_alpha(1);
  if (op.field().empty()) op.set_field("label");
}

template <typename Arguments>
double AlphaOf(const Arguments& arguments) {
  return arguments.has_alpha() ? arguments.alpha() : 1;
}

}  // namespace

bool ChoosesBatchOp(const v1::RandomChoice& op) {
  return std::any_of(op.transforms().begin(), op.transforms().end(), IsMix);
}

absl::Status ValidateBatchChoice(const v1::RandomChoice& op) {
  if (op.transforms_size() > kMaxChoices)
    return Invalid(op, "transforms", absl::StrCat(op.transforms_size(), " ops, at most ", kMaxChoices));
  for (int i = 0; i < op.transforms_size(); ++i) {
    const v1::Op& transform = op.transforms(i);
    if (!IsMix(transform))
      return Invalid(op, "transforms", "MixUp and CutMix work on a batch, and can be chosen among each other only");
    if (transform.placement() == v1::PLACEMENT_SERVER)
      return Invalid(op, "transforms", absl::StrCat(OpName(transform), ".placement: runs on the device only"));
    const absl::Status status = ValidateOp(transform);
    if (!status.ok()) return Invalid(op, absl::StrCat("transforms[", i, "]"), status.message());
    const MixedLabels first = MixedLabelsOf(op.transforms(0)), labels = MixedLabelsOf(transform);
    if (labels.field != first.field || labels.classes != first.classes)
      return Invalid(op, "transforms", "all must have the same num_classes and field");
    if (labels.per_sample != first.per_sample) return Invalid(op, "transforms", "all must have the same per_sample");
  }
  return absl::OkStatus();
}

MixedLabels MixedLabelsOf(const v1::Op& op) {
  MixedLabels labels;
  ForEachMix(op, [&](const auto& mix) {
    labels = {mix.field().empty() ? "label" : mix.field(), mix.num_classes(), mix.per_sample()};
  });
  return labels;
}

bool MayMixUp(const v1::Op& op) {
  bool may = false;
  ForEachMix(op, [&]<typename Mix>(const Mix&) { may = may || std::is_same_v<Mix, v1::MixUp>; });
  return may;
}

bool MayCutMix(const v1::Op& op) {
  bool may = false;
  ForEachMix(op, [&]<typename Mix>(const Mix&) { may = may || std::is_same_v<Mix, v1::CutMix>; });
  return may;
}

BatchDraw CutMixOf(double lambda, int64_t x, int64_t y, ImageSize size) {
  const double half = 0.5 * std::sqrt(1 - lambda);
  const auto half_width = static_cast<int64_t>(half * static_cast<double>(size.width));
  const auto half_height = static_cast<int64_t>(half * static_cast<double>(size.height));
  const int64_t left = std::max<int64_t>(0, x - half_width), right = std::min(size.width, x + half_width);
  const int64_t top = std::max<int64_t>(0, y - half_height), bottom = std::min(size.height, y + half_height);
  BatchDraw draw = {.kind = BatchDraw::Kind::kCutMix, .top = top, .left = left, .size = {bottom - top, right - left}};
  draw.lambda =
      1 - static_cast<double>(draw.size.width * draw.size.height) / static_cast<double>(size.width * size.height);
  return draw;
}

double DrawBeta(double alpha, Draws& draws) {
  const double one = DrawLogGamma(alpha, draws), other = DrawLogGamma(alpha, draws);
  return 1 / (1 + DeterministicExp(std::clamp(other - one, -700.0, 700.0)));
}

BatchDraw DrawBatchOp(const v1::Op& op, const DrawKey& key, ImageSize size) {
  if (op.has_random_choice()) {
    const std::vector<bool> chosen = ChosenTransforms(op, key);
    const auto index = std::find(chosen.begin(), chosen.end(), true) - chosen.begin();
    DrawKey nested = key;
    nested.op = NestedOp(key.op, index);
    return DrawBatchOp(op.random_choice().transforms(static_cast<int>(index)), nested, size);
  }
  STOKER_CHECK(IsMix(op));
  Draws draws(key);
  const double lambda = DrawBeta(op.has_mix_up() ? AlphaOf(op.mix_up()) : AlphaOf(op.cut_mix()), draws);
  if (op.has_cut_mix()) {
    const auto x = static_cast<int64_t>(draws.Below(size.width)), y = static_cast<int64_t>(draws.Below(size.height));
    return CutMixOf(lambda, x, y, size);
  }
  return {.kind = BatchDraw::Kind::kMixUp, .lambda = lambda};
}

absl::Status Description<v1::MixUp>::Validate(const v1::MixUp& op) { return ValidateMix(op); }
absl::Status Description<v1::CutMix>::Validate(const v1::CutMix& op) { return ValidateMix(op); }
void Description<v1::MixUp>::FillDefaults(v1::MixUp& op) { FillMix(op); }
void Description<v1::CutMix>::FillDefaults(v1::CutMix& op) { FillMix(op); }

// A blend of two images' floats, and of their labels.
Cost Description<v1::MixUp>::CostOf(const v1::MixUp& op, ImageSize, ImageSize output) {
  return {9 * Pixels(output) + 3.0 * op.num_classes(), 12 * Pixels(output) + 4.0 * op.num_classes()};
}
Cost Description<v1::CutMix>::CostOf(const v1::CutMix& op, ImageSize, ImageSize output) {
  return {3 * Pixels(output) + 3.0 * op.num_classes(), 12 * Pixels(output) + 4.0 * op.num_classes()};
}

}  // namespace stoker
