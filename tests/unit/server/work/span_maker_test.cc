#include "server/work/span_maker.h"

#include <time.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/work/photos.h"

namespace stoker {
namespace {

using testing::HasSubstr;

#ifdef STOKER_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct Span {
  v1::SpanHeader header;
  Bytes bytes;
};

Span Make(SpanMaker& maker, const StreamPlan& plan, const Dataset& dataset, const SpanId& id) {
  Span span;
  span.bytes.assign(plan.SpanBytes(id), 0xcd);
  span.header = maker.Make(plan, dataset, id, span.bytes, Interrupt());
  return span;
}

SpanId Epoch(const Dataset& dataset, uint64_t epoch = 0) { return {epoch, 0, static_cast<uint32_t>(dataset.size())}; }

constexpr uint64_t kMaxPixels = 1 << 20;

// Every op that a server has.
constexpr char kAllOps[] =
    "ops { random_apply { transforms { pad { padding: 9 padding_mode: PADDING_MODE_REFLECT } } } } "
    "ops { random_resized_crop { size: 96 scale: 0.2 scale: 1 interpolation: INTERPOLATION_BICUBIC } } "
    "ops { random_horizontal_flip {} } ops { random_vertical_flip {} } "
    "ops { color_jitter { brightness: 0.4 contrast: 0.4 saturation: 0.4 hue: 0.1 } } "
    "ops { random_grayscale { p: 0.2 } } "
    "ops { random_rotation { degrees: 20 interpolation: INTERPOLATION_BILINEAR } } "
    "ops { random_affine { degrees: 5 translate: 0.1 translate: 0.1 scale: 0.9 scale: 1.1 shear: 5 } } "
    "ops { gaussian_blur { kernel_size: 7 } } ops { random_crop { size: 80 padding: 4 } } "
    "ops { random_posterize { bits: 4 } } ops { random_solarize { threshold: 130 } } ops { random_equalize {} } "
    "ops { random_autocontrast {} } ops { random_invert {} } ops { random_adjust_sharpness { sharpness_factor: 2 } } "
    "ops { adjust_brightness { brightness_factor: 1.1 } } ops { adjust_contrast { contrast_factor: 0.9 } } "
    "ops { adjust_saturation { saturation_factor: 1.2 } } ops { adjust_hue { hue_factor: 0.05 } } "
    "ops { rand_augment {} } ops { trivial_augment_wide {} } "
    "ops { random_choice { transforms { grayscale { num_output_channels: 3 } } "
    "                      transforms { convert_color { to: COLOR_SPACE_YCBCR } } } } "
    "ops { random_erasing {} } ops { random_mask { ratio: 0.1 } } "
    "ops { resize { size: 64 size: 64 } } ops { center_crop { size: 48 } }";

TEST(SpanMakerTest, ASpanDoesNotDependOnWhatItsMakerMadeBefore) {
  std::vector<Bytes> files;
  for (uint64_t i = 0; i < 24; ++i) files.push_back(Jpeg(i, {120 + 31 * static_cast<int64_t>(i), 400}));
  for (const SelfCheckImage& image : kSelfCheckImages) files.push_back(SmallFile(image.name));
  const Photos photos(std::move(files));
  const StreamPlan plan = Plan(kAllOps, photos);
  const StreamPlan other = Plan("ops { resize { size: 300 size: 301 } }", photos);
  SpanMaker fresh({kMaxPixels}), worn({kMaxPixels});
  ASSERT_FALSE(Make(worn, other, photos, Epoch(photos, 3)).header.has_error());
  for (uint32_t i = static_cast<uint32_t>(photos.size()); i-- > 0;)
    ASSERT_FALSE(Make(worn, plan, photos, {1, i, 1}).header.has_error());
  for (uint64_t epoch = 0; epoch < 4; ++epoch) {
    const Span span = Make(fresh, plan, photos, Epoch(photos, epoch));
    ASSERT_FALSE(span.header.has_error()) << span.header.error().message();
    EXPECT_EQ(Make(worn, plan, photos, Epoch(photos, epoch)).bytes, span.bytes);
  }
}

// The image of view `view` of `output` alone, by decoding the whole file.
Bytes Alone(const StreamPlan& plan, const ServerPipeline::Output& output, uint32_t view, const Bytes& file,
            uint64_t position, int& eighths) {
  Decoder decoder;
  DecodedImage image;
  Augmenter augmenter;
  const ImageSize size = *decoder.Open(file, {});
  const auto ops = *plan.pipeline().Draw(output, view, size, plan.seed(), 0, position);
  const ImagePlan steps = ImagePlan::Make(size, ops, plan.pipeline().jpeg_scaling());
  EXPECT_TRUE(decoder.Decode({WholeOf(size), steps.target().eighths}, image).ok());
  eighths = image.eighths;
  Bytes pixels(output.bytes / output.view_count);
  EXPECT_TRUE(augmenter.Apply(steps, SourceOf(image), pixels).ok());
  return pixels;
}

constexpr char kViews[] =
    "views { name: 'global' count: 2 ops { random_resized_crop { size: 48 scale: 0.3 scale: 1 } } "
    "        ops { random_horizontal_flip {} } ops { color_jitter { brightness: 0.4 hue: 0.1 } } } "
    "views { name: 'local' count: 4 ops { random_resized_crop { size: 40 scale: 0.05 scale: 0.3 } } "
    "        ops { gaussian_blur { kernel_size: 5 } } } "
    "views { name: 'pixels' ops { random_crop { size: 32 pad_if_needed: true } } }";

// Makes all of `photos` at once, and expects of each view what it is alone. Returns the sizes, in eighths, that each
// sample was decoded at.
std::vector<std::set<int>> ExpectViewsAsAlone(const std::vector<Bytes>& files, const std::string& views = kViews) {
  const Photos photos(files);
  const StreamPlan plan = Plan(views, photos);
  SpanMaker maker({kMaxPixels});
  Span span = Make(maker, plan, photos, Epoch(photos));
  EXPECT_FALSE(span.header.has_error()) << span.header.error().message();
  const SpanWriter places(plan.pipeline(), span.header.count(), span.bytes);
  std::vector<std::set<int>> eighths(files.size());
  for (uint32_t index = 0; index < span.header.count(); ++index)
    for (size_t field = 0; field < plan.pipeline().outputs().size(); ++field) {
      const ServerPipeline::Output& output = plan.pipeline().outputs()[field];
      if (!output.image) continue;
      const std::span<const uint8_t> slot = places.Slot(field, index);
      for (uint32_t view = 0; view < output.view_count; ++view) {
        int used = 8;
        const Bytes alone = Alone(plan, output, view, files[span.header.sample_ids(index)], index, used);
        const std::span<const uint8_t> made = slot.subspan(view * alone.size(), alone.size());
        EXPECT_TRUE(std::equal(made.begin(), made.end(), alone.begin(), alone.end()))
            << output.field.name() << " " << view << " of sample " << index;
        eighths[index].insert(used);
      }
    }
  return eighths;
}

TEST(SpanMakerTest, ReadsWhatThePipelineSendsAndNoMore) {
  class Watched final : public Photos {
   public:
    using Photos::Photos;
    absl::Status Read(uint64_t id, SampleBytes& sample) const override {
      wanted = sample.wanted;
      return Photos::Read(id, sample);
    }
    mutable FieldSet wanted;
  };
  const Watched dataset({Bytes()});
  SpanMaker maker({.max_pixels = kMaxPixels});
  const Span labels = Make(maker, Plan("fields: 'label'", dataset), dataset, Epoch(dataset));
  EXPECT_FALSE(labels.header.has_error()) << "no image is decoded";
  EXPECT_FALSE(dataset.wanted.Has(0));
  EXPECT_TRUE(dataset.wanted.Has(1));
  Make(maker, Plan("ops { resize { size: 8 size: 8 } }", dataset), dataset, Epoch(dataset));
  EXPECT_EQ(dataset.wanted, FieldSet::All());
}

TEST(SpanMakerTest, EachViewIsWhatItWouldBeAlone) {
  std::vector<Bytes> files;
  for (uint64_t i = 0; i < 12; ++i) files.push_back(Jpeg(i, {500, 700}));
  const auto eighths = ExpectViewsAsAlone(files);
  EXPECT_TRUE(std::any_of(eighths.begin(), eighths.end(), [](const auto& sizes) { return sizes.size() >= 3; }));
}

TEST(SpanMakerTest, ViewsOfWhatCannotBeReducedAreWhatTheyWouldBeAlone) {
  std::vector<Bytes> files;
  for (const SelfCheckImage& image : kSelfCheckImages) files.push_back(SmallFile(image.name));
  for (const auto& sizes : ExpectViewsAsAlone(files)) EXPECT_THAT(sizes, testing::ElementsAre(8));
}

// A thousand views, each of them changed up to 64 times.
std::string ManyViews() {
  std::string views;
  for (int group = 0; group < 16; ++group)
    absl::StrAppend(&views, "views { name: 'view", group, "' count: 64 ops { resize { size: 8 size: 8 } } ",
                    "ops { rand_augment { num_ops: 64 } } } ");
  return views;
}

TEST(SpanMakerTest, ViewsThatArePlannedTwiceAreWhatTheyWouldBeAlone) {
  ExpectViewsAsAlone({Jpeg(1, {40, 40})}, ManyViews());
}

// Bytes of the most memory that the process has had since the last call.
uint64_t PeakSinceLastCall() {
  std::ifstream status("/proc/self/status");
  std::string line;
  uint64_t kib = 0;
  while (std::getline(status, line))
    if (line.rfind("VmHWM:", 0) == 0) kib = std::stoull(line.substr(6));
  std::ofstream("/proc/self/clear_refs") << 5;
  return kib << 10;
}

TEST(SpanMakerTest, PlansOfManyViewsTakeLittleMemory) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep what was freed";
  const Photos photos({Jpeg(1, {40, 40})});
  const StreamPlan plan = Plan(ManyViews(), photos);
  SpanMaker maker({kMaxPixels});
  PeakSinceLastCall();
  const uint64_t before = PeakSinceLastCall();
  EXPECT_FALSE(Make(maker, plan, photos, {0, 0, 1}).header.has_error());
  EXPECT_LT(PeakSinceLastCall() - before, uint64_t{16} << 20);
}

double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Blurs, turns and resizes of one large image.
std::string LongPipeline() {
  std::string ops = "ops { resize { size: 700 size: 700 } } ";
  for (int i = 0; i < 8; ++i)
    ops +=
        "ops { gaussian_blur { kernel_size: 31 } } "
        "ops { random_rotation { degrees: 20 interpolation: INTERPOLATION_BILINEAR } } ";
  return ops;
}

TEST(SpanMakerTest, ASampleThatNobodyWaitsForIsGivenUpInTheMiddle) {
  const Photos photos({Jpeg(1, {600, 700})});
  const StreamPlan plan = Plan(LongPipeline(), photos);
  SpanMaker maker({kMaxPixels});
  Bytes bytes(plan.SpanBytes({0, 0, 1}));
  int asked = 0;
  const auto make = [&](int raised_at) {
    asked = 0;
    const double begun = ThreadSeconds();
    const Interrupt interrupt(
        [&] { return ++asked < raised_at ? absl::OkStatus() : absl::CancelledError("nobody waits"); });
    const v1::SpanHeader header = maker.Make(plan, photos, {0, 0, 1}, bytes, interrupt);
    EXPECT_EQ(header.has_error(), raised_at <= asked);
    if (header.has_error()) {
      EXPECT_THAT(header.error().message(), HasSubstr("nobody waits"));
      EXPECT_EQ(header.error().kind(), v1::ERROR_KIND_MACHINE);
    }
    return ThreadSeconds() - begun;
  };
  make(INT_MAX);
  const double whole = make(INT_MAX);
  const int asks = asked;
  EXPECT_GT(asks, 16 * 700 / kInterruptRows);
  for (int raised_at : {1, 5, asks / 2, asks}) {
    make(raised_at);
    EXPECT_EQ(asked, raised_at);
  }
  EXPECT_LT(make(asks / 10), whole / 2);
}

TEST(SpanMakerTest, RefusesASampleThatTakesTooLongWithTheFigures) {
  const Photos photos({Jpeg(1, {600, 700})});
  const StreamPlan plan = Plan(LongPipeline(), photos);
  SpanMaker maker({kMaxPixels, /*seconds=*/0.01});
  const Span span = Make(maker, plan, photos, Epoch(photos));
  EXPECT_EQ(span.header.error().kind(), v1::ERROR_KIND_MACHINE);
  EXPECT_THAT(span.header.error().message(), HasSubstr("700×600 pixels would take about"));
  EXPECT_THAT(span.header.error().message(), HasSubstr("limits.sample_seconds is 0.01"));
}

TEST(SpanMakerTest, NamesTheSampleWhoseBytesAreBad) {
  Bytes damaged = Jpeg(1, {64, 64});
  damaged.resize(damaged.size() / 2);
  const Photos photos({damaged});
  SpanMaker maker({kMaxPixels});
  const Span span = Make(maker, Plan(kViews, photos), photos, Epoch(photos));
  EXPECT_EQ(span.header.error().kind(), v1::ERROR_KIND_SAMPLE);
  EXPECT_THAT(span.header.error().message(), HasSubstr("photo/0"));
}

TEST(SpanMakerTest, BlamesThisServerForImagesAboveItsLimit) {
  const Photos photos({Jpeg(1, {64, 64})});
  const StreamPlan enlarging = Plan("ops { resize { size: 200 size: 200 } } ops { center_crop { size: 8 } }", photos);
  const StreamPlan small = Plan("ops { center_crop { size: 8 } }", photos);
  SpanMaker maker({64 * 64}), smaller({64 * 64 - 1});
  EXPECT_FALSE(Make(maker, small, photos, Epoch(photos)).header.has_error());
  for (const Span& span :
       {Make(maker, enlarging, photos, Epoch(photos)), Make(smaller, small, photos, Epoch(photos))}) {
    EXPECT_EQ(span.header.error().kind(), v1::ERROR_KIND_MACHINE);
    EXPECT_THAT(span.header.error().message(), HasSubstr("max_pixels"));
  }
}

}  // namespace
}  // namespace stoker
