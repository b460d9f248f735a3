#include "server/read/synthetic/photograph.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

#include "common/check.h"
#include "common/identity/mix.h"
#include "jpeglib.h"

namespace stoker {
namespace {

using Color = std::array<int, 3>;

// Value noise: random bytes at the points of a grid with steps of 2^shift pixels, and smooth interpolation between
// them. Rows must be asked for from the top down.
class Octave {
 public:
  Octave(uint64_t seed, int shift, int64_t width)
      : seed_(seed), shift_(shift), upper_(GridRow(0, width)), lower_(GridRow(1, width)), row_(upper_.size()) {
    for (int64_t i = 0; i < int64_t{1} << shift; ++i) weights_.push_back(Weight(i));
  }

  // Adds noise in [-amplitude, amplitude) to each element of `row`, which is row `y` of the image.
  void AddTo(std::span<int> row, int64_t y, int amplitude) {
    for (; grid_y_ < y >> shift_; ++grid_y_) {
      upper_.swap(lower_);
      lower_ = GridRow(grid_y_ + 2, row.size());
    }
    const int down = weights_[y & (weights_.size() - 1)];
    for (size_t i = 0; i < row_.size(); ++i) row_[i] = upper_[i] * (256 - down) + lower_[i] * down - (1 << 15);
    for (size_t cell = 0, x = 0; x < row.size(); ++cell) {
      const int left = row_[cell], step = row_[cell + 1] - left;
      const size_t end = std::min(x + weights_.size(), row.size());
      for (const int* weight = weights_.data(); x < end; ++x, ++weight)
        row[x] += (left + (step * *weight >> 8)) * amplitude >> 15;
    }
  }

 private:
  std::vector<int> GridRow(int64_t y, int64_t width) const {
    std::vector<int> values(((width - 1) >> shift_) + 2);
    for (size_t x = 0; x < values.size(); ++x) values[x] = MixAll({seed_, static_cast<uint64_t>(y), x}) & 0xff;
    return values;
  }

  // Returns the weight of the farther grid point at a pixel of a cell, in 256ths. It is 3t² − 2t³, which is smooth at
  // the grid's lines.
  int Weight(int64_t position) const {
    const int64_t t = (position << 8) >> shift_;
    return t * t * (768 - 2 * t) >> 16;
  }

  const uint64_t seed_;
  const int shift_;
  int64_t grid_y_ = 0;              // the row of the grid that upper_ is
  std::vector<int> upper_, lower_;  // the rows of the grid above and below the image's row
  std::vector<int> row_;            // interpolated between the two: 16 bits, signed
  std::vector<int> weights_;        // Weight(i) for each pixel i of a cell
};

// The sum of octaves, from a grid with steps of 2^first pixels down to one of 2^last.
class Noise {
 public:
  Noise(uint64_t seed, int first, int last, int64_t width) : row_(width) {
    for (int shift = first; shift >= last; --shift)
      octaves_.emplace_back(MixAll({seed, octaves_.size()}), shift, width);
  }

  // Returns row `y` of the noise, valid until the next call. Each octave has three quarters of the amplitude of the one
  // before, which looks like a photograph.
  std::span<const int> Row(int64_t y, int amplitude) {
    std::fill(row_.begin(), row_.end(), 0);
    for (Octave& octave : octaves_) {
      octave.AddTo(row_, y, amplitude);
      amplitude = amplitude * 3 / 4;
    }
    return row_;
  }

 private:
  std::vector<Octave> octaves_;
  std::vector<int> row_;
};

// Returns a muted color from a hue circle of 1536 steps.
Color Hue(uint64_t palette) {
  const int step = ((palette * 0x9e3779b97f4a7c15) >> 40) * 1536 >> 24;  // The golden ratio spreads neighbors.
  const int rising = step % 256, falling = 255 - rising;
  constexpr int kFull = 255;
  const Color wheel[] = {{kFull, rising, 0},  {falling, kFull, 0}, {0, kFull, rising},
                         {0, falling, kFull}, {rising, 0, kFull},  {kFull, 0, falling}};
  Color color = wheel[step / 256];
  for (int& channel : color) channel = 70 + channel * 110 / 255;
  return color;
}

// Returns the color that lies `part` 256ths of the way from `from` to `to`.
Color Blend(const Color& from, const Color& to, int part) {
  Color color;
  for (int c = 0; c < 3; ++c) color[c] = from[c] + ((to[c] - from[c]) * part >> 8);
  return color;
}

void Put(const Color& color, int light, uint8_t* pixel) {
  for (int c = 0; c < 3; ++c) pixel[c] = std::clamp(color[c] + light, 0, 255);
}

void DrawMarker(ImageSize size, std::vector<uint8_t>& rgb) {
  const int64_t margin = std::min(size.height, size.width) / 16, side = std::min(size.height, size.width) / 8;
  for (int64_t y = margin; y < margin + side; ++y)
    for (int64_t x = margin; x < margin + side; ++x) Put({255, 0, 0}, 0, &rgb[(y * size.width + x) * 3]);
}

[[noreturn]] void EndProcess(j_common_ptr codec) {
  codec->err->output_message(codec);
  std::abort();  // Only too little memory leads here; the caller has checked all else.
}

}  // namespace

std::vector<uint8_t> PaintPhotograph(uint64_t seed, uint64_t palette, ImageSize size) {
  constexpr Color kZenith = {70, 130, 220}, kHaze = {205, 225, 245};
  const int height = size.height;
  const Color ground = Hue(palette);
  const Color meadow = Hue(palette + 1);
  Noise hills(MixAll({seed, 1}), 7, 3, size.width);
  Noise clouds(MixAll({seed, 2}), 7, 3, size.width);
  Noise texture(MixAll({seed, 3}), 6, 0, size.width);
  Noise patches(MixAll({seed, 4}), 7, 5, size.width);
  const std::span<const int> horizon = hills.Row(0, size.height / 12);

  std::vector<uint8_t> rgb(size.height * size.width * 3);
  uint8_t* pixel = rgb.data();
  for (int64_t y = 0; y < size.height; ++y) {
    const auto cloud = clouds.Row(y, 30), grain = texture.Row(y, 64), patch = patches.Row(y, 128);
    for (int64_t x = 0; x < size.width; ++x, pixel += 3) {
      const int skyline = std::max<int>(size.height * 2 / 5 + horizon[x], 1);
      if (y < skyline) {
        Put(Blend(kZenith, kHaze, static_cast<int>(y) * 256 / skyline), cloud[x] + grain[x] / 10, pixel);
      } else {
        const int depth = 40 * (y - skyline) / height;  // The ground is darker towards the viewer.
        Put(Blend(ground, meadow, std::clamp(patch[x] + 128, 0, 256) / 2), grain[x] - depth, pixel);
      }
    }
  }
  DrawMarker(size, rgb);
  return rgb;
}

std::vector<uint8_t> EncodeJpeg(const std::vector<uint8_t>& rgb, ImageSize size, int quality) {
  STOKER_CHECK(size.height >= 1 && size.width >= 1 && std::max(size.height, size.width) <= kMaxJpegSide);
  STOKER_CHECK(rgb.size() == static_cast<uint64_t>(size.height * size.width * 3));
  jpeg_error_mgr errors;
  jpeg_compress_struct codec;
  codec.err = jpeg_std_error(&errors);
  errors.error_exit = EndProcess;
  jpeg_create_compress(&codec);
  unsigned char* encoded = nullptr;
  unsigned long encoded_bytes = 0;  // NOLINT: libjpeg's type.
  jpeg_mem_dest(&codec, &encoded, &encoded_bytes);
  codec.image_width = size.width;
  codec.image_height = size.height;
  codec.input_components = 3;
  codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  codec.dct_method = JDCT_ISLOW;
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    // libjpeg reads its input only, though its type does not say so.
    JSAMPROW row = const_cast<uint8_t*>(rgb.data()) + codec.next_scanline * size.width * 3;
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  std::vector<uint8_t> file(encoded, encoded + encoded_bytes);
  jpeg_destroy_compress(&codec);
  std::free(encoded);
  return file;
}

}  // namespace stoker
