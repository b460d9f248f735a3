#include "server/augment/resize/portable_kernels.h"

#include <algorithm>

namespace stoker {
namespace {

uint32_t MulHigh(uint32_t value, uint32_t weight) { return value * (weight & 0xffff) >> 16; }

// Blends the input rows of output row `y` into `slots`, RGBX with 8 fraction bits.
void BlendRow(const BlendTask& task, int64_t y, uint16_t* slots) {
  const BlendWeights& down = task.down;
  const uint8_t* row = task.pixels + down.first[y] * task.stride;
  for (int64_t i = 0; i < task.width * 4; ++i) {
    uint32_t sum = down.taps / 2;
    for (int64_t tap = 0; tap < down.taps; ++tap)
      sum += MulHigh(row[tap * task.stride + i] << 8, down.weights[y * down.taps + tap]);
    slots[i] = static_cast<uint16_t>(sum);
  }
}

void BlendColumns(const BlendTask& task, const uint16_t* slots, uint8_t* out) {
  const BlendWeights& across = task.across;
  for (int64_t x = 0; x < task.size.width; ++x) {
    for (int64_t channel = 0; channel < 3; ++channel) {
      uint32_t sum = 128 + across.taps / 2;
      for (int64_t tap = 0; tap < across.taps; ++tap)
        sum += MulHigh(slots[(across.first[x] + tap) * 4 + channel], across.weights[x * across.taps + tap]);
      *out++ = static_cast<uint8_t>(sum >> 8);
    }
  }
}

constexpr int32_t kHalf = 1 << (PairWeights::kFractionBits - 1);

uint8_t ClampedPixel(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> PairWeights::kFractionBits, 0, 255));
}

}  // namespace

void PortableBlend(const BlendTask& task) {
  const auto [height, width] = task.size;
  uint16_t* slots = task.strip->values[0];
  for (int64_t y = 0; y < height; ++y) {
    BlendRow(task, y, slots);
    BlendColumns(task, slots, task.out + (task.flip_vertical ? height - 1 - y : y) * width * 3);
  }
}

void PortableConvolveRows(const ConvolveRowsTask& task) {
  const int64_t taps = 2 * task.weights.pair_count;
  for (int64_t row = 0; row < ConvolveRowsTask::kRows; ++row)
    for (int64_t x = 0; x < task.outputs; ++x)
      for (int64_t channel = 0; channel < 4; ++channel) {
        int32_t sum = kHalf;
        const int64_t first = task.weights.first[x], end = std::min(first + taps, task.width);
        for (int64_t source = first; source < end; ++source) {
          const int64_t tap = source - first;
          sum += task.weights.Of(x)[tap / 2].Get(tap % 2) * task.in[row][source * 4 + channel];
        }
        task.out[row][x * 4 + channel] = ClampedPixel(sum);
      }
}

void PortableConvolveColumns(const ConvolveColumnsTask& task) {
  uint8_t* out = task.out;
  for (int64_t x = 0; x < task.width; ++x)
    for (int64_t channel = 0; channel < 3; ++channel) {
      int32_t sum = kHalf;
      for (int64_t tap = 0; tap < 2 * task.pair_count; ++tap)
        sum += task.weights[tap / 2].Get(tap % 2) * task.rows[tap][x * 4 + channel];
      *out++ = ClampedPixel(sum);
    }
}

}  // namespace stoker
