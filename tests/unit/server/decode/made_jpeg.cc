#include "tests/unit/server/decode/made_jpeg.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
// libjpeg's header needs <cstddef> and <cstdio> before it.
#include <jpeglib.h>

#include <random>

namespace stoker {
namespace {

// H×W×C: gradients, hard edges and noise, so that blocks of every kind occur.
std::vector<uint8_t> Paint(ImageSize size, int channels, uint32_t seed) {
  std::mt19937 random(seed);
  const int noise = 1 + static_cast<int>(random() % 60), edge = 5 + static_cast<int>(random() % 40);
  std::vector<uint8_t> pixels;
  pixels.reserve(size.height * size.width * channels);
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x)
      for (int c = 0; c < channels; ++c) {
        const bool flat = (x / edge + y / edge) % 3 == 0;
        const int64_t shape = flat ? 40 + 60 * c : (x * (c + 2) + y * 3 + ((x / edge) % 2) * 90) % 256;
        pixels.push_back(static_cast<uint8_t>((shape + (flat ? 0 : random() % noise)) & 255));
      }
  return pixels;
}

}  // namespace

std::vector<uint8_t> MakeJpeg(const JpegRecipe& recipe, uint32_t seed) {
  std::vector<uint8_t> pixels = Paint(recipe.size, recipe.components, seed);
  jpeg_compress_struct codec = {};
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);  // Exits on failure: recipes are ours.
  jpeg_create_compress(&codec);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &bytes, &size);
  codec.image_width = static_cast<JDIMENSION>(recipe.size.width);
  codec.image_height = static_cast<JDIMENSION>(recipe.size.height);
  codec.input_components = recipe.components;
  codec.in_color_space = recipe.components == 1 ? JCS_GRAYSCALE : recipe.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, recipe.quality, TRUE);
  codec.comp_info[0].h_samp_factor = recipe.horizontal;
  codec.comp_info[0].v_samp_factor = recipe.vertical;
  codec.optimize_coding = recipe.optimize ? TRUE : FALSE;
  codec.restart_interval = recipe.restart_interval;
  if (recipe.progressive) jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW row = &pixels[codec.next_scanline * recipe.size.width * recipe.components];
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  std::vector<uint8_t> file(bytes, bytes + size);
  std::free(bytes);
  return file;
}

std::vector<uint8_t> DecodeByLibjpeg(std::span<const uint8_t> file, int eighths, ImageSize& size) {
  jpeg_decompress_struct codec = {};
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, file.data(), file.size());
  jpeg_read_header(&codec, TRUE);
  codec.out_color_space = codec.num_components == 4 ? JCS_CMYK : JCS_RGB;
  codec.scale_num = eighths;
  codec.scale_denom = 8;
  jpeg_start_decompress(&codec);
  size = {codec.output_height, codec.output_width};
  const size_t stride = size_t{codec.output_width} * codec.output_components;
  std::vector<uint8_t> pixels(stride * codec.output_height);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = &pixels[codec.output_scanline * stride];
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_destroy_decompress(&codec);
  return pixels;
}

}  // namespace stoker
