#include "server/augment/plan_words.h"

#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/ops/loaded_ops.h"

namespace stoker {
namespace {

std::string Lower(const std::string& value, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(value, prefix));
}

std::string WordOf(v1::Interpolation interpolation) {
  return Lower(v1::Interpolation_Name(interpolation), "INTERPOLATION_");
}

// Joins words as "a", "a and b" or "a, b and c".
std::string List(const std::vector<std::string>& words) {
  if (words.size() < 2) return absl::StrJoin(words, "");
  return absl::StrCat(absl::StrJoin(words.begin(), words.end() - 1, ", "), " and ", words.back());
}

const char* WordOf(ColorParameters::Kind kind) {
  using Kind = ColorParameters::Kind;
  switch (kind) {
    case Kind::kBrightness: return "brightness";
    case Kind::kContrast: return "contrast";
    case Kind::kSaturation: return "saturation";
    case Kind::kHue: return "hue";
    case Kind::kGrayscale: return "grayscale";
    case Kind::kYCbCr: return "YCbCr";
    case Kind::kPosterize: return "posterize";
    case Kind::kSolarize: return "solarize";
    case Kind::kInvert: return "invert";
    case Kind::kAutocontrast: return "autocontrast";
    case Kind::kEqualize: return "equalize";
  }
  return "";
}

struct Words {
  const Step& step;

  std::string operator()(const Geometry& geometry) const {
    std::vector<std::string> parts;
    const Region crop = {geometry.crop.top, geometry.crop.left, geometry.crop.size};
    if (!WholeOf(step.in).Contains(crop)) {
      parts.push_back("pad and crop");
    } else if (crop != WholeOf(step.in)) {
      parts.push_back("crop");
    }
    if (const auto& resize = geometry.resize; resize.has_value())
      parts.push_back(absl::StrCat("resize to ", SizeWords(resize->size), " (", WordOf(resize->interpolation),
                                   resize->antialias ? ", antialiased)" : ")"));
    if (geometry.flip_horizontal) parts.push_back("flip left and right");
    if (geometry.flip_vertical) parts.push_back("flip top and bottom");
    if (parts.empty()) return "copy the pixels";
    return absl::StrCat(List(parts), parts.size() > 1 ? ", in one pass" : "");
  }

  std::string operator()(const Coloring& coloring) const {
    std::vector<std::string> kinds;
    for (const ColorParameters& color : coloring.ops) kinds.push_back(WordOf(color.kind));
    return absl::StrCat(List(kinds), ", where the pixels lie");
  }

  std::string operator()(const BlurParameters& blur) const {
    return absl::StrCat("blur with a kernel of ", SizeWords({blur.kernel_height, blur.kernel_width}));
  }
  std::string operator()(const SharpnessParameters&) const { return "sharpen"; }
  std::string operator()(const AffineParameters& warp) const {
    return absl::StrCat("turn, shift or shear (", WordOf(warp.interpolation), ")");
  }
  std::string operator()(const PerspectiveParameters& warp) const {
    return absl::StrCat("change the perspective (", WordOf(warp.interpolation), ")");
  }
  std::string operator()(const ElasticParameters& elastic) const {
    return absl::StrCat("move each pixel (", WordOf(elastic.interpolation), ")");
  }
  std::string operator()(const EraseParameters&) const { return "erase a rectangle"; }
  std::string operator()(const MaskParameters&) const { return "mask pixels"; }
  std::string operator()(const NoiseParameters&) const { return "add noise"; }
  std::string operator()(const RecompressParameters& recompress) const {
    return absl::StrCat("compress as a JPEG of quality ", recompress.quality, " and decode");
  }
  std::string operator()(const MixedChainsParameters& mixed) const {
    return absl::StrCat("mix with ", mixed.chains.size(), " chains of changes");
  }
  std::string operator()(const OwnParameters& own) const {
    return absl::StrCat("this server's own ", own.op->name(), ", version ", own.op->version());
  }
};

}  // namespace

std::string SizeWords(ImageSize size) { return absl::StrCat(size.width, "×", size.height); }

std::string WordsOf(const PlannedStep& planned) {
  const bool part = planned.made != WholeOf(planned.step.out);
  return absl::StrCat(std::visit(Words{planned.step}, planned.step.action), part ? "; only what is needed later" : "");
}

std::string DecodeWords(const ImagePlan& plan, v1::JpegScaling scaling) {
  const bool part = plan.target().needed != WholeOf(plan.size());
  std::string words = part ? "decode the part that is needed" : "decode the whole image";
  const Step& first = plan.steps().front().step;
  if (!LeastCropToReduce(first, 4, scaling).has_value()) return words;
  std::vector<std::string> sizes;
  for (int eighths : {4, 2, 1})
    sizes.push_back(absl::StrCat("1/", 8 / eighths, " from ", SizeWords(*LeastCropToReduce(first, eighths, scaling))));
  absl::StrAppend(&words, "; of a JPEG at a reduced size where that part is large: ", absl::StrJoin(sizes, ", "),
                  " pixels on (jpeg_scaling: ", Lower(v1::JpegScaling_Name(scaling), "JPEG_SCALING_"), ")");
  return words;
}

}  // namespace stoker
