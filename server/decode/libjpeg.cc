#include "server/decode/libjpeg.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/decode/flaw.h"
#include "server/decode/jpeg_scans.h"
#include "server/decode/libjpeg_errors.h"
#include "server/decode/limits.h"

namespace stoker {
namespace {

// Columns and rows decoded around a region, because its chroma is smoothed with its neighbors.
constexpr int64_t kMargin = 2;

// Receives libjpeg's errors, warnings and progress, and decides which of them end the decoding.
struct Handler : LibjpegErrors {
  v1::DecodeWarnings policy;
  jpeg_progress_mgr progress;
  std::chrono::steady_clock::time_point begun;
  absl::Duration time;
  bool late = false;
  const Interrupt* interrupt = nullptr;
  bool interrupted = false;

  static Handler& Of(j_common_ptr codec) {
    return static_cast<Handler&>(*reinterpret_cast<LibjpegErrors*>(codec->err));
  }
};

// libjpeg calls this once for each row of blocks in each scan.
void OnProgress(j_common_ptr codec) {
  Handler& handler = Handler::Of(codec);
  handler.late = absl::FromChrono(std::chrono::steady_clock::now() - handler.begun) > handler.time;
  handler.interrupted = handler.interrupt != nullptr && handler.interrupt->raised();
  if (handler.late || handler.interrupted) Handler::Leave(codec);
}

void OnMessage(j_common_ptr codec, int level) {
  if (level >= 0) return;  // A warning's level is negative; others are traces.
  const v1::DecodeWarnings policy = Handler::Of(codec).policy;
  if (policy == v1::DECODE_WARNINGS_IGNORE) return;
  if (policy == v1::DECODE_WARNINGS_FAIL || codec->err->msg_code == JWRN_JPEG_EOF) Handler::Leave(codec);
}

// Converts `width` pixels in place from CMYK as Adobe stores it, inverted: 255 is no ink. Each ink takes its share of
// what black leaves, rounded as Pillow's MULDIV255 rounds.
void InvertedCmykToRgb(uint8_t* row, int64_t width) {
  for (int64_t x = 0; x < width; ++x) {
    const int light = row[4 * x + 3];
    for (int channel = 0; channel < 3; ++channel) {
      const int absorbed = (255 - row[4 * x + channel]) * light + 128;
      row[4 * x + channel] = light - ((absorbed + (absorbed >> 8)) >> 8);
    }
  }
}

}  // namespace

class LibjpegDecoder::File {
 public:
  explicit File(v1::DecodeWarnings policy) {
    codec_.err = errors_.Set(OnMessage);
    errors_.policy = policy;
  }
  ~File() { jpeg_destroy_decompress(&codec_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Reads up to the first scan and checks the limits. It is called first, once.
  absl::Status Open(std::span<const uint8_t> file, const DecodeOptions& options);

  ImageSize size() const { return {codec_.image_height, codec_.image_width}; }

  // Decodes at least `target.needed` within the time of `options`. It is called after Open, once.
  absl::Status Decode(const DecodeTarget& target, const DecodeOptions& options, DecodedImage& image);

 private:
  bool has_ink() const { return codec_.num_components == 4; }
  bool CanSkip() const;

  // Starts the scan. Sets `region` to the part that will be read: `needed` at the reduced size, with a margin, or with
  // whole rows where libjpeg cannot crop.
  absl::Status Start(int eighths, const Region& needed, Region& region);
  absl::Status ReadRows(const Region& region, uint8_t* pixels);

  template <typename Step>
  absl::Status Run(const Step& step) {
    return errors_.Run(step) ? absl::OkStatus() : Failure();
  }

  absl::Status Failure();

  Handler errors_ = {};
  jpeg_decompress_struct codec_ = {};
};

absl::Status LibjpegDecoder::File::Failure() {
  if (errors_.interrupted) return errors_.interrupt->status();
  if (errors_.late) return absl::DeadlineExceededError("decoding this JPEG takes longer than allowed");
  return errors_.Reason(reinterpret_cast<j_common_ptr>(&codec_), "cannot decode this JPEG: ");
}

absl::Status LibjpegDecoder::File::Open(std::span<const uint8_t> file, const DecodeOptions& options) {
  STOKER_RETURN_IF_ERROR(Run([&] {
    jpeg_create_decompress(&codec_);
    codec_.mem->max_memory_to_use = 0;  // No limit: JPEGMEM in the environment must not decide what decodes.
    jpeg_mem_src(&codec_, file.data(), file.size());
    jpeg_read_header(&codec_, TRUE);
  }));
  STOKER_RETURN_IF_ERROR(CheckSize(size(), options));
  if (codec_.num_components != 1 && codec_.num_components != 3 && codec_.num_components != 4)
    return FlawError(Flaw::kNotAnImage,
                     absl::StrCat("a JPEG of ", codec_.num_components, " components is not a picture"));
  if (!jpeg_has_multiple_scans(&codec_)) return absl::OkStatus();
  const uint64_t scans = CountJpegScans(file);
  if (scans > options.max_scans)
    return FlawError(Flaw::kOverLimits,
                     absl::StrCat("a JPEG of ", scans, " scans is above limits.max_scans, ", options.max_scans));
  return absl::OkStatus();
}

// Returns whether libjpeg-turbo 2.1 gives a part the same pixels as the whole. It does not where a component is
// quartered.
bool LibjpegDecoder::File::CanSkip() const { return codec_.max_h_samp_factor <= 2 && codec_.max_v_samp_factor <= 2; }

absl::Status LibjpegDecoder::File::Start(int eighths, const Region& needed, Region& region) {
  return Run([&] {
    codec_.out_color_space = has_ink() ? JCS_CMYK : JCS_EXT_RGBX;
    codec_.scale_num = eighths;
    codec_.scale_denom = 8;
    // Smoothing of a progressive file that ends early would make a part differ from the whole.
    codec_.do_block_smoothing = FALSE;
    jpeg_start_decompress(&codec_);
    const ImageSize whole = {codec_.output_height, codec_.output_width};
    const Region shown = Reduced(needed, eighths);
    const ImageSize with_margin = {shown.size.height + 2 * kMargin, shown.size.width + 2 * kMargin};
    region = WholeOf(whole).Intersection({shown.top - kMargin, shown.left - kMargin, with_margin});
    auto left = static_cast<JDIMENSION>(region.left), width = static_cast<JDIMENSION>(region.size.width);
    if (CanSkip()) {
      jpeg_crop_scanline(&codec_, &left, &width);
    } else {
      left = 0, width = codec_.output_width;
    }
    region.left = left;
    region.size.width = width;
  });
}

absl::Status LibjpegDecoder::File::ReadRows(const Region& region, uint8_t* pixels) {
  return Run([&] {
    // Skipping ends at the beginning of a row of MCUs, one such row early. Elsewhere the rows above would be missing
    // from the smoothing (libjpeg-turbo#915).
    const int64_t mcu = int64_t{codec_.max_v_samp_factor} * codec_.min_DCT_scaled_size;
    const int64_t skipped = CanSkip() ? std::max<int64_t>(0, region.top / mcu - 1) * mcu : 0;
    if (skipped > 0) jpeg_skip_scanlines(&codec_, static_cast<JDIMENSION>(skipped));
    for (int64_t y = skipped; y < region.bottom(); ++y) {
      // A row above the region is written where the region's first row will be.
      uint8_t* row = pixels + std::max<int64_t>(y - region.top, 0) * region.size.width * DecodedImage::kPixelBytes;
      jpeg_read_scanlines(&codec_, &row, 1);
      if (has_ink()) InvertedCmykToRgb(row, region.size.width);
    }
  });
}

absl::Status LibjpegDecoder::File::Decode(const DecodeTarget& target, const DecodeOptions& options,
                                          DecodedImage& image) {
  STOKER_CHECK(WholeOf(size()).Contains(target.needed));
  errors_.begun = std::chrono::steady_clock::now();
  errors_.time = options.time;
  errors_.interrupt = options.interrupt;
  errors_.progress.progress_monitor = OnProgress;
  codec_.progress = &errors_.progress;
  Region region;
  STOKER_RETURN_IF_ERROR(Start(target.eighths, target.needed, region));
  image.Reset(region, target.eighths);
  STOKER_RETURN_IF_ERROR(ReadRows(region, image.pixels.data()));
  if (!options.to_end || codec_.output_scanline < codec_.output_height) return absl::OkStatus();
  return Run([&] { jpeg_finish_decompress(&codec_); });
}

LibjpegDecoder::LibjpegDecoder() = default;
LibjpegDecoder::~LibjpegDecoder() = default;

absl::StatusOr<ImageSize> LibjpegDecoder::Open(std::span<const uint8_t> file, const DecodeOptions& options) {
  file_ = file;
  options_ = options;
  opened_ = std::make_unique<File>(options.warnings);
  STOKER_RETURN_IF_ERROR(opened_->Open(file, options));
  return opened_->size();
}

absl::Status LibjpegDecoder::Decode(const DecodeTarget& target, DecodedImage& image) {
  if (opened_ == nullptr) STOKER_RETURN_IF_ERROR(Open(file_, options_).status());
  const std::unique_ptr<File> file = std::move(opened_);  // A File can be read only once.
  return file->Decode(target, options_, image);
}

}  // namespace stoker
