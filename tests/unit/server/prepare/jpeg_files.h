#ifndef STOKER_TESTS_UNIT_SERVER_PREPARE_JPEG_FILES_H_
#define STOKER_TESTS_UNIT_SERVER_PREPARE_JPEG_FILES_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
// libjpeg's header needs <cstddef> and <cstdio> before it.
#include <jpeglib.h>

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "server/read/synthetic/photograph.h"

namespace stoker {

// Kinds of JPEG that cameras and programs write.
struct JpegKind {
  std::string name;
  int components = 3;        // 1: gray, 3: YCbCr, 4: CMYK
  int across = 2, down = 2;  // Sampling factors of the first component.
  bool progressive = false;
  int restart_interval = 0;  // In MCUs; 0: none.
  bool segments = false;     // Beside JFIF's: EXIF, a color profile, a comment.
  bool rgb = false;          // Stored as such.
  bool arithmetic = false;
};

inline std::vector<JpegKind> AllJpegKinds() {
  return {{"4:2:0"},
          {"4:2:2", 3, 2, 1},
          {"4:4:4", 3, 1, 1},
          {"4:4:0", 3, 1, 2},
          {"4:1:1", 3, 4, 1},
          {"gray", 1, 1, 1},
          {"gray of odd factors", 1, 2, 2},
          {"CMYK", 4, 1, 1},
          {"progressive 4:2:0", 3, 2, 2, true},
          {"progressive 4:4:4", 3, 1, 1, true},
          {"progressive gray", 1, 1, 1, true},
          {"4:2:0 with restarts", 3, 2, 2, false, 7},
          {"4:2:0 with segments", 3, 2, 2, false, 0, true},
          {"RGB", 3, 1, 1, false, 0, false, true},
          {"arithmetic 4:2:0", 3, 2, 2, false, 0, false, false, true}};
}

// A file of `kind` that shows a landscape, from libjpeg.
inline std::vector<uint8_t> MakeJpeg(const JpegKind& kind, ImageSize size, uint64_t seed = 1, int quality = 90) {
  std::vector<uint8_t> rgb = PaintPhotograph(seed, seed, {size.height, std::max<int64_t>(size.width, 2)});
  jpeg_error_mgr errors;
  jpeg_compress_struct codec;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* encoded = nullptr;
  unsigned long bytes = 0;  // NOLINT: libjpeg's type.
  jpeg_mem_dest(&codec, &encoded, &bytes);
  codec.image_height = size.height;
  codec.image_width = size.width;
  codec.input_components = kind.components;
  codec.in_color_space = kind.components == 1 ? JCS_GRAYSCALE : kind.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&codec);
  if (kind.rgb) jpeg_set_colorspace(&codec, JCS_RGB);
  jpeg_set_quality(&codec, quality, TRUE);
  codec.comp_info[0].h_samp_factor = kind.across;
  codec.comp_info[0].v_samp_factor = kind.down;
  codec.restart_interval = kind.restart_interval;
  codec.arith_code = kind.arithmetic;
  if (kind.progressive) jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  const auto segment = [&](int marker, const std::string& text) {
    jpeg_write_marker(&codec, marker, reinterpret_cast<const JOCTET*>(text.data()), text.size());
  };
  if (kind.segments) {
    segment(JPEG_APP0 + 1, std::string("Exif\0\0 orientation", 18));
    segment(JPEG_APP0 + 2, "ICC_PROFILE of many colors");
    segment(JPEG_COM, "taken on a hill");
  }
  std::vector<uint8_t> row(size.width * kind.components);
  while (codec.next_scanline < codec.image_height) {
    const uint8_t* pixels = &rgb[codec.next_scanline * std::max<int64_t>(size.width, 2) * 3];
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = pixels[i / kind.components * 3 + i % kind.components % 3] ^ (i % kind.components == 3 ? 0x55 : 0);
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&codec, &rows, 1);
  }
  jpeg_finish_compress(&codec);
  std::vector<uint8_t> file(encoded, encoded + bytes);
  jpeg_destroy_compress(&codec);
  std::free(encoded);
  return file;
}

// What a JPEG's markers say of its layout.
struct JpegMarkers {
  int frame = 0;  // 0xc0 is baseline.
  int components = 0;
  int height = 0, width = 0;
  int across = 0, down = 0;  // Of the first component.
  int restart_interval = 0;
  int scans = 0, restarts = 0;
  std::vector<int> segments;  // APPn and COM, in order: 0xe0 is APP0.
};

inline JpegMarkers ReadMarkers(std::span<const uint8_t> file) {
  JpegMarkers found;
  for (size_t at = 2; at + 4 <= file.size();) {
    if (file[at] != 0xff || file[at + 1] == 0 || file[at + 1] == 0xff) {
      ++at;
      continue;
    }
    const int marker = file[at + 1];
    if (marker >= 0xd0 && marker <= 0xd9) {
      found.restarts += marker <= 0xd7;
      at += 2;
      continue;
    }
    if (marker == 0xda) ++found.scans;
    if (marker == 0xdd) found.restart_interval = file[at + 4] << 8 | file[at + 5];
    if (marker >= 0xe0 && marker != 0xff) found.segments.push_back(marker);
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
      found.frame = marker;
      found.height = file[at + 5] << 8 | file[at + 6];
      found.width = file[at + 7] << 8 | file[at + 8];
      found.components = file[at + 9];
      found.across = file[at + 11] >> 4;
      found.down = file[at + 11] & 15;
    }
    at += 2 + (file[at + 2] << 8 | file[at + 3]);
  }
  return found;
}

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_PREPARE_JPEG_FILES_H_
