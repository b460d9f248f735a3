#include "server/augment/resize/blend.h"

#include <algorithm>
#include <cstring>

#include "server/augment/resize/portable_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/augment/resize/blend.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_HAVE_SCALABLE

void BlendImage(const BlendTask& task) { PortableBlend(task); }

#else

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kRows = BlendSlot::kRows, kSlotBytes = sizeof(BlendSlot);
constexpr int64_t kStep = 4;  // output pixels at a time

// Vectors have one or two blocks of 16 bytes.
constexpr hn::CappedTag<uint8_t, 32> d8;
constexpr hn::Repartition<uint16_t, decltype(d8)> d16;
constexpr hn::Repartition<uint32_t, decltype(d8)> d32;
constexpr hn::Repartition<uint64_t, decltype(d8)> d64;
using V8 = hn::Vec<decltype(d8)>;
using V16 = hn::Vec<decltype(d16)>;
constexpr int64_t kBytes = hn::MaxLanes(d8);

HWY_INLINE V16 Weight(uint32_t twice) { return hn::BitCast(d16, hn::Set(d32, twice)); }

// Stores the blocks of `vector` at `first` and, where there are two, `second`.
template <typename V>
HWY_INLINE void StoreBlocks(V vector, uint8_t* first, uint8_t* second) {
  if constexpr (kBytes == 16) {
    hn::StoreU(hn::BitCast(d8, vector), d8, first);
  } else {
    constexpr hn::Half<decltype(d8)> block;
    hn::StoreU(hn::LowerHalf(hn::BitCast(d8, vector)), block, first);
    hn::StoreU(hn::UpperHalf(block, hn::BitCast(d8, vector)), block, second);
  }
}

// Blends the input rows of two output rows and puts both into the strip beside each other. `strip` is the place of the
// first of the two in the first slot. kTaps is the number of taps, or 0 where any number is possible.
template <int64_t kTaps>
void BlendRows(const BlendTask& task, const int64_t (&outputs)[2], uint8_t* strip) {
  const int64_t taps = kTaps == 0 ? task.down.taps : kTaps;
  const uint8_t* rows[2];
  const uint32_t* weights[2];
  V16 fixed[2][kTaps == 0 ? 1 : kTaps];
  for (int row = 0; row < 2; ++row) {
    rows[row] = task.pixels + task.down.first[outputs[row]] * task.stride;
    weights[row] = &task.down.weights[outputs[row] * taps];
    for (int64_t tap = 0; tap < kTaps; ++tap) fixed[row][tap] = Weight(weights[row][tap]);
  }
  const V8 zero = hn::Zero(d8);
  const V16 mean_loss = hn::Set(d16, static_cast<uint16_t>(taps / 2));
  constexpr int64_t kPixels = kBytes / 4;
  for (int64_t at = 0; at < task.width; at += kPixels) {
    const int64_t x = std::min(at, task.width - kPixels);
    V16 lower[2], upper[2];
    for (int row = 0; row < 2; ++row) {
      lower[row] = upper[row] = mean_loss;
      const uint8_t* from = rows[row] + x * 4;
      for (int64_t tap = 0; tap < taps; ++tap, from += task.stride) {
        const V16 weight = kTaps == 0 ? Weight(weights[row][tap]) : fixed[row][kTaps == 0 ? 0 : tap];
        const V8 pixels = hn::LoadU(d8, from);
        // Pixels become the upper bytes of 16-bit values.
        const V16 low = hn::BitCast(d16, hn::InterleaveLower(d8, zero, pixels));
        const V16 high = hn::BitCast(d16, hn::InterleaveUpper(d8, zero, pixels));
        lower[row] = hn::Add(lower[row], hn::MulHigh(low, weight));
        upper[row] = hn::Add(upper[row], hn::MulHigh(high, weight));
      }
    }
    const auto l0 = hn::BitCast(d64, lower[0]), l1 = hn::BitCast(d64, lower[1]);
    const auto u0 = hn::BitCast(d64, upper[0]), u1 = hn::BitCast(d64, upper[1]);
    uint8_t* slot = strip + x * kSlotBytes;
    StoreBlocks(hn::InterleaveLower(d64, l0, l1), slot, slot + 4 * kSlotBytes);
    StoreBlocks(hn::InterleaveUpper(d64, l0, l1), slot + kSlotBytes, slot + 5 * kSlotBytes);
    StoreBlocks(hn::InterleaveLower(d64, u0, u1), slot + 2 * kSlotBytes, slot + 6 * kSlotBytes);
    StoreBlocks(hn::InterleaveUpper(d64, u0, u1), slot + 3 * kSlotBytes, slot + 7 * kSlotBytes);
  }
}

// Returns the upper bytes of two pixels' 16-bit values: those of `even` in the even bytes, those of `odd` in the odd
// ones.
HWY_INLINE auto UpperBytes(V16 even, V16 odd) {
  return hn::BitCast(d64, hn::Or(hn::ShiftRight<8>(even), hn::And(odd, hn::Set(d16, 0xff00))));
}

// The places of the RGB bytes of four pixels in two results of UpperBytes. The last four of the 16 entries mean
// nothing.
alignas(16) constexpr uint8_t kPackPixels[16] = {0, 2, 4, 1, 3, 5, 8, 10, 12, 9, 11, 13, 0, 0, 0, 0};

// Blends the strip to the output columns x to x + 3. Calls store(row, pixels) for rows of the strip: each 16-byte block
// of `pixels` holds four pixels of a row, the second block those of row + 2.
template <int64_t kTaps, typename Store>
HWY_INLINE void BlendColumns(const BlendTask& task, int64_t x, Store store) {
  const int64_t taps = kTaps == 0 ? task.across.taps : kTaps;
  const V16 start = hn::Set(d16, static_cast<uint16_t>(128 + taps / 2));
  const V8 pack = hn::LoadDup128(d8, kPackPixels);
  const uint32_t* weights = &task.across.weights[x * taps];
  for (int64_t part = 0; part < kSlotBytes; part += kBytes) {
    V16 sums[kStep];
    for (int64_t i = 0; i < kStep; ++i) {
      sums[i] = start;
      const uint8_t* slot = reinterpret_cast<const uint8_t*>(task.strip + task.across.first[x + i]) + part;
      for (int64_t tap = 0; tap < taps; ++tap) {
        const V16 values = hn::Load(d16, reinterpret_cast<const uint16_t*>(slot + tap * kSlotBytes));
        sums[i] = hn::Add(sums[i], hn::MulHigh(values, Weight(weights[i * taps + tap])));
      }
    }
    const auto left = UpperBytes(sums[0], sums[1]), right = UpperBytes(sums[2], sums[3]);
    const int64_t row = part / 8;
    store(row, hn::TableLookupBytes(hn::BitCast(d8, hn::InterleaveLower(d64, left, right)), pack));
    store(row + 1, hn::TableLookupBytes(hn::BitCast(d8, hn::InterleaveUpper(d64, left, right)), pack));
  }
}

template <int64_t kTaps>
void BlendStrip(const BlendTask& task, uint8_t* const (&out)[kRows]) {
  const int64_t width = task.size.width;
  int64_t x = 0;
  // Each store writes 4 bytes too many, which the next pixels overwrite.
  for (; 3 * (x + kStep) + 4 <= 3 * width; x += kStep)
    BlendColumns<kTaps>(task, x, [&](int64_t row, V8 pixels) {
      StoreBlocks(pixels, out[row] + 3 * x, out[(row + 2) % kRows] + 3 * x);
    });
  for (; x < width; x += kStep) {
    x = std::max<int64_t>(std::min(x, width - kStep), 0);
    const int64_t bytes = 3 * std::min(kStep, width);
    BlendColumns<kTaps>(task, x, [&](int64_t row, V8 pixels) {
      uint8_t packed[2][16];
      StoreBlocks(pixels, packed[0], packed[1]);
      std::memcpy(out[row] + 3 * x, packed[0], bytes);
      if constexpr (kBytes > 16) std::memcpy(out[row + 2] + 3 * x, packed[1], bytes);
    });
  }
}

// Calls run with the number of taps as a constant where that is worth its code, else with 0.
template <typename Run>
HWY_INLINE void WithTaps(int64_t taps, Run run) {
  switch (taps) {
    case 2: return run(std::integral_constant<int64_t, 2>());
    case 3: return run(std::integral_constant<int64_t, 3>());
    case 4: return run(std::integral_constant<int64_t, 4>());
    case 5: return run(std::integral_constant<int64_t, 5>());
    case 6: return run(std::integral_constant<int64_t, 6>());
    default: return run(std::integral_constant<int64_t, 0>());
  }
}

void BlendImage(const BlendTask& task) {
  const auto [height, width] = task.size;
  for (int64_t top = 0; top < height; top += kRows) {
    // Where the image ends within a strip, its last row is made several times.
    int64_t rows[kRows];
    uint8_t* out[kRows];
    for (int64_t row = 0; row < kRows; ++row) {
      rows[row] = std::min(top + row, height - 1);
      out[row] = task.out + (task.flip_vertical ? height - 1 - rows[row] : rows[row]) * width * 3;
    }
    for (int64_t row = 0; row < kRows; row += 2)
      WithTaps(task.down.taps, [&](auto taps) {
        BlendRows<taps>(task, {rows[row], rows[row + 1]}, reinterpret_cast<uint8_t*>(task.strip->values[row]));
      });
    WithTaps(task.across.taps, [&](auto taps) { BlendStrip<taps>(task, out); });
  }
}

#endif

}  // namespace stoker::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(BlendImage);
void Blend(const BlendTask& task) { HWY_DYNAMIC_DISPATCH(BlendImage)(task); }

}  // namespace stoker
#endif
