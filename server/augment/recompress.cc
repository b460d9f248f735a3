#include "server/augment/recompress.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/status_macros.h"
#include "server/augment/pixel.h"
#include "server/decode/libjpeg_destination.h"
#include "server/decode/libjpeg_errors.h"

namespace stoker {
namespace {

void IgnoreMessage(j_common_ptr, int) {}

// Compresses one image. Use it once.
class JpegCompressor {
 public:
  JpegCompressor() { jpeg_.err = errors_.Set(IgnoreMessage); }
  ~JpegCompressor() { jpeg_destroy_compress(&jpeg_); }
  JpegCompressor(const JpegCompressor&) = delete;
  JpegCompressor& operator=(const JpegCompressor&) = delete;

  absl::StatusOr<std::vector<uint8_t>> Run(int quality, ImageSize size, uint8_t* rgb) {
    if (!errors_.Run([&] { Write(quality, size, rgb); }))
      return errors_.Reason(reinterpret_cast<j_common_ptr>(&jpeg_), "JPEG: ");
    return destination_.Take();
  }

 private:
  void Write(int quality, ImageSize size, uint8_t* rgb) {
    jpeg_create_compress(&jpeg_);
    jpeg_.mem->max_memory_to_use = 0;  // 0 is no limit, so that the environment variable JPEGMEM changes nothing.
    destination_.Attach(&jpeg_, static_cast<size_t>(size.height * size.width) / 2);
    jpeg_.image_height = size.height;
    jpeg_.image_width = size.width;
    jpeg_.input_components = kChannels;
    jpeg_.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg_);  // The default of color images is 4:2:0.
    jpeg_set_quality(&jpeg_, quality, TRUE);
    jpeg_.dct_method = JDCT_ISLOW;
    jpeg_start_compress(&jpeg_, TRUE);
    while (jpeg_.next_scanline < jpeg_.image_height) {
      JSAMPROW row = rgb + jpeg_.next_scanline * size.width * kChannels;
      jpeg_write_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_compress(&jpeg_);
  }

  LibjpegErrors errors_ = {};
  jpeg_compress_struct jpeg_ = {};
  LibjpegDestination destination_;
};

}  // namespace

absl::Status Recompressor::Run(const RecompressParameters& recompress, ImageSize size, uint8_t* pixels) {
  absl::StatusOr<std::vector<uint8_t>> file = JpegCompressor().Run(recompress.quality, size, pixels);
  STOKER_RETURN_IF_ERROR(file.status());
  DecodeOptions options;
  options.max_pixels = static_cast<uint64_t>(size.height * size.width);
  STOKER_RETURN_IF_ERROR(decoder_.Open(*file, options).status());
  STOKER_RETURN_IF_ERROR(decoder_.Decode({WholeOf(size)}, decoded_));
  const ImageView decoded = decoded_.view();
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x, pixels += kChannels) CopyPixel(decoded.At(y, x), pixels);
  return absl::OkStatus();
}

}  // namespace stoker
