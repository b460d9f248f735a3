#ifndef STOKER_SERVER_DECODE_JPEG_FRAME_H_
#define STOKER_SERVER_DECODE_JPEG_FRAME_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/fields/schema.h"

namespace stoker {

// A Huffman table as a DHT segment gives it (ITU-T T.81, B.2.4.2).
struct HuffmanSpec {
  std::array<uint8_t, 16> counts = {};    // how many codes have 1, 2, … 16 bits
  std::array<uint8_t, 256> symbols = {};  // the symbols in the order of their codes, then zeros
  friend bool operator==(const HuffmanSpec&, const HuffmanSpec&) = default;
};

// One component of an image: luma, Cb or Cr. On either axis its sample n lies in its block n / 8. Chroma may have half
// of luma's samples on an axis, as the sampling factors say.
struct JpegComponent {
  int horizontal = 1, vertical = 1;           // sampling factors
  std::array<int16_t, 64> quantization = {};  // in zigzag order
  HuffmanSpec dc, ac;
};

// The headers of a JPEG that the region decoder takes: 8 bits, Huffman-coded, one sequential scan, gray or YCbCr with
// chroma whole or halved on either axis. The scan's bytes belong to the file that was read. An MCU is the group of
// blocks that the scan codes together (ITU-T T.81, A.2).
struct JpegFrame {
  ImageSize size;
  std::vector<JpegComponent> components;  // 1 or 3
  int horizontal = 1, vertical = 1;       // the largest sampling factors, which are luma's
  uint32_t restart_interval = 0;          // in MCUs; 0 for none
  std::span<const uint8_t> scan;          // from the first entropy-coded byte to the file's end

  int64_t mcu_width() const { return 8 * horizontal; }
  int64_t mcus_across() const { return (size.width + mcu_width() - 1) / mcu_width(); }
};

// Reads the headers of `file`. Returns nothing where the file is of another kind or odd in any way: libjpeg must judge
// it. The result points into `file`.
std::optional<JpegFrame> ReadJpegFrame(std::span<const uint8_t> file);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_FRAME_H_
