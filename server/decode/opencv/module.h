#ifndef STOKER_SERVER_DECODE_OPENCV_MODULE_H_
#define STOKER_SERVER_DECODE_OPENCV_MODULE_H_

#include <cstddef>
#include <cstdint>

namespace stoker {

// The one function of stoker-opencv.so, which has C linkage. It decodes `file`, whose header says that it has `height`
// × `width` pixels, to H×W×4 RGBX at `rgbx`. Where it cannot, it writes why to `reason`, ended by a zero within
// `reason_bytes`. It is thread-safe and throws nothing. The first call silences OpenCV, and with it std::cerr for
// good, where nothing of ours writes while images are decoded.
enum class OpencvResult { kDone, kDamaged, kNoMemory };
using OpencvDecode = OpencvResult(const uint8_t* file, size_t file_bytes, int64_t height, int64_t width, uint8_t* rgbx,
                                  char* reason, size_t reason_bytes);

inline constexpr char kOpencvDecodeName[] = "stoker_opencv_decode";

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_OPENCV_MODULE_H_
