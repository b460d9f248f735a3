#ifndef STOKER_COMMON_OPS_DEVICE_TRAITS_H_
#define STOKER_COMMON_OPS_DEVICE_TRAITS_H_

#include "common/fields/image_size.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The pass over an image of uint8 that a device runs an op as.
enum class DevicePass {
  kNone,      // It works on other data: floats, labels, the image's layout.
  kGather,    // Takes each output pixel from a place in the input: crops, resizes, flips, turns.
  kResample,  // Resizes as the server does: weighs the pixels around each output pixel's place, along one axis at a
              // time.
  kColors,    // Makes a new color of each pixel's.
  kSharpen,
  kBlur,
  kMask,
  kErase,
  kPolicy,  // One of kGather, kColors and kSharpen, or none, several times; the sample draws which.
};

// What decides how a device runs an op on an image of uint8, and with which others in one pass. A value.
struct DeviceTraits {
  DevicePass pass = DevicePass::kNone;

  // What a gather does. The other passes leave these alone, but for kResample, which is a kResize.
  enum class Geometry { kFlip, kCrop, kPad, kResize, kTurn };
  Geometry geometry = Geometry::kFlip;
  v1::Interpolation interpolation = v1::INTERPOLATION_UNSPECIFIED;  // set by kResize only
  bool antialias = false;                                           // kResample only
  bool may_fill = false;                                            // Pixels from beyond the image may show.
  bool mirrors = false;  // Pixels from beyond the image are its own, mirrored or repeated.

  // kColors only: how many changes of color the op draws at most, and whether one may need the image's mean, or the
  // histograms of its channels.
  int most_colors = 0;
  bool contrast = false, histogram = false;

  int most_changes = 0;  // kPolicy only: how many changes the op draws at most

  ImageSize kernel;  // kBlur only, in pixels

  bool one_level = true;   // The color that it fills or paints with is the same number for all channels.
  bool on_floats = false;  // It may come after ToDtype too.
};

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_DEVICE_TRAITS_H_
