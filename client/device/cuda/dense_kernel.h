#ifndef STOKER_CLIENT_DEVICE_CUDA_DENSE_KERNEL_H_
#define STOKER_CLIENT_DEVICE_CUDA_DENSE_KERNEL_H_

#include <cstdint>

#include "client/device/cuda/kernel_arguments.h"
#include "client/device/cuda/kernel_code.h"
#include "common/fields/number.h"

namespace stoker {

// Makes the arrays that sparse samples stand for. A thread makes one element, and looks for its place among the
// sample's, which ascend: so none is written twice, and nothing is set to 0 before.
struct DenseKernel {
  static constexpr uint32_t kThreads = 256;
  static constexpr int kPhases = 1;
  struct Shared {};

  static Grid GridOf(const DenseArguments& a) {
    return {(static_cast<uint32_t>(a.elements) + kThreads - 1) / kThreads, static_cast<uint32_t>(a.samples), kThreads};
  }

  STOKER_KERNEL_CODE static int64_t PlaceAt(const DenseArguments& a, int64_t i) {
    return a.wide ? static_cast<const int64_t*>(a.places)[i] : static_cast<const int32_t*>(a.places)[i];
  }

  STOKER_KERNEL_CODE static void Run(int, const DenseArguments& a, Place place, Shared&) {
    const uint32_t element = place.block_x * kThreads + place.thread;
    if (element >= static_cast<uint32_t>(a.elements)) return;
    int64_t first = a.offsets[place.block_y], last = a.offsets[place.block_y + 1];
    const int64_t end = last;
    while (first < last) {
      const int64_t middle = first + (last - first) / 2;
      if (PlaceAt(a, middle) < element) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    const bool is_there = first < end && PlaceAt(a, first) == element;
    Store(a, is_there ? first : -1, a.out + (static_cast<int64_t>(place.block_y) * a.elements + element) * a.out_bytes);
  }

  // Writes value number `i`, or 0 where that is −1.
  STOKER_KERNEL_CODE static void Store(const DenseArguments& a, int64_t i, uint8_t* out) {
    const ScaleArguments& values = a.values;
    if (i >= 0 && a.scales) {
      float x = LoadNumber(values.from, values.in + i * ByteSize(values.from));
      if (values.period > 0) {
        x = x * values.scale[0];
        x = x + values.bias[0];
      }
      StoreFloat(values.to, x, out);
    } else if (i >= 0 && values.in == nullptr) {
      StoreFloat(Number::kFloat32, 1, out);
    } else {
      for (int32_t byte = 0; byte < a.out_bytes; ++byte) out[byte] = i < 0 ? 0 : values.in[i * a.out_bytes + byte];
    }
  }
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_CUDA_DENSE_KERNEL_H_
