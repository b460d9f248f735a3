#ifndef STOKER_SERVER_DECODE_JPEG_REGION_H_
#define STOKER_SERVER_DECODE_JPEG_REGION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/decode/image.h"
#include "server/decode/jpeg_frame.h"
#include "server/decode/jpeg_huffman.h"
#include "server/decode/jpeg_kernels.h"
#include "server/decode/jpeg_scan.h"

namespace stoker {

// Decodes rectangles of the JPEGs that photographs are, to the pixels that libjpeg would give: only blocks that the
// rectangle and its chroma's neighbors need are decoded, the bits of the others are walked past.
//
// Does not judge files: what is of another kind, damaged or odd is refused, for libjpeg to look at. One thread at a
// time; keeps tables and buffers from file to file, but nothing that an image depends on.
class JpegRegionDecoder {
 public:
  // Reads the headers of `file`, whose bytes must stay. Nothing where the file is not for this decoder.
  std::optional<ImageSize> Open(std::span<const uint8_t> file);

  // Decodes at least `target.needed` of the image opened last. False, and `image` of no use, where the scan is odd or
  // that size is for libjpeg.
  bool Decode(const DecodeTarget& target, DecodedImage& image);

 private:
  // Samples of a component over a rectangle of blocks, and kRowSlack around each row.
  struct Plane {
    int size = 8;  // Samples a block is decoded to, across and down; 1, 2, 4 or 8.
    int64_t block_left = 0, block_top = 0, blocks_across = 0, blocks_down = 0;
    int64_t width = 0, height = 0;  // Samples of the component in the whole image.
    ptrdiff_t stride = 0;
    std::vector<uint8_t> samples;

    uint8_t* Row(int64_t y) {
      return samples.data() + YCbCrRow::kRowSlack + (y - size * block_top) * stride - size * block_left;
    }
    bool Has(int64_t block_y, int64_t block_x) const {
      return block_y >= block_top && block_y < block_top + blocks_down && block_x >= block_left &&
             block_x < block_left + blocks_across;
    }
  };

  // A block of an MCU: whose it is, and where in the MCU, in blocks.
  struct Place {
    int component = 0, row = 0, column = 0;
  };

  // Blocks on their way through the inverse DCT, all to one size.
  struct Batch {
    static constexpr size_t kMost = 16;
    alignas(64) std::array<int16_t, 64 * kMost> coefficients = {};
    std::array<BlockTarget, kMost> targets;
    size_t blocks = 0;
  };

  bool SetUp();
  bool Scale(int eighths);
  void Lay(const Region& needed);
  bool DecodeBlocks();
  bool DecodeMcu(int64_t mcu_row, int64_t mcu_column);
  bool DecodeBlock(int place, const BlockTarget& target);
  void Transform(size_t component);
  void RepeatEdges(Plane& plane);
  void Convert(DecodedImage& image);

  std::optional<JpegFrame> frame_;
  ChromaHalving halving_ = ChromaHalving::kNone;  // Of the planes, at the size that is decoded.
  HuffmanCache tables_;
  JpegScan scan_;
  std::array<Plane, 3> planes_;
  std::vector<Place> places_;               // Of an MCU, in the order of the scan.
  std::vector<JpegScan::BlockCode> codes_;  // For each place.
  std::array<Batch, 3> batches_;            // One for each component.
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_REGION_H_
