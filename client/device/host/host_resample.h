#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_RESAMPLE_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_RESAMPLE_H_

#include <cstdint>
#include <vector>

#include "common/pipeline/device_program.h"

namespace stoker {

// Runs kResample on the CPU. One thread at a time; scratch is kept from image to image.
class HostResampler {
 public:
  // Resizes the rectangle `draw` of the image at `in`, of step.in × `channels` bytes, to step.out, and writes it to
  // `out`.
  void Run(const DeviceStep& step, const ResampleDraw& draw, int64_t channels, const uint8_t* in, uint8_t* out);

 private:
  // The taps of all output pixels along one axis.
  struct Axis {
    int64_t taps = 0;
    std::vector<int32_t> first, weights;  // `taps` weights for each output pixel
  };

  // A rectangle of the input. Rows are `stride` bytes apart.
  struct Box {
    const uint8_t* pixels;
    int64_t stride;
    ImageSize size;
  };

  void Blend(const Box& box, ImageSize to, int64_t channels, uint8_t* out);
  void Convolve(const Box& box, ImageSize to, int64_t channels, uint8_t* out);

  Axis across_, down_;
  std::vector<uint32_t> sums_;      // one row of the first pass of a blend
  std::vector<uint8_t> levels_;     // all rows of the first pass of a convolution
  std::vector<int32_t> convolved_;  // one row of the second pass of a convolution
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_RESAMPLE_H_
