#include "server/decode/jpeg.h"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
// libjpeg's headers need <cstddef> and <cstdio> before them.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/decode/jpeg_scans.h"
#include "server/decode/limits.h"

namespace stoker {
namespace {

// Where libjpeg's errors and warnings end up.
struct ErrorHandler {
  jpeg_error_mgr manager;  // First: libjpeg hands its address to the functions below.
  std::jmp_buf jump;
  v1::DecodeWarnings policy;
};

[[noreturn]] void OnError(j_common_ptr codec) { std::longjmp(reinterpret_cast<ErrorHandler*>(codec->err)->jump, 1); }

void OnMessage(j_common_ptr codec, int level) {
  if (level >= 0) return;  // Traces; warnings are negative.
  const v1::DecodeWarnings policy = reinterpret_cast<ErrorHandler*>(codec->err)->policy;
  if (policy == v1::DECODE_WARNINGS_IGNORE) return;
  if (policy == v1::DECODE_WARNINGS_FAIL || codec->err->msg_code == JWRN_JPEG_EOF) OnError(codec);
}

// Converts `width` pixels in place from CMYK as Adobe stores it, which is inverted: 255 is no ink. Each ink
// takes its share of what black leaves, rounded like Pillow's MULDIV255 does.
void InvertedCmykToRgb(uint8_t* row, int64_t width) {
  for (int64_t x = 0; x < width; ++x) {
    const int light = row[4 * x + 3];
    for (int channel = 0; channel < 3; ++channel) {
      const int absorbed = (255 - row[4 * x + channel]) * light + 128;
      row[3 * x + channel] = light - ((absorbed + (absorbed >> 8)) >> 8);
    }
  }
}

// One file inside of libjpeg. A decompress object for each: a reused one would lend a file that lacks tables
// those of the file before it, and making one takes 0.1 µs.
class JpegFile {
 public:
  explicit JpegFile(v1::DecodeWarnings policy) {
    codec_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = OnError;
    errors_.manager.emit_message = OnMessage;
    errors_.policy = policy;
  }
  ~JpegFile() { jpeg_destroy_decompress(&codec_); }
  JpegFile(const JpegFile&) = delete;
  JpegFile& operator=(const JpegFile&) = delete;

  // Reads up to the first scan, and checks the limits. Comes first, once.
  absl::Status Open(std::span<const uint8_t> file, const Decoder::Options& options);

  ImageSize size() const { return {codec_.image_height, codec_.image_width}; }

  // Decodes rows [region.top, region.bottom()), of full width, into `pixels`; InkBytes() after them are scratch.
  absl::Status ReadRows(const Region& region, uint8_t* pixels);

  // What a row of CMYK takes beyond a row of RGB.
  int64_t InkBytes() const { return has_ink() ? codec_.image_width : 0; }

 private:
  bool has_ink() const { return codec_.num_components == 4; }

  // Runs `step`, which libjpeg leaves by longjmp where it fails. That skips destructors: a step owns nothing.
  template <typename Step>
  absl::Status Run(const Step& step) {
    if (setjmp(errors_.jump) != 0) return Failure();
    step();
    return absl::OkStatus();
  }

  absl::Status Failure();

  ErrorHandler errors_ = {};
  jpeg_decompress_struct codec_ = {};
};

absl::Status JpegFile::Failure() {
  char reason[JMSG_LENGTH_MAX];
  errors_.manager.format_message(reinterpret_cast<j_common_ptr>(&codec_), reason);
  if (errors_.manager.msg_code == JERR_OUT_OF_MEMORY) return absl::ResourceExhaustedError(reason);
  return absl::DataLossError(absl::StrCat("cannot decode this JPEG: ", reason));
}

absl::Status JpegFile::Open(std::span<const uint8_t> file, const Decoder::Options& options) {
  STOKER_RETURN_IF_ERROR(Run([&] {
    jpeg_create_decompress(&codec_);
    codec_.mem->max_memory_to_use = 0;  // No limit: JPEGMEM in the environment must not decide what decodes.
    jpeg_mem_src(&codec_, file.data(), file.size());
    jpeg_read_header(&codec_, TRUE);
  }));
  STOKER_RETURN_IF_ERROR(CheckSize(size(), options));
  if (codec_.num_components != 1 && codec_.num_components != 3 && codec_.num_components != 4)
    return absl::DataLossError(absl::StrCat("a JPEG of ", codec_.num_components, " components is not a picture"));
  if (!jpeg_has_multiple_scans(&codec_)) return absl::OkStatus();
  const uint64_t scans = CountJpegScans(file);
  if (scans > options.max_scans)
    return absl::DataLossError(
        absl::StrCat("a JPEG of ", scans, " scans is above limits.max_scans, ", options.max_scans));
  return absl::OkStatus();
}

absl::Status JpegFile::ReadRows(const Region& region, uint8_t* pixels) {
  const int64_t stride = region.size.width * 3;
  return Run([&] {
    codec_.out_color_space = has_ink() ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&codec_);
    for (int64_t y = 0; y < region.bottom(); ++y) {
      // Rows above the region are written where its first one will lie.
      uint8_t* row = pixels + std::max<int64_t>(y - region.top, 0) * stride;
      jpeg_read_scanlines(&codec_, &row, 1);
      if (has_ink()) InvertedCmykToRgb(row, region.size.width);
    }
  });
}

}  // namespace

absl::StatusOr<ImageSize> ReadJpegHeader(std::span<const uint8_t> file, const Decoder::Options& options) {
  JpegFile jpeg(options.warnings);
  STOKER_RETURN_IF_ERROR(jpeg.Open(file, options));
  return jpeg.size();
}

absl::Status DecodeJpeg(std::span<const uint8_t> file, const Decoder::Options& options, const Region& needed,
                        DecodedImage& image) {
  JpegFile jpeg(options.warnings);
  STOKER_RETURN_IF_ERROR(jpeg.Open(file, options));
  STOKER_CHECK(WholeOf(jpeg.size()).Contains(needed));
  image.Reset({needed.top, 0, {needed.size.height, jpeg.size().width}}, jpeg.InkBytes());
  return jpeg.ReadRows(image.region, image.pixels.data());
}

}  // namespace stoker
