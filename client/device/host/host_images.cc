#include "client/device/host/host_images.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/device/host/host_image.h"
#include "client/device/host/host_mix.h"
#include "client/device/host/host_noise.h"
#include "client/device/host/host_steps.h"
#include "common/fields/schema.h"

namespace stoker {
namespace {

// The images of one batch, in elements of T: uint8_t if that is the program's dtype, float otherwise.
template <typename T>
class BatchImages {
 public:
  BatchImages(const DevicePipeline& pipeline, int field, const HostBatch& batch, const uint8_t* in, uint8_t* out)
      : pipeline_(pipeline),
        program_(pipeline.ImagesOf(field)),
        batch_(batch),
        field_(field),
        in_(in),
        out_(out),
        elements_(program_.out.height * program_.out.width * program_.channels) {}

  void Make() {
    if (program_.mixes_pixels || program_.mixes_rectangles) return MakeMixed();
    for (int64_t row = 0; row < batch_.rows() * program_.count; ++row) {
      if (is_final()) {
        MakeUnmixed(row, reinterpret_cast<T*>(Out(row)));
      } else {
        own_.resize(elements_);
        MakeUnmixed(row, own_.data());
        Store(own_, row);
      }
    }
  }

 private:
  // True if T is the program's dtype, so that no rounding is needed.
  bool is_final() const { return ByteSize(program_.dtype) == sizeof(T); }

  uint8_t* Out(int64_t row) const { return out_ + row * elements_ * ByteSize(program_.dtype); }

  // Makes one row's image, without mixing and rounding. Of views each is a row.
  void MakeUnmixed(int64_t row, T* out) {
    const SampleDraw draw = pipeline_.DrawOf(field_, row % program_.count, batch_.seed, batch_.epoch,
                                             batch_.positions[row / program_.count]);
    const uint8_t* came = in_ + row * program_.height * program_.width * program_.channels;
    TransformImage(program_, draw.flips, steps_.Run(program_.steps, draw.steps, program_.channels, came), out,
                   scratch_);
    if constexpr (std::is_same_v<T, float>) {
      if (program_.erases_with_noise) return EraseWithNoise(program_, draw.erase, out);
      if (program_.erases) EraseFloats(program_, draw.erase, out);
    }
  }

  // Makes all rows, each mixed with the row before it, and the first with the last. It goes from the last row to the
  // first.
  void MakeMixed() {
    const int64_t rows = batch_.rows();
    if (rows == 0) return;
    const std::vector<BatchDraw> draws =
        pipeline_.DrawRows(batch_.seed, batch_.epoch, batch_.FirstPosition(), batch_.positions);
    for (std::vector<T>* image : {&own_, &other_, &last_}) image->resize(elements_);
    MakeUnmixed(rows - 1, last_.data());
    own_ = last_;
    for (int64_t row = rows - 1; row >= 0; --row) {
      if (row > 0) {
        MakeUnmixed(row - 1, other_.data());
      } else {
        other_ = last_;
      }
      MixImages(program_, draws[row], other_.data(), own_.data());
      Store(own_, row);
      std::swap(own_, other_);
    }
  }

  void Store(const std::vector<T>& image, int64_t row) {
    if constexpr (std::is_same_v<T, float>) {
      RoundTo(program_.dtype, image, Out(row));
    } else {
      std::copy(image.begin(), image.end(), Out(row));
    }
  }

  const DevicePipeline& pipeline_;
  const DevicePipeline::ImageProgram& program_;
  const HostBatch& batch_;
  const int field_;
  const uint8_t* const in_;
  uint8_t* const out_;
  const int64_t elements_;  // elements of one image
  HostSteps steps_;
  std::vector<uint8_t> scratch_;
  std::vector<T> own_, other_, last_;
};

}  // namespace

void TransformImages(const DevicePipeline& pipeline, int field, const HostBatch& batch, const uint8_t* in,
                     uint8_t* out) {
  if (pipeline.ImagesOf(field).dtype == v1::DTYPE_UINT8) {
    BatchImages<uint8_t>(pipeline, field, batch, in, out).Make();
  } else {
    BatchImages<float>(pipeline, field, batch, in, out).Make();
  }
}

}  // namespace stoker
