#include "common/ops/aug_mix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/identity/elementary.h"
#include "common/ops/arguments.h"
#include "common/ops/gamma.h"
#include "common/ops/policy_op.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr int kMostSeverity = 10;  // torchvision's number of bins, of which so many are drawn from
constexpr int kMostChains = 16, kMostDepth = 16;
constexpr int kDrawnDepth = 3;  // A chain's ops at most, where their number is drawn.
constexpr int kDefaultSeverity = 3, kDefaultChains = 3;

// torchvision's AugMix chooses among the first nine, or among all.
constexpr std::array<PolicyOp, 13> kChainOps = {
    PolicyOp::kShearX,    PolicyOp::kShearY,   PolicyOp::kTranslateX,   PolicyOp::kTranslateY, PolicyOp::kRotate,
    PolicyOp::kPosterize, PolicyOp::kSolarize, PolicyOp::kAutoContrast, PolicyOp::kEqualize,   PolicyOp::kBrightness,
    PolicyOp::kColor,     PolicyOp::kContrast, PolicyOp::kSharpness};
constexpr size_t kFewerOps = 9;

PolicySpace ChainSpace(ImageSize size) {
  return {.shear = 0.3,
          .translate_x = static_cast<double>(size.width) / 3,
          .translate_y = static_cast<double>(size.height) / 3,
          .rotate = 30,
          .enhance = 0.9,
          .posterize = 4,
          .least_posterize = 4};
}

int SeverityOf(const v1::AugMix& op) { return op.has_severity() ? op.severity() : kDefaultSeverity; }
int ChainsOf(const v1::AugMix& op) { return op.has_mixture_width() ? op.mixture_width() : kDefaultChains; }
int DepthOf(const v1::AugMix& op) { return op.has_chain_depth() ? op.chain_depth() : -1; }
double SpreadOfWeights(const v1::AugMix& op) { return op.has_alpha() ? op.alpha() : 1; }
bool UsesAllOps(const v1::AugMix& op) { return !op.has_all_ops() || op.all_ops(); }

// Draws shares whose sum is 1 from the symmetric Dirichlet distribution: numbers from Gamma(alpha) as parts of their
// sum.
std::vector<double> DrawShares(double alpha, int count, Draws& draws) {
  std::vector<double> shares(count);
  for (double& share : shares) share = DrawLogGamma(alpha, draws);
  const double largest = *std::max_element(shares.begin(), shares.end());
  for (double& share : shares) share = DeterministicExp(std::max(share - largest, -700.0));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

// Draws the weights of the image and of the chains. What rounding leaves over is the image's.
std::vector<int32_t> DrawWeights(double alpha, int chains, Draws& draws) {
  const double changed = DrawShares(alpha, 2, draws)[1];
  std::vector<int32_t> weights = {kMixedWhole};
  for (double share : DrawShares(alpha, chains, draws)) {
    weights.push_back(static_cast<int32_t>(std::floor(share * changed * kMixedWhole)));
    weights[0] -= weights.back();
  }
  return weights;
}

// What these ops' Draws append.
std::vector<MixedChainsParameters::Change> ChangesOf(const std::vector<OpParameters>& parameters) {
  std::vector<MixedChainsParameters::Change> changes;
  changes.reserve(parameters.size());
  for (const OpParameters& one : parameters)
    std::visit(
        [&]<typename Parameters>(const Parameters& change) {
          constexpr bool kIsChange = std::is_constructible_v<MixedChainsParameters::Change, const Parameters&>;
          STOKER_CHECK(kIsChange);
          if constexpr (kIsChange) changes.emplace_back(change);
        },
        one);
  return changes;
}

}  // namespace

absl::Status Description<v1::AugMix>::Validate(const v1::AugMix& op) {
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "severity", SeverityOf(op), 1, kMostSeverity));
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "mixture_width", ChainsOf(op), 1, kMostChains));
  if (DepthOf(op) != -1 && (DepthOf(op) < 1 || DepthOf(op) > kMostDepth))
    return Invalid(op, "chain_depth",
                   absl::StrCat(DepthOf(op), " is not between 1 and ", kMostDepth, ", nor -1, by which it is drawn"));
  STOKER_RETURN_IF_ERROR(ValidateWithin(op, "alpha", SpreadOfWeights(op), 0.001, 1000));
  STOKER_RETURN_IF_ERROR(ValidateAffineInterpolation(op, op.interpolation()));
  return ValidateColor(op, "fill", op.fill());
}

void Description<v1::AugMix>::FillDefaults(v1::AugMix& op) {
  op.set_severity(SeverityOf(op));
  op.set_mixture_width(ChainsOf(op));
  op.set_chain_depth(DepthOf(op));
  op.set_alpha(SpreadOfWeights(op));
  op.set_all_ops(UsesAllOps(op));
  op.set_interpolation(OrBilinear(op.interpolation()));
  Set(ColorOf(op.fill()), op.mutable_fill());
}

// Each chain draws by a key of its own, so that the number of chains moves no other chain's draws.
absl::Status Description<v1::AugMix>::Draw(const v1::AugMix& op, Drawing& drawing) {
  const PolicySpace space = ChainSpace(drawing.size);
  const PolicyLook look = {OrBilinear(op.interpolation()), ColorOf(op.fill()), 0};
  MixedChainsParameters mixed;
  mixed.weights = DrawWeights(SpreadOfWeights(op), ChainsOf(op), drawing.draws);
  for (int chain = 0; chain < ChainsOf(op); ++chain) {
    DrawKey key = drawing.key;
    key.op = NestedOp(drawing.key.op, chain);
    std::vector<OpParameters> parameters;
    Drawing changes = {key, Draws(key), drawing.size, parameters};
    const auto drawn = static_cast<int>(changes.draws.Below(kDrawnDepth)) + 1;
    for (int left = DepthOf(op) > 0 ? DepthOf(op) : drawn; left > 0; --left) {
      const PolicyOp change = kChainOps[changes.draws.Below(UsesAllOps(op) ? kChainOps.size() : kFewerOps)];
      const auto bin = static_cast<int64_t>(changes.draws.Below(SeverityOf(op)));
      AppendPolicyOp(change, {bin, kMostSeverity, changes.draws.Below(2) == 1}, space, look, changes);
    }
    mixed.chains.push_back(ChangesOf(parameters));
  }
  drawing.parameters.emplace_back(std::move(mixed));
  return absl::OkStatus();
}

// Each chain's ops, and its sums of 4 bytes.
Cost Description<v1::AugMix>::CostOf(const v1::AugMix& op, ImageSize, ImageSize output) {
  const double ops = DepthOf(op) > 0 ? DepthOf(op) : kDrawnDepth, chains = ChainsOf(op);
  return chains * ops * CostOfPixels(output, kPolicyArithmetic) +
         (1 + chains) * Cost{6 * Pixels(output), 12 * Pixels(output), 1};
}

}  // namespace stoker
