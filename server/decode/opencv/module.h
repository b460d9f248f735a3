#ifndef STOKER_SERVER_DECODE_OPENCV_MODULE_H_
#define STOKER_SERVER_DECODE_OPENCV_MODULE_H_

#include <cstddef>
#include <cstdint>

namespace stoker {

// The one function of stoker-opencv.so, under a name without C++'s decoration. Decodes `file`, which says of itself
// that it shows height × width pixels, to H×W×4 RGBX at `rgbx`. Says why in `reason` where it cannot. Thread-safe.
enum class OpencvResult { kDone, kDamaged, kNoMemory };
using OpencvDecode = OpencvResult(const uint8_t* file, size_t file_bytes, int64_t height, int64_t width, uint8_t* rgbx,
                                  char* reason, size_t reason_bytes);

inline constexpr char kOpencvDecodeName[] = "stoker_opencv_decode";

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_OPENCV_MODULE_H_
