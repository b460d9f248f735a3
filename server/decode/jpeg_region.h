#ifndef STOKER_SERVER_DECODE_JPEG_REGION_H_
#define STOKER_SERVER_DECODE_JPEG_REGION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/decode/image.h"
#include "server/decode/interrupt.h"
#include "server/decode/jpeg_frame.h"
#include "server/decode/jpeg_huffman.h"
#include "server/decode/jpeg_kernels.h"
#include "server/decode/jpeg_scan.h"

namespace stoker {

// Decodes rectangles of the usual JPEGs (see JpegFrame), to the pixels that libjpeg gives. It decodes only the blocks
// that the rectangle and the upsampling of its chroma need, and skips the bits of the others.
//
// It does not judge files. It refuses one that is of another kind, damaged or odd, and libjpeg must look at it. It is
// used by one thread at a time. It keeps tables and buffers from file to file, but nothing that an image depends on.
class JpegRegionDecoder {
 public:
  // Reads the headers of `file` and returns the image's size, not checked against any limits. Returns nothing where the
  // file is not for this decoder. The bytes of `file` must stay until the next Open.
  std::optional<ImageSize> Open(std::span<const uint8_t> file);

  // Decodes at least `target.needed` of the image opened last. Returns false, and leaves nothing of use in `image`,
  // where the scan is damaged or odd, where only libjpeg decodes to that size, or where `interrupt` is raised.
  bool Decode(const DecodeTarget& target, DecodedImage& image, const Interrupt& interrupt = {});

 private:
  // The samples of a component in a rectangle of blocks, with kRowSlack more before and after each row.
  struct Plane {
    int size = 8;  // samples of a block, across and down, at the decoded size: 1, 2, 4 or 8
    int64_t block_left = 0, block_top = 0, blocks_across = 0, blocks_down = 0;
    int64_t width = 0, height = 0;  // samples of the component in the whole image
    ptrdiff_t stride = 0;
    std::vector<uint8_t> samples;

    // Returns sample 0 of row y of the whole image; only samples of the rectangle may be touched.
    uint8_t* Row(int64_t y) {
      return samples.data() + YCbCrRow::kRowSlack + (y - size * block_top) * stride - size * block_left;
    }
    bool Has(int64_t block_y, int64_t block_x) const {
      return block_y >= block_top && block_y < block_top + blocks_down && block_x >= block_left &&
             block_x < block_left + blocks_across;
    }
  };

  // A block of an MCU: its component, and its place among that component's blocks in the MCU.
  struct Place {
    int component = 0, row = 0, column = 0;
  };

  // Blocks of one component that wait for the inverse DCT.
  struct Batch {
    static constexpr size_t kMost = 16;
    alignas(64) std::array<int16_t, 64 * kMost> coefficients = {};
    std::array<BlockTarget, kMost> targets;
    size_t blocks = 0;
  };

  bool SetUp();
  bool Scale(int eighths);
  void Lay(const Region& needed);
  bool DecodeBlocks(const Interrupt& interrupt);
  bool DecodeMcu(int64_t mcu_row, int64_t mcu_column);
  bool DecodeBlock(int place, const BlockTarget& target);
  void Transform(size_t component);
  void RepeatEdges(Plane& plane);
  void Convert(DecodedImage& image);

  std::optional<JpegFrame> frame_;
  ChromaHalving halving_ = ChromaHalving::kNone;  // how chroma is halved at the decoded size
  HuffmanCache tables_;
  JpegScan scan_;
  std::array<Plane, 3> planes_;
  std::vector<Place> places_;               // the blocks of an MCU, in the order of the scan
  std::vector<JpegScan::BlockCode> codes_;  // the coding of the block at each place
  std::array<Batch, 3> batches_;            // one batch for each component
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_REGION_H_
