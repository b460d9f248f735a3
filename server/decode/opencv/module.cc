#include "server/decode/opencv/module.h"

#include <cstdio>
#include <iostream>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <streambuf>

using stoker::OpencvResult;

namespace {

// Takes what is written, and keeps nothing. It has no state, so that several threads may write at once.
class Nowhere : public std::streambuf {
  int_type overflow(int_type character) override { return traits_type::not_eof(character); }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

// Keeps OpenCV's own lines from stderr, where they would stand between those of the log: what cannot be decoded is told
// by the result. It writes some of them to std::cerr (imdecode), others to its log and by its error handler.
bool Silence() {
  static auto* const nowhere = new Nowhere;  // It outlives std::cerr, which is flushed as the process ends.
  std::cerr.rdbuf(nowhere);
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  cv::redirectError([](int, const char*, const char*, const char*, int, void*) { return 0; });
  return true;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) OpencvResult stoker_opencv_decode(const uint8_t* file,
                                                                                    size_t file_bytes, int64_t height,
                                                                                    int64_t width, uint8_t* rgbx,
                                                                                    char* reason,
                                                                                    size_t reason_bytes) try {
  [[maybe_unused]] static const bool silenced = Silence();
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
