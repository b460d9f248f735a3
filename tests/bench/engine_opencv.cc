#include <memory>
#include <variant>

#include "common/check.h"
#include "opencv2/core.hpp"
#include "opencv2/imgcodecs.hpp"
#include "opencv2/imgproc.hpp"
#include "tests/bench/engine_ways.h"

namespace stoker {
namespace {

class Loader {
 public:
  explicit Loader(int interpolation)
      : interpolation_(interpolation),
        pipeline_(*ServerPipeline::Create(TrainingPipeline(v1::JPEG_SCALING_EXACT), FileSchema())) {
    cv::setNumThreads(1);
  }

  void Load(const std::vector<uint8_t>& file, uint64_t pass, uint64_t position) {
    cv::imdecode(file, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION, &image_);
    const auto ops = pipeline_.Draw(pipeline_.outputs()[0], 0, {image_.rows, image_.cols}, 0, pass, position);
    STOKER_CHECK(ops.ok());
    cv::Mat made = image_;  // Shares the pixels. An op that changes nothing is not among the drawn ones.
    for (const OpParameters& op : *ops) {
      if (const auto* crop = std::get_if<CropParameters>(&op)) made = made(BoxOf(*crop));
      if (const auto* resize = std::get_if<ResizeParameters>(&op)) made = Resize(made, resize->size);
      if (std::holds_alternative<FlipParameters>(op)) cv::flip(made, made, 1);
    }
    cv::cvtColor(made, out_, cv::COLOR_BGR2RGB);
  }

 private:
  static cv::Rect BoxOf(const CropParameters& crop) {
    return cv::Rect(static_cast<int>(crop.left), static_cast<int>(crop.top), static_cast<int>(crop.size.width),
                    static_cast<int>(crop.size.height));
  }

  const cv::Mat& Resize(const cv::Mat& image, ImageSize size) {
    const cv::Size to(static_cast<int>(size.width), static_cast<int>(size.height));
    cv::resize(image, resized_, to, 0, 0, interpolation_);
    return resized_;
  }

  const int interpolation_;
  const ServerPipeline pipeline_;
  cv::Mat image_, resized_, out_;
};

Way ImdecodeWay(std::string name, int interpolation, const Photos& photos) {
  auto loader = std::make_shared<Loader>(interpolation);
  Way way = OneByOne(std::move(name), photos, [&photos, loader](size_t file, uint64_t pass) {
    loader->Load(photos.samples[file].fields[0], pass, file);
  });
  way.version = std::string("OpenCV ") + CV_VERSION;
  return way;
}

}  // namespace

std::vector<Way> OpenCv(const Photos& photos) {
  return {ImdecodeWay("cv::imdecode + linear", cv::INTER_LINEAR, photos),
          ImdecodeWay("cv::imdecode + area", cv::INTER_AREA, photos)};
}

}  // namespace stoker
