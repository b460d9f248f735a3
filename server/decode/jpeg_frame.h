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
  std::array<uint8_t, 16> counts = {};    // Of codes of 1 to 16 bits.
  std::array<uint8_t, 256> symbols = {};  // In the order of their codes; zeros follow.
  friend bool operator==(const HuffmanSpec&, const HuffmanSpec&) = default;
};

// Sample n of an axis comes from block row or column n / 8 of a component; components may be halved on an axis.
struct JpegComponent {
  int horizontal = 1, vertical = 1;           // sampling factors
  std::array<int16_t, 64> quantization = {};  // in zigzag order
  HuffmanSpec dc, ac;
};

// A JPEG that the region decoder takes: 8 bits, Huffman-coded, one sequential scan, gray or YCbCr with chroma whole or
// halved on either axis.
struct JpegFrame {
  ImageSize size;
  std::vector<JpegComponent> components;  // 1 or 3
  int horizontal = 1, vertical = 1;       // The largest sampling factors; those of luma.
  uint32_t restart_interval = 0;          // in MCUs; 0 for none
  std::span<const uint8_t> scan;          // From the first entropy-coded byte to the file's end.

  int64_t mcu_width() const { return 8 * horizontal; }
  int64_t mcu_height() const { return 8 * vertical; }
  int64_t mcus_across() const { return (size.width + mcu_width() - 1) / mcu_width(); }
  int64_t mcus_down() const { return (size.height + mcu_height() - 1) / mcu_height(); }
};

// The headers of `file`, or nothing where it is of another kind or odd in any way: that is for libjpeg to judge.
std::optional<JpegFrame> ReadJpegFrame(std::span<const uint8_t> file);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_FRAME_H_
