#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_STEPS_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_STEPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "client/device/host/host_resample.h"
#include "common/pipeline/device_program.h"

namespace stoker {

// Writes what `gather` shows of the image at `in`, of step.in × `channels` bytes, to `out`, of step.out. A pure
// function, thread-safe.
void RunGather(const GatherDraw& gather, const DeviceStep& step, int64_t channels, const uint8_t* in, uint8_t* out);

// Runs the steps of device ops on the CPU. It is written to be read, and other devices are tested against it. One
// thread at a time; scratch is kept from image to image.
class HostSteps {
 public:
  // Runs `steps`, with what one sample drew for each, on an image of H×W×`channels` bytes at `in`. Returns the last
  // step's image. This is scratch, valid until the next call, or `in` itself if no step did anything.
  const uint8_t* Run(std::span<const DeviceStep> steps, std::span<const StepDraw> draws, int64_t channels,
                     const uint8_t* in);

 private:
  std::vector<uint8_t> image_, made_;
  HostResampler resampler_;
  std::vector<int16_t> sums_;   // result of a blur's first pass
  std::vector<uint8_t> drawn_;  // pixels that a mask drew, 0 or 1 each
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_STEPS_H_
