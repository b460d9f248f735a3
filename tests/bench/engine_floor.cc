#include <csetjmp>
#include <cstddef>
#include <cstdio>
// libjpeg's header needs <cstddef> and <cstdio> before it.
#include <jpeglib.h>

#include <algorithm>
#include <memory>
#include <variant>

#include "common/check.h"
#include "tests/bench/engine_ways.h"

namespace stoker {
namespace {

class EntropyReader {
 public:
  EntropyReader() : pipeline_(*ServerPipeline::Create(TrainingPipeline(v1::JPEG_SCALING_EXACT), FileSchema())) {
    codec_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = [](j_common_ptr codec) {
      std::longjmp(reinterpret_cast<Errors*>(codec->err)->jump, 1);
    };
    errors_.manager.emit_message = [](j_common_ptr, int) {};
    jpeg_create_decompress(&codec_);
  }
  ~EntropyReader() { jpeg_destroy_decompress(&codec_); }

  // False if libjpeg refuses the file.
  bool Read(const std::vector<uint8_t>& file, uint64_t pass, uint64_t position) {
    // Files that decode do not jump; if one did, what Draw allocated would leak.
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_mem_src(&codec_, file.data(), file.size());
    jpeg_read_header(&codec_, TRUE);
    const ImageSize size = {codec_.image_height, codec_.image_width};
    const int64_t last = LastRow(size, pass, position);
    jpeg_start_decompress(&codec_);
    // Past the bottom libjpeg would skip for nothing: it decodes only what precedes a row that is left.
    jpeg_skip_scanlines(&codec_, static_cast<JDIMENSION>(std::min(last + 1, size.height - 1)));
    jpeg_abort_decompress(&codec_);
    return true;
  }

 private:
  struct Errors {
    jpeg_error_mgr manager;  // First: libjpeg hands its address to error_exit.
    std::jmp_buf jump;
  };

  int64_t LastRow(ImageSize size, uint64_t pass, uint64_t position) const {
    const auto ops = pipeline_.Draw(pipeline_.outputs()[0], 0, size, 0, pass, position);
    STOKER_CHECK(ops.ok());
    // A crop that is the whole image is not among the ops.
    const auto* crop = ops->empty() ? nullptr : std::get_if<CropParameters>(&ops->front());
    return crop == nullptr ? size.height - 1 : crop->top + crop->size.height - 1;
  }

  const ServerPipeline pipeline_;
  Errors errors_;
  jpeg_decompress_struct codec_;
};

}  // namespace

Way EntropyFloor(const Photos& photos) {
  return OneByOne("floor: entropy decode", photos,
                  [&photos, reader = std::make_shared<EntropyReader>()](size_t file, uint64_t pass) {
                    STOKER_CHECK(reader->Read(photos.samples[file].fields[0], pass, file));
                  });
}

}  // namespace stoker
