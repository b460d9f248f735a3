#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>

#include "common/check.h"
#include "server/augment/augmenter.h"
#include "server/decode/decoder.h"
#include "tests/bench/engine_costs.h"
#include "tests/bench/engine_stopwatch.h"
#include "tests/bench/table.h"

namespace stoker {
namespace {

constexpr ImageSize kSize = {224, 224};
constexpr size_t kImages = 16;

struct Op {
  std::string name;
  std::vector<OpParameters> parameters;
};

std::vector<Op> ColorOps() {
  using Kind = ColorParameters::Kind;
  constexpr std::pair<const char*, ColorParameters> kColors[] = {
      {"brightness", {Kind::kBrightness, 1.3}},
      {"contrast", {Kind::kContrast, 1.3}},
      {"saturation", {Kind::kSaturation, 1.3}},
      {"hue", {Kind::kHue, 0.07}},
      {"grayscale", {Kind::kGrayscale}},
      {"YCbCr", {Kind::kYCbCr}},
      {"posterize", {Kind::kPosterize, 4}},
      {"solarize", {Kind::kSolarize, 128}},
      {"invert", {Kind::kInvert}},
      {"autocontrast", {Kind::kAutocontrast}},
      {"equalize", {Kind::kEqualize}},
  };
  std::vector<Op> ops;
  for (const auto& [name, color] : kColors) ops.push_back({name, {color}});
  ops.push_back({"ColorJitter: brightness, contrast, saturation, hue",
                 {kColors[0].second, kColors[1].second, kColors[2].second, kColors[3].second}});
  return ops;
}

std::vector<Op> AllOps() {
  // A turn by 20 degrees about the center.
  constexpr double kCos = 0.9396926, kSin = 0.3420201, kCenter = 112;
  const std::array<double, 6> turn = {kCos, -kSin, kCenter - kCos * kCenter + kSin * kCenter,
                                      kSin, kCos,  kCenter - kSin * kCenter - kCos * kCenter};
  std::vector<Op> ops = {
      {"copy", {}},
      {"flip", {FlipParameters{}}},
      {"flip, vertical", {FlipParameters{FlipParameters::Axis::kVertical}}},
      {"pad by 16, reflect, and crop", {CropParameters{-16, -16, kSize, {}, v1::PADDING_MODE_REFLECT}}},
      {"resize 168x168 to 224x224", {CropParameters{28, 28, {168, 168}}, ResizeParameters{kSize}}},
      {"resize 224x224 to 96x96", {ResizeParameters{{96, 96}}}},
      {"resize 224x224 to 96x96, bicubic", {ResizeParameters{{96, 96}, v1::INTERPOLATION_BICUBIC}}},
      {"resize 224x224 to 96x96, nearest", {ResizeParameters{{96, 96}, v1::INTERPOLATION_NEAREST}}},
      {"blur 5x5", {BlurParameters{5, 5, 1}}},
      {"blur 23x23", {BlurParameters{23, 23, 1.5}}},
      {"sharpness", {SharpnessParameters{1.8}}},
      {"rotate, nearest", {AffineParameters{turn, v1::INTERPOLATION_NEAREST}}},
      {"rotate, bilinear", {AffineParameters{turn, v1::INTERPOLATION_BILINEAR}}},
      {"erase 64x64", {EraseParameters{50, 50, {64, 64}}}},
      {"mask 5%", {MaskParameters{0.05, false}}},
      {"mask 5%, dilated", {MaskParameters{0.05, true}}},
      {"perspective, bilinear", {PerspectiveParameters{{0.9, 0.1, -1.5, 0.05, 1.1, 0.5, 1e-4, -2e-4}}}},
      {"elastic, sigma 5", {ElasticParameters{25, 25, 5, 5}}},
      {"noise", {NoiseParameters{0, 0.1}}},
      {"JPEG of quality 75", {RecompressParameters{75}}},
  };
  for (Op& op : ColorOps()) ops.push_back(std::move(op));
  return ops;
}

// The first photographs, each squeezed to 224x224.
std::vector<std::vector<uint8_t>> Squeeze(const Photos& photos) {
  std::vector<std::vector<uint8_t>> images;
  Decoder decoder;
  DecodedImage image;
  Augmenter augmenter;
  const std::vector<OpParameters> ops = {ResizeParameters{kSize}};
  for (size_t i = 0; i < std::min(kImages, photos.samples.size()); ++i) {
    const ImageSize size = *decoder.Open(photos.samples[i].fields[0], {});
    const ImagePlan plan = ImagePlan::Make(size, ops, v1::JPEG_SCALING_EXACT);
    if (!decoder.Decode(plan.target(), image).ok()) continue;
    STOKER_CHECK(augmenter.Apply(plan, SourceOf(image), images.emplace_back(kSize.height * kSize.width * 3)).ok());
  }
  return images;
}

class Timer {
 public:
  Timer(const Photos& photos, Turn turn) : images_(Squeeze(photos)), turn_(turn) {}

  double Microseconds(const ImagePlan& plan) {
    out_.resize(plan.result().height * plan.result().width * 3);
    ApplyToAll(plan);  // Warm.
    const Stopwatch watch;
    size_t made = 0;
    while (watch.WallSeconds() < turn_.seconds) {
      ApplyToAll(plan);
      made += images_.size();
    }
    return 1e6 * watch.Seconds(turn_) / made;
  }

 private:
  void ApplyToAll(const ImagePlan& plan) {
    for (const std::vector<uint8_t>& image : images_) {
      const ImageView view = {image.data(), kSize, static_cast<ptrdiff_t>(kSize.width * 3)};
      STOKER_CHECK(augmenter_.Apply(plan, {view, WholeOf(kSize)}, out_).ok());
    }
  }

  const std::vector<std::vector<uint8_t>> images_;
  const Turn turn_;
  Augmenter augmenter_;
  std::vector<uint8_t> out_;
};

}  // namespace

std::vector<OpCost> OpCosts(const Photos& photos, Turn turn, int rounds) {
  const std::vector<Op> ops = AllOps();
  Timer timer(photos, turn);
  std::vector<std::vector<double>> times(ops.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < ops.size(); ++i) {
      const ImagePlan plan = ImagePlan::Make(kSize, ops[i].parameters, v1::JPEG_SCALING_EXACT);
      const double time = timer.Microseconds(plan);
      const bool in_place = plan.steps().back().step.in_place();
      times[i].push_back(in_place ? std::max(0.0, time - times[0].back()) : time);
    }
  }
  std::vector<OpCost> costs;
  for (size_t i = 0; i < ops.size(); ++i) costs.push_back({ops[i].name, Median(times[i])});
  return costs;
}

}  // namespace stoker
