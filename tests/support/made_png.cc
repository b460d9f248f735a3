#include "tests/support/made_png.h"

#include <spng.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "common/check.h"

namespace stoker {
namespace {

std::vector<uint8_t> Encode(ImageSize size, int bits, spng_color_type type, const std::vector<uint8_t>& rows) {
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  spng_ihdr header = {.width = static_cast<uint32_t>(size.width),
                      .height = static_cast<uint32_t>(size.height),
                      .bit_depth = static_cast<uint8_t>(bits),
                      .color_type = static_cast<uint8_t>(type)};
  STOKER_CHECK(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1) == SPNG_OK);
  STOKER_CHECK(spng_set_ihdr(context.get(), &header) == SPNG_OK);
  if (type == SPNG_COLOR_TYPE_INDEXED) {
    spng_plte palette = {.n_entries = uint32_t{1} << bits};
    for (uint32_t i = 0; i < palette.n_entries; ++i) {
      const auto gray = static_cast<uint8_t>(i);
      palette.entries[i] = {gray, gray, gray, 255};
    }
    STOKER_CHECK(spng_set_plte(context.get(), &palette) == SPNG_OK);
  }
  STOKER_CHECK(spng_encode_image(context.get(), rows.data(), rows.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE) ==
               SPNG_OK);
  int error = SPNG_OK;
  size_t bytes = 0;
  const std::unique_ptr<void, decltype(&std::free)> png(spng_get_png_buffer(context.get(), &bytes, &error), std::free);
  STOKER_CHECK(error == SPNG_OK);
  const auto* begin = static_cast<const uint8_t*>(png.get());
  return {begin, begin + bytes};
}

}  // namespace

std::vector<uint8_t> MapPng(ImageSize size, std::span<const uint16_t> values, int bits, bool palette) {
  const int64_t stride = (size.width * bits + 7) / 8;
  std::vector<uint8_t> rows(size.height * stride);
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t x = 0; x < size.width; ++x) {
      const uint16_t value = values[y * size.width + x];
      STOKER_CHECK(value < uint32_t{1} << bits);
      uint8_t* const row = &rows[y * stride];
      if (bits == 16) {
        std::memcpy(row + 2 * x, &value, 2);
      } else {
        row[x * bits / 8] |= static_cast<uint8_t>(value << (8 - bits - x * bits % 8));
      }
    }
  return Encode(size, bits, palette ? SPNG_COLOR_TYPE_INDEXED : SPNG_COLOR_TYPE_GRAYSCALE, rows);
}

std::vector<uint8_t> ColorPng(ImageSize size, std::span<const uint8_t> rgb) {
  return Encode(size, 8, SPNG_COLOR_TYPE_TRUECOLOR, {rgb.begin(), rgb.end()});
}

}  // namespace stoker
