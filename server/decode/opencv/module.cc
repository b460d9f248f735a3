#include "server/decode/opencv/module.h"

#include <cstdio>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

extern "C" __attribute__((visibility("default"))) bool stoker_opencv_decode(const uint8_t* file, size_t file_bytes,
                                                                            int64_t height, int64_t width,
                                                                            uint8_t* rgbx, char* reason,
                                                                            size_t reason_bytes) try {
  const cv::Mat bytes(1, static_cast<int>(file_bytes), CV_8UC1, const_cast<uint8_t*>(file));
  const cv::Mat bgr = cv::imdecode(bytes, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  if (bgr.type() != CV_8UC3 || bgr.rows != height || bgr.cols != width) {
    std::snprintf(
        reason, reason_bytes,
        bgr.empty() ? "it is damaged, or of a kind that OpenCV lacks" : "it has another size than its header says");
    return false;
  }
  for (int y = 0; y < bgr.rows; ++y) {
    const uint8_t* row = bgr.ptr<uint8_t>(y);
    for (int x = 0; x < bgr.cols; ++x, rgbx += 4) {
      for (int channel = 0; channel < 3; ++channel) rgbx[channel] = row[3 * x + 2 - channel];
    }
  }
  return true;
} catch (const cv::Exception& error) {
  std::snprintf(reason, reason_bytes, "%s", error.err.c_str());
  return false;
}
