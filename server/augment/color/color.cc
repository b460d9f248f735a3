#include "server/augment/color/color.h"

#include <vector>

#include "server/augment/color/color_pass.h"
#include "server/augment/color/color_table.h"

namespace stoker {
namespace {

using Kind = ColorParameters::Kind;

// Collects steps until the ops end or one of them needs a figure of the image, and then runs them in one pass.
class Steps {
 public:
  Steps(ImageSize size, uint8_t* pixels) : count_(size.height * size.width), pixels_(pixels) {}

  void Add(const ColorTable& table) {
    if (!steps_.empty() && steps_.back().kind == ColorStep::Kind::kTable) {
      steps_.back().table = Compose(steps_.back().table, table);
    } else {
      steps_.push_back({.kind = ColorStep::Kind::kTable, .table = table});
    }
  }

  void Add(const ColorStep& step) { steps_.push_back(step); }

  ImageFigures Run(Figures figures) {
    if (steps_.empty() && figures == Figures::kNone) return {};
    const ImageFigures measured = RunColorPass(steps_, figures, count_, pixels_);
    steps_.clear();
    return measured;
  }

  // Returns the image's mean gray, rounded.
  uint8_t MeanGray() {
    if (count_ == 0) return 0;
    const double sum = static_cast<double>(Run(Figures::kLumaSum).luma_sum);
    return static_cast<uint8_t>(sum / static_cast<double>(count_) + 0.5);
  }

 private:
  const int64_t count_;
  uint8_t* const pixels_;
  std::vector<ColorStep> steps_;
};

void Add(const ColorParameters& op, Steps& steps) {
  switch (op.kind) {
    case Kind::kBrightness: return steps.Add(BlendTable(0, op.value));
    case Kind::kContrast: return steps.Add(BlendTable(steps.MeanGray(), op.value));
    case Kind::kSaturation:
      return steps.Add({.kind = ColorStep::Kind::kSaturation, .factor = static_cast<float>(op.value)});
    case Kind::kHue: return steps.Add({.kind = ColorStep::Kind::kHue, .shift = static_cast<int>(op.value * 255) & 255});
    case Kind::kGrayscale: return steps.Add({.kind = ColorStep::Kind::kGrayscale});
    case Kind::kYCbCr: return steps.Add({.kind = ColorStep::Kind::kYCbCr});
    case Kind::kPosterize: return steps.Add(PosterizeTable(static_cast<int>(op.value)));
    case Kind::kSolarize: return steps.Add(SolarizeTable(op.value));
    case Kind::kInvert: return steps.Add(SolarizeTable(0));
    case Kind::kAutocontrast: return steps.Add(AutocontrastTable(steps.Run(Figures::kHistogram).histogram));
    case Kind::kEqualize: return steps.Add(EqualizeTable(steps.Run(Figures::kHistogram).histogram));
  }
}

}  // namespace

void ApplyColors(std::span<const ColorParameters> ops, ImageSize size, uint8_t* pixels) {
  Steps steps(size, pixels);
  for (const ColorParameters& op : ops) Add(op, steps);
  steps.Run(Figures::kNone);
}

}  // namespace stoker
