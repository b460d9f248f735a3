#include "server/decode/opencv/module.h"

#include <cstdio>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

using stoker::OpencvResult;

extern "C" __attribute__((visibility("default"))) OpencvResult stoker_opencv_decode(const uint8_t* file,
                                                                                    size_t file_bytes, int64_t height,
                                                                                    int64_t width, uint8_t* rgbx,
                                                                                    char* reason,
                                                                                    size_t reason_bytes) try {
  const cv::Mat bytes(1, static_cast<int>(file_bytes), CV_8UC1, const_cast<uint8_t*>(file));
  // The image is allocated here, because OpenCV reports the same for too little memory as for a damaged file. It starts
  // black, because a damaged file may leave some pixels out.
  cv::Mat bgr(static_cast<int>(height), static_cast<int>(width), CV_8UC3, cv::Scalar::all(0));
  const cv::Mat made = cv::imdecode(bytes, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION, &bgr);
  if (made.type() != CV_8UC3 || made.rows != height || made.cols != width) {
    std::snprintf(
        reason, reason_bytes,
        made.empty() ? "it is damaged, or of a kind that OpenCV lacks" : "it has another size than its header says");
    return OpencvResult::kDamaged;
  }
  for (int y = 0; y < made.rows; ++y) {
    const uint8_t* row = made.ptr<uint8_t>(y);
    for (int x = 0; x < made.cols; ++x, rgbx += 4) {
      for (int channel = 0; channel < 3; ++channel) rgbx[channel] = row[3 * x + 2 - channel];
    }
  }
  return OpencvResult::kDone;
} catch (const cv::Exception& error) {
  std::snprintf(reason, reason_bytes, "%s", error.err.c_str());
  return error.code == cv::Error::StsNoMem ? OpencvResult::kNoMemory : OpencvResult::kDamaged;
} catch (const std::bad_alloc&) {
  std::snprintf(reason, reason_bytes, "no memory for its pixels");
  return OpencvResult::kNoMemory;
}
