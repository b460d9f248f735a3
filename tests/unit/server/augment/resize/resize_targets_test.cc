// Resizer has code for several sets of instructions. These tests run each of them and expect the same bytes.

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "server/augment/resize/resize.h"
#include "tests/unit/server/augment/noise.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint8_t kGuard = 0xa5;
constexpr size_t kGuardBytes = 64;

// With a fourth byte of noise; the last row ends where the memory does.
struct RgbxNoise {
  explicit RgbxNoise(ImageSize size, int64_t row_padding = 0) : size(size), stride((size.width + row_padding) * 4) {
    const Bytes rgb = Noise({size.height, size.width + row_padding + size.width});
    pixels.assign(rgb.begin(), rgb.begin() + stride * (size.height - 1) + size.width * 4);
  }
  ImageView view() const { return {pixels.data(), size, stride, 4}; }

  ImageSize size;
  ptrdiff_t stride;
  Bytes pixels;
};

Bytes RgbOf(const ImageView& in) {
  Bytes out;
  for (int64_t y = 0; y < in.size.height; ++y)
    for (int64_t x = 0; x < in.size.width; ++x) out.insert(out.end(), in.At(y, x), in.At(y, x) + 3);
  return out;
}

// All tasks of the tests on images `rgbx` and, the same without the fourth byte, `rgb`.
std::vector<ResizeTask> Tasks(const ImageView& rgbx, const ImageView& rgb) {
  const double height = static_cast<double>(rgb.size.height), width = static_cast<double>(rgb.size.width);
  std::vector<ResizeTask> tasks;
  for (const ImageView& in : {rgbx, rgb})
    for (const Box& box : {Box{0, 0, height, width}, Box{height / 3, width / 7, height / 2, width / 1.7}})
      for (ImageSize to : {ImageSize{1, 1}, ImageSize{3, 2}, ImageSize{9, 5}, ImageSize{6, 15}, ImageSize{21, 34}})
        for (auto interpolation : {v1::INTERPOLATION_NEAREST, v1::INTERPOLATION_BILINEAR, v1::INTERPOLATION_BICUBIC,
                                   v1::INTERPOLATION_LANCZOS})
          for (bool antialias : {true, false})
            for (int flips = 0; flips < 4; ++flips)
              tasks.push_back({in, box, to, interpolation, antialias, (flips & 1) != 0, (flips & 2) != 0});
  return tasks;
}

// What a resizer writes, with bytes before and after that it must leave alone.
Bytes GuardedResize(Resizer& resizer, const ResizeTask& task) {
  Bytes out(task.size.height * task.size.width * 3 + 2 * kGuardBytes, kGuard);
  resizer.Resize(task, out.data() + kGuardBytes);
  return out;
}

// Output of all tasks on images of these sizes.
std::vector<Bytes> ResizeAll() {
  std::vector<Bytes> all;
  Resizer resizer;
  for (ImageSize size : {ImageSize{1, 1}, ImageSize{2, 7}, ImageSize{13, 8}, ImageSize{19, 37}, ImageSize{150, 97}}) {
    const RgbxNoise rgbx(size, 3);
    const Bytes rgb = RgbOf(rgbx.view());
    for (const ResizeTask& task : Tasks(rgbx.view(), ViewOf(rgb, size))) all.push_back(GuardedResize(resizer, task));
  }
  return all;
}

// Lets kernels be chosen from `targets` alone while it lives.
class OnlyTargets {
 public:
  explicit OnlyTargets(int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~OnlyTargets() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST(ResizeTargetsTest, EachGivesTheSameBytes) {
  const std::vector<Bytes> expected = ResizeAll();
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  ASSERT_FALSE(targets.empty());
  for (int64_t target : targets) {
    const OnlyTargets only(target);
    EXPECT_EQ(ResizeAll(), expected) << hwy::TargetName(target);
  }
}

TEST(ResizeTargetsTest, NothingIsWrittenBesideAnImage) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const OnlyTargets only(target);
    for (const Bytes& guarded : ResizeAll()) {
      ASSERT_TRUE(std::all_of(guarded.begin(), guarded.begin() + kGuardBytes, [](uint8_t b) { return b == kGuard; }));
      ASSERT_TRUE(std::all_of(guarded.end() - kGuardBytes, guarded.end(), [](uint8_t b) { return b == kGuard; }));
    }
  }
}

TEST(ResizeTargetsTest, TheFourthByteOfAPixelSaysNothing) {
  const ImageSize size = {33, 29};
  const RgbxNoise rgbx(size);
  const Bytes rgb = RgbOf(rgbx.view());
  const std::vector<ResizeTask> tasks = Tasks(rgbx.view(), ViewOf(rgb, size));
  Resizer resizer;
  for (size_t i = 0; i < tasks.size() / 2; ++i)
    EXPECT_EQ(GuardedResize(resizer, tasks[i]), GuardedResize(resizer, tasks[tasks.size() / 2 + i])) << i;
}

}  // namespace
}  // namespace stoker
