#include "client/device/host/host_noise.h"

#include "client/device/noise_quantiles.h"
#include "client/device/pixel_arithmetic.h"

namespace stoker {

void EraseWithNoise(const DevicePipeline::ImageProgram& program, const EraseDraw& erase, float* image) {
  const std::vector<float>& quantiles = NoiseQuantiles();
  const auto [height, width] = program.out;
  const int64_t channels = program.channels, plane = height * width;
  std::array<uint32_t, 4> block = {};
  int64_t made = -1;  // the number of `block`
  for (int64_t y = erase.top; y < erase.top + erase.size.height; ++y)
    for (int64_t x = erase.left; x < erase.left + erase.size.width; ++x)
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t pixel = y * width + x, i = pixel * channels + c;
        if (i / 8 != made) block = PhiloxBlock(erase.key, erase.position, made = i / 8);
        float& value = image[program.channels_first ? c * plane + pixel : i];
        value = quantiles[RandomBits(block, i)] * program.erase_scale[c];
        value = value + program.erase_value[c];
      }
}

}  // namespace stoker
