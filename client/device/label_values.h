#ifndef STOKER_CLIENT_DEVICE_LABEL_VALUES_H_
#define STOKER_CLIENT_DEVICE_LABEL_VALUES_H_

#include <array>

#include "common/pipeline/device_pipeline.h"

namespace stoker {

// The values of a row of one-hot labels, by whose class it is: [0] nobody's, [1] the row's own, [2] only the other
// row's, [3] both's. Every device takes them from here.
using LabelValues = std::array<float, 4>;

// How much of a mixed number is a row's own, and how much the other row's.
struct MixShares {
  float own = 1, other = 0;
};
inline MixShares SharesOf(const BatchDraw& draw) {
  return {static_cast<float>(draw.lambda), static_cast<float>(1 - draw.lambda)};
}

// Returns the values of a field whose program is kOneHot, in a row that drew `draw`.
inline LabelValues LabelValuesOf(const DevicePipeline::FieldProgram& program, const BatchDraw& draw) {
  float off = 0, on = 1;
  if (!program.scale.empty()) {
    off = program.bias[0];
    on = program.scale[0];
    on = on + program.bias[0];
  }
  if (!program.mixed) return {off, on, off, on};
  const auto [own, other] = SharesOf(draw);
  LabelValues values;
  for (int whose = 0; whose < 4; ++whose) {
    const float from_other = (whose & 2 ? on : off) * other, from_own = (whose & 1 ? on : off) * own;
    values[whose] = from_other + from_own;
    values[whose] = values[whose] * program.scale_after;
    values[whose] = values[whose] + program.bias_after;
  }
  return values;
}

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_LABEL_VALUES_H_
