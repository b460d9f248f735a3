#include "server/prepare/jpeg_writer.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "server/decode/libjpeg_destination.h"
#include "server/decode/libjpeg_errors.h"
#include "server/decode/magic.h"

namespace stoker {
namespace {

constexpr int kMaxMarkerBytes = 0xffff;  // A segment's length has 16 bits.

void OnMessage(j_common_ptr codec, int level) {
  // A negative level is a warning: libjpeg met damage and went on with made-up data.
  if (level < 0) LibjpegErrors::Leave(codec);
}

// A JPEG that libjpeg reads and one that it writes. Use each object once, on one thread.
class JpegCodec {
 public:
  JpegCodec() { in_.err = out_.err = errors_.Set(OnMessage); }
  ~JpegCodec() {
    jpeg_destroy_decompress(&in_);
    jpeg_destroy_compress(&out_);
  }
  JpegCodec(const JpegCodec&) = delete;
  JpegCodec& operator=(const JpegCodec&) = delete;

  // Reads the header, up to the first scan, and keeps the segments that `layout` does not strip. Transcode needs it.
  absl::Status Open(std::span<const uint8_t> jpeg, const JpegLayout& layout);

  absl::StatusOr<std::vector<uint8_t>> Transcode(const JpegLayout& layout);
  absl::StatusOr<std::vector<uint8_t>> Encode(std::span<const uint8_t> rgb, ImageSize size, int quality,
                                              const JpegLayout& layout);

 private:
  template <typename Step>
  absl::Status Run(const Step& step) {
    if (errors_.Run(step)) return absl::OkStatus();
    return errors_.Reason(reinterpret_cast<j_common_ptr>(&in_), "libjpeg: ");
  }

  void BeginWriting(size_t about_bytes);
  void SetLayout(const JpegLayout& layout, int mcus_per_row);
  void CopyMarkers(bool beside_colors);

  LibjpegErrors errors_ = {};
  jpeg_decompress_struct in_ = {};
  jpeg_compress_struct out_ = {};
  LibjpegDestination destination_;
  size_t in_bytes_ = 0;
};

absl::Status JpegCodec::Open(std::span<const uint8_t> jpeg, const JpegLayout& layout) {
  in_bytes_ = jpeg.size();
  return Run([&] {
    jpeg_create_decompress(&in_);
    in_.mem->max_memory_to_use = 0;  // 0 is no limit, so that the environment variable JPEGMEM changes nothing.
    jpeg_mem_src(&in_, jpeg.data(), jpeg.size());
    for (int marker = 0; marker < 16 && !layout.strip; ++marker)
      jpeg_save_markers(&in_, JPEG_APP0 + marker, kMaxMarkerBytes);
    if (!layout.strip) jpeg_save_markers(&in_, JPEG_COM, kMaxMarkerBytes);
    jpeg_read_header(&in_, TRUE);
  });
}

void JpegCodec::BeginWriting(size_t about_bytes) {
  jpeg_create_compress(&out_);
  out_.mem->max_memory_to_use = 0;
  destination_.Attach(&out_, about_bytes);
}

void JpegCodec::SetLayout(const JpegLayout& layout, int mcus_per_row) {
  out_.optimize_coding = TRUE;
  out_.restart_interval = RestartInterval(layout.restart_interval, mcus_per_row);
}

bool Is(const jpeg_marker_struct& marker, int app, absl::string_view name) {
  return marker.marker == JPEG_APP0 + app && marker.data_length >= name.size() &&
         std::equal(name.begin(), name.end(), marker.data);
}

// True of JFIF and Adobe segments, which say what the colors are. Transcoding keeps the original's; encoding writes new
// ones.
bool IsAboutColors(const jpeg_marker_struct& marker) {
  return Is(marker, 0, "JFIF") || Is(marker, 0, "JFXX") || Is(marker, 14, "Adobe");
}

// True of color profiles, which fit only an image of as many components as the original has.
bool IsProfile(const jpeg_marker_struct& marker) { return Is(marker, 2, "ICC_PROFILE"); }

// True of the index of a multi-picture file. It holds offsets in the original file, which are wrong in a new one.
bool IsIndex(const jpeg_marker_struct& marker) { return Is(marker, 2, "MPF"); }

void JpegCodec::CopyMarkers(bool beside_colors) {
  const bool same_colors = in_.num_components == out_.num_components;
  for (const jpeg_marker_struct* marker = in_.marker_list; marker != nullptr; marker = marker->next)
    if (beside_colors || (!IsAboutColors(*marker) && (same_colors || !IsProfile(*marker)) && !IsIndex(*marker)))
      jpeg_write_marker(&out_, marker->marker, marker->data, marker->data_length);
}

int CeilDivide(int64_t dividend, int64_t divisor) { return static_cast<int>((dividend + divisor - 1) / divisor); }

// The number of MCUs in a row of a scan that has all components. If there is only one component, an MCU is one block.
int McusPerRow(const jpeg_decompress_struct& jpeg) {
  return CeilDivide(jpeg.image_width, jpeg.num_components == 1 ? DCTSIZE : DCTSIZE * jpeg.max_h_samp_factor);
}

absl::StatusOr<std::vector<uint8_t>> JpegCodec::Transcode(const JpegLayout& layout) {
  STOKER_RETURN_IF_ERROR(Run([&] {
    jvirt_barray_ptr* coefficients = jpeg_read_coefficients(&in_);
    BeginWriting(in_bytes_ + in_bytes_ / 4);
    jpeg_copy_critical_parameters(&in_, &out_);
    SetLayout(layout, McusPerRow(in_));
    out_.write_JFIF_header = layout.strip && in_.saw_JFIF_marker;
    out_.write_Adobe_marker = layout.strip && in_.saw_Adobe_marker;
    jpeg_write_coefficients(&out_, coefficients);
    CopyMarkers(true);
    jpeg_finish_compress(&out_);
    jpeg_finish_decompress(&in_);
  }));
  return destination_.Take();
}

bool IsGray(std::span<const uint8_t> rgb) {
  for (size_t i = 0; i < rgb.size(); i += 3)
    if (rgb[i] != rgb[i + 1] || rgb[i] != rgb[i + 2]) return false;
  return true;
}

absl::StatusOr<std::vector<uint8_t>> JpegCodec::Encode(std::span<const uint8_t> rgb, ImageSize size, int quality,
                                                       const JpegLayout& layout) {
  const bool gray = IsGray(rgb);
  std::vector<uint8_t> gray_row(gray ? size.width : 0);
  STOKER_RETURN_IF_ERROR(Run([&] {
    BeginWriting(rgb.size() / 4);
    out_.image_height = size.height;
    out_.image_width = size.width;
    out_.input_components = gray ? 1 : 3;
    out_.in_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&out_);  // The default of color images is 4:2:0.
    jpeg_set_quality(&out_, quality, TRUE);
    out_.dct_method = JDCT_ISLOW;
    SetLayout(layout, CeilDivide(size.width, gray ? DCTSIZE : 2 * DCTSIZE));
    jpeg_start_compress(&out_, TRUE);
    CopyMarkers(false);
    while (out_.next_scanline < out_.image_height) {
      const uint8_t* pixels = rgb.data() + out_.next_scanline * size.width * 3;
      for (size_t x = 0; x < gray_row.size(); ++x) gray_row[x] = pixels[3 * x];
      // libjpeg only reads its input, though the type does not say so.
      JSAMPROW row = gray ? gray_row.data() : const_cast<uint8_t*>(pixels);
      jpeg_write_scanlines(&out_, &row, 1);
    }
    jpeg_finish_compress(&out_);
  }));
  return destination_.Take();
}

}  // namespace

int RestartInterval(int wanted, int mcus_per_row) {
  int best = 0;
  for (int interval = CeilDivide(3 * wanted, 4); interval <= std::min(3 * wanted / 2, 65535); ++interval)
    if (mcus_per_row % interval == 0 && (best == 0 || std::abs(interval - wanted) < std::abs(best - wanted)))
      best = interval;
  return best == 0 ? wanted : best;
}

absl::StatusOr<std::vector<uint8_t>> TranscodeJpeg(std::span<const uint8_t> jpeg, const JpegLayout& layout) {
  JpegCodec codec;
  STOKER_RETURN_IF_ERROR(codec.Open(jpeg, layout));
  return codec.Transcode(layout);
}

absl::StatusOr<std::vector<uint8_t>> CompressJpeg(std::span<const uint8_t> rgb, ImageSize size, int quality,
                                                  const JpegLayout& layout, std::span<const uint8_t> original) {
  STOKER_CHECK(rgb.size() == static_cast<uint64_t>(size.height * size.width * 3));
  JpegCodec codec;
  if (IsJpeg(AsText(original)) && !layout.strip) STOKER_RETURN_IF_ERROR(codec.Open(original, layout));
  return codec.Encode(rgb, size, quality, layout);
}

}  // namespace stoker
