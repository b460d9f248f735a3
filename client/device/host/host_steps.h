#ifndef STOKER_CLIENT_DEVICE_HOST_HOST_STEPS_H_
#define STOKER_CLIENT_DEVICE_HOST_HOST_STEPS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "common/pipeline/device_program.h"

namespace stoker {

// Runs the steps of device ops on the CPU, written for reading: what other devices are held to. One thread at a time;
// keeps scratch from image to image.
class HostSteps {
 public:
  // Runs `steps`, with what one sample drew for each, on an image of H×W×`channels` bytes at `in`. Returns the last
  // one's image: scratch that is good until the next call, or `in` itself where nothing is done.
  const uint8_t* Run(std::span<const DeviceStep> steps, std::span<const StepDraw> draws, int64_t channels,
                     const uint8_t* in);

 private:
  std::vector<uint8_t> image_, made_;
  std::vector<int16_t> sums_;   // Of a blur's first pass.
  std::vector<uint8_t> drawn_;  // Of a mask.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_HOST_HOST_STEPS_H_
