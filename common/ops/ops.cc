#include "common/ops/ops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/ops/arguments.h"
#include "common/ops/nested.h"
#include "common/ops/visit.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// A Description of an op that can be drawn for one sample's image.
template <typename Arguments>
concept Drawable = requires(const Arguments& op, Drawing& drawing) {
  Description<Arguments>::Draw(op, drawing);
};

// One of an op that a device can run as a pass over an image of uint8.
template <typename Arguments>
concept HasDeviceTraits = requires(const Arguments& op) {
  Description<Arguments>::OnDevice(op, ImageSize{});
};

// One of an op whose arguments may mean something that bytes cannot hold.
template <typename Arguments>
concept ValidatesOnBytes = requires(const Arguments& op) {
  Description<Arguments>::ValidateOnBytes(op);
};

// One of an op whose image differs in size by sample, and has a bound.
template <typename Arguments>
concept HasMostSize = requires(const Arguments& op) {
  Description<Arguments>::MostSize(op, ImageSize{});
};

// What must be there for an op to run where its Description says.
template <typename Arguments>
constexpr bool IsComplete() {
  constexpr Placements kPlacements = Description<Arguments>::kPlacements;
  static_assert(kPlacements.server || kPlacements.device, "the op runs nowhere");
  static_assert(!kPlacements.server || Drawable<Arguments>, "an op of the server needs Draw");
  static_assert(!(kPlacements.server && kPlacements.device) || HasDeviceTraits<Arguments>,
                "an op that may move to the device needs OnDevice");
  return true;
}

}  // namespace

std::string OpName(const v1::Op& op) {
  const auto* oneof = v1::Op::descriptor()->FindOneofByName("op");
  const auto* field = op.GetReflection()->GetOneofFieldDescriptor(op, oneof);
  return field == nullptr ? "" : field->message_type()->name();
}

Placements PlacementsOf(const v1::Op& op) {
  if (op.op_case() == v1::Op::OP_NOT_SET) return kAnywhere;
  Placements places = VisitOp(op, []<typename Arguments>(const Arguments&) {
    static_assert(IsComplete<Arguments>());
    return Description<Arguments>::kPlacements;
  });
  // Images travel as uint8.
  if (op.has_to_dtype() && op.to_dtype().field().empty()) return kDeviceOnly;
  if (const auto* transforms = NestedTransforms(op))
    for (const v1::Op& transform : *transforms) {
      const Placements inner = PlacementsOf(transform);
      places = {.server = places.server && inner.server, .device = places.device && inner.device};
    }
  return places;
}

v1::Placement PlacementOf(const v1::Op& op) {
  if (op.placement() != v1::PLACEMENT_UNSPECIFIED) return op.placement();
  return IsDeviceOnly(op) || op.has_to_dtype() ? v1::PLACEMENT_DEVICE : v1::PLACEMENT_SERVER;
}

Acts ActsOf(const v1::Op& op) {
  if (!op.to_dtype().field().empty() || !op.normalize().field().empty()) return Acts::kOnField;
  const auto* transforms = NestedTransforms(op);
  if (transforms == nullptr)
    return VisitOp(op, []<typename Arguments>(const Arguments&) { return Description<Arguments>::kActs; });
  Acts acts = Acts::kOnPixels;
  for (const v1::Op& transform : *transforms) {
    const Acts inner = ActsOf(transform);
    if (inner == Acts::kOnBatch || (inner == Acts::kOnGeometry && acts != Acts::kOnBatch)) acts = inner;
  }
  return acts;
}

std::optional<double> Probability(const v1::Op& op) {
  if (op.op_case() == v1::Op::OP_NOT_SET) return std::nullopt;
  return VisitOp(op, []<typename Arguments>(const Arguments& arguments) -> std::optional<double> {
    if constexpr (HasProbability<Arguments>) return ProbabilityOf(arguments);
    return std::nullopt;
  });
}

v1::Op WithDefaults(const v1::Op& op) {
  v1::Op full = op;
  full.set_placement(PlacementOf(op));
  if (op.op_case() == v1::Op::OP_NOT_SET) return full;
  VisitOp(full, []<typename Arguments>(const Arguments& arguments) {
    auto& filled = const_cast<Arguments&>(arguments);  // A part of `full`, which is ours.
    if constexpr (HasProbability<Arguments>) filled.set_p(ProbabilityOf(filled));
    Description<Arguments>::FillDefaults(filled);
  });
  return full;
}

absl::Status ValidateOp(const v1::Op& op) {
  if (!v1::Placement_IsValid(op.placement()))
    return absl::InvalidArgumentError(absl::StrCat("placement: unknown value ", op.placement()));
  if (op.op_case() == v1::Op::OP_NOT_SET)
    return absl::InvalidArgumentError("no op, or one that this build does not know");
  return VisitOp(op, []<typename Arguments>(const Arguments& arguments) -> absl::Status {
    if constexpr (HasProbability<Arguments>)
      STOKER_RETURN_IF_ERROR(ValidateProbability(arguments, ProbabilityOf(arguments)));
    return Description<Arguments>::Validate(arguments);
  });
}

absl::Status ValidateOnBytes(const v1::Op& op) {
  return VisitOp(op, []<typename Arguments>(const Arguments& arguments) -> absl::Status {
    if constexpr (ValidatesOnBytes<Arguments>) return Description<Arguments>::ValidateOnBytes(arguments);
    return absl::OkStatus();
  });
}

bool IsDeterministic(const v1::Op& op) {
  if (const std::optional<double> p = Probability(op); p.has_value() && *p != 1) return *p == 0;
  return VisitOp(WithDefaults(op), []<typename Arguments>(const Arguments& arguments) {
    return Description<Arguments>::IsDeterministic(arguments);
  });
}

std::optional<ImageSize> OutputSize(const v1::Op& op, std::optional<ImageSize> input) {
  return VisitOp(op, [&]<typename Arguments>(const Arguments& arguments) {
    return Description<Arguments>::OutputSize(arguments, input);
  });
}

ImageSize MostSize(const v1::Op& op, ImageSize input) {
  return VisitOp(op, [&]<typename Arguments>(const Arguments& arguments) -> ImageSize {
    const std::optional<ImageSize> size = Description<Arguments>::OutputSize(arguments, input);
    if constexpr (HasMostSize<Arguments>)
      return size.has_value() ? *size : Description<Arguments>::MostSize(arguments, input);
    return size.value_or(input);
  });
}

absl::Status DrawOp(const v1::Op& op, const DrawKey& key, ImageSize& size, std::vector<OpParameters>& parameters,
                    const SampleBoxes* boxes) {
  Drawing drawing = {key, Draws(key), size, parameters, boxes};
  return VisitOp(op, [&]<typename Arguments>(const Arguments& arguments) -> absl::Status {
    if constexpr (HasProbability<Arguments>)
      if (!drawing.draws.Bernoulli(ProbabilityOf(arguments))) return absl::OkStatus();
    STOKER_CHECK(Drawable<Arguments>);
    if constexpr (Drawable<Arguments>) return Description<Arguments>::Draw(arguments, drawing);
    return absl::OkStatus();
  });
}

DeviceTraits DeviceTraitsOf(const v1::Op& op, ImageSize input) {
  return VisitOp(op, [&]<typename Arguments>(const Arguments& arguments) -> DeviceTraits {
    if constexpr (HasDeviceTraits<Arguments>) return Description<Arguments>::OnDevice(arguments, input);
    return {};
  });
}

Cost CostOf(const v1::Op& op, ImageSize input) {
  const ImageSize output = MostSize(op, input);
  return VisitOp(op, [&]<typename Arguments>(const Arguments& arguments) {
    return Description<Arguments>::CostOf(arguments, input, output);
  });
}

}  // namespace stoker
