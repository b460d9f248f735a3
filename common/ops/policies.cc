#include "common/ops/policies.h"

#include "absl/strings/str_cat.h"
#include "common/ops/arguments.h"
#include "common/ops/learned_policies.h"
#include "common/ops/policy_op.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr int kMaxOps = 64;
constexpr int kDefaultOps = 2;
constexpr int kDefaultMagnitude = 9;
constexpr int kDefaultBins = 31;
constexpr int kMaxBins = 1 << 16;

// RandAugment and TrivialAugmentWide choose among all but Invert, each as likely.
constexpr int kChoices = static_cast<int>(PolicyOp::kInvert);

// The spaces of torchvision's two classes.
PolicySpace RandAugmentSpace(ImageSize size) {
  return {.shear = 0.3,
          .translate_x = 150.0 / 331.0 * static_cast<double>(size.width),
          .translate_y = 150.0 / 331.0 * static_cast<double>(size.height),
          .rotate = 30,
          .enhance = 0.9,
          .posterize = 4};
}

constexpr PolicySpace kWideSpace = {
    .shear = 0.99, .translate_x = 32, .translate_y = 32, .rotate = 135, .enhance = 0.99, .posterize = 6};

PolicyOp DrawChoice(Draws& draws) { return static_cast<PolicyOp>(draws.Below(kChoices)); }

int Bins(const auto& op) { return op.has_num_magnitude_bins() ? op.num_magnitude_bins() : kDefaultBins; }
int Ops(const v1::RandAugment& op) { return op.has_num_ops() ? op.num_ops() : kDefaultOps; }
int MagnitudeOf(const v1::RandAugment& op) { return op.has_magnitude() ? op.magnitude() : kDefaultMagnitude; }
PolicyLook LookOf(const auto& op) { return {OrNearest(op.interpolation()), ColorOf(op.fill()), op.map_fill()}; }

absl::Status ValidateCommon(const auto& op) {
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "num_magnitude_bins", Bins(op), 2, kMaxBins));
  STOKER_RETURN_IF_ERROR(ValidateAffineInterpolation(op, op.interpolation()));
  return ValidateFill(op);
}

void FillCommon(auto& op) {
  op.set_num_magnitude_bins(Bins(op));
  op.set_interpolation(OrNearest(op.interpolation()));
  Set(ColorOf(op.fill()), op.mutable_fill());
}

}  // namespace

absl::Status Description<v1::RandAugment>::Validate(const v1::RandAugment& op) {
  STOKER_RETURN_IF_ERROR(ValidateCommon(op));
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "num_ops", Ops(op), 0, kMaxOps));
  if (MagnitudeOf(op) < 0 || MagnitudeOf(op) >= Bins(op))
    return Invalid(
        op, "magnitude",
        absl::StrCat(MagnitudeOf(op), " is not between 0 and ", Bins(op) - 1, ", the last of num_magnitude_bins"));
  return absl::OkStatus();
}

void Description<v1::RandAugment>::FillDefaults(v1::RandAugment& op) {
  FillCommon(op);
  op.set_num_ops(Ops(op));
  op.set_magnitude(MagnitudeOf(op));
}

absl::Status Description<v1::RandAugment>::Draw(const v1::RandAugment& op, Drawing& drawing) {
  const PolicySpace space = RandAugmentSpace(drawing.size);
  for (int i = 0; i < Ops(op); ++i) {
    const PolicyOp choice = DrawChoice(drawing.draws);
    DrawKey key = drawing.key;
    key.op = NestedOp(drawing.key.op, i);
    AppendPolicyOp(choice, {MagnitudeOf(op), Bins(op), Draws(key).Below(2) == 1}, space, LookOf(op), drawing);
  }
  return absl::OkStatus();
}

absl::Status Description<v1::TrivialAugmentWide>::Validate(const v1::TrivialAugmentWide& op) {
  return ValidateCommon(op);
}

void Description<v1::TrivialAugmentWide>::FillDefaults(v1::TrivialAugmentWide& op) { FillCommon(op); }

absl::Status Description<v1::TrivialAugmentWide>::Draw(const v1::TrivialAugmentWide& op, Drawing& drawing) {
  const PolicyOp choice = DrawChoice(drawing.draws);
  DrawKey key = drawing.key;
  key.op = NestedOp(drawing.key.op, 0);
  Draws draws(key);
  const auto bin = static_cast<int64_t>(draws.Below(Bins(op)));
  AppendPolicyOp(choice, {bin, Bins(op), draws.Below(2) == 1}, kWideSpace, LookOf(op), drawing);
  return absl::OkStatus();
}

absl::Status Description<v1::AutoAugment>::Validate(const v1::AutoAugment& op) {
  if (!v1::AutoAugmentPolicy_IsValid(op.policy()))
    return Invalid(op, "policy", absl::StrCat("unknown value ", op.policy(), "; imagenet, cifar10 and svhn are known"));
  STOKER_RETURN_IF_ERROR(ValidateAffineInterpolation(op, op.interpolation()));
  return ValidateFill(op);
}

void Description<v1::AutoAugment>::FillDefaults(v1::AutoAugment& op) {
  if (op.policy() == v1::AUTO_AUGMENT_POLICY_UNSPECIFIED) op.set_policy(v1::AUTO_AUGMENT_POLICY_IMAGENET);
  op.set_interpolation(OrNearest(op.interpolation()));
  Set(ColorOf(op.fill()), op.mutable_fill());
}

// Both ops of a pair draw whether they happen, and their sign, by keys of their own.
absl::Status Description<v1::AutoAugment>::Draw(const v1::AutoAugment& op, Drawing& drawing) {
  const PolicySpace space = RandAugmentSpace(drawing.size);
  const std::span<const LearnedPair> pairs = LearnedPolicy(op.policy());
  const LearnedPair& pair = pairs[drawing.draws.Below(pairs.size())];
  for (size_t i = 0; i < pair.size(); ++i) {
    DrawKey key = drawing.key;
    key.op = NestedOp(drawing.key.op, i);
    Draws draws(key);
    if (!draws.Bernoulli(pair[i].probability)) continue;
    AppendPolicyOp(pair[i].op, {pair[i].bin, kLearnedBins, draws.Below(2) == 1}, space, LookOf(op), drawing);
  }
  return absl::OkStatus();
}

Cost Description<v1::AutoAugment>::CostOf(const v1::AutoAugment&, ImageSize, ImageSize output) {
  return 2 * CostOfPixels(output, kPolicyArithmetic);
}

// Each op of these changes the image once at most.
DeviceTraits Description<v1::RandAugment>::OnDevice(const v1::RandAugment& op, ImageSize) {
  return {.pass = DevicePass::kPolicy, .most_changes = Ops(op)};
}

DeviceTraits Description<v1::TrivialAugmentWide>::OnDevice(const v1::TrivialAugmentWide&, ImageSize) {
  return {.pass = DevicePass::kPolicy, .most_changes = 1};
}

DeviceTraits Description<v1::AutoAugment>::OnDevice(const v1::AutoAugment&, ImageSize) {
  return {.pass = DevicePass::kPolicy, .most_changes = 2};
}

bool Description<v1::RandAugment>::IsDeterministic(const v1::RandAugment& op) { return op.num_ops() == 0; }

Cost Description<v1::RandAugment>::CostOf(const v1::RandAugment& op, ImageSize, ImageSize output) {
  return static_cast<double>(Ops(op)) * CostOfPixels(output, kPolicyArithmetic);
}

Cost Description<v1::TrivialAugmentWide>::CostOf(const v1::TrivialAugmentWide&, ImageSize, ImageSize output) {
  return CostOfPixels(output, kPolicyArithmetic);
}

}  // namespace stoker
