#ifndef STOKER_SERVER_DECODE_JPEG_SCAN_H_
#define STOKER_SERVER_DECODE_JPEG_SCAN_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "server/decode/jpeg_huffman.h"

namespace stoker {

// The entropy-coded part of a JPEG: decodes the blocks that are wanted and walks past the others, several symbols at a
// time, keeping no coefficients. Where restart markers stand, whole segments are jumped over.
//
// Every function that returns a bool says false where the data is damaged, ends early or is odd in any way; the scan is
// then of no more use. One thread at a time; keeps its buffer from file to file.
class JpegScan {
 public:
  // How a block of an MCU is coded.
  struct BlockCode {
    const HuffmanTable* dc = nullptr;
    const HuffmanTable* ac = nullptr;
    const int16_t* quantization = nullptr;  // 64, in zigzag order
    int component = 0;                      // below 3
  };

  static constexpr int kMaxBlocks = 6;  // of an MCU: 4:2:0

  // Begins a scan whose MCUs hold `blocks`, in order.
  void Start(std::span<const uint8_t> scan, uint32_t restart_interval, std::span<const BlockCode> blocks);

  // Whether the file was seen to end where a marker should stand: libjpeg may take what it lacks for damage.
  bool cut() const { return cut_; }

  // The MCU that comes next.
  int64_t mcu() const { return mcu_; }

  // Passes all MCUs before `mcu`. Requires mcu() ≤ mcu.
  bool AdvanceTo(int64_t mcu);

  // Of the next MCU. To be called for each of its blocks in order, Decode or Walk; BeginMcu before, EndMcu after.
  bool BeginMcu();
  bool WalkBlock(int block);
  // Walks past a block and stores its first coefficient, dequantized; false also where that is too large.
  bool DecodeDc(int block, int16_t& dc);
  // Adds dequantized coefficients, row by row, to `out`, 64 zeros. Returns the index of the last one in zigzag order,
  // or −1, which is also said of coefficients too large for a photograph.
  int DecodeBlock(int block, int16_t* out);
  void EndMcu() { ++mcu_; }

 private:
  // The scan's next bits, at the top of `bits`, of which `left` are valid. Reads run ahead.
  struct Bits {
    const uint8_t* next = nullptr;
    uint64_t bits = 0;
    int left = 0;

    void Refill();
    void Drop(int count) {
      bits <<= count;
      left -= count;
    }
  };

  static bool Walk(const BlockCode& code, Bits& bits, int& predictor);
  static int Decode(const BlockCode& code, Bits& bits, int& predictor, int16_t* out);
  static bool ReadDc(const HuffmanTable& table, Bits& bits, int& predictor);

  // Makes room for one more block's bits after `bits.next`. False past the segment's end.
  bool Provide(Bits& bits);
  void Fill();
  bool WalkMcus(int64_t count);
  bool NextSegment();
  bool SkipSegments(int64_t count);
  bool ReadRestartMarker();
  void BeginSegment();

  std::array<BlockCode, kMaxBlocks> blocks_;
  int block_count_ = 0;
  uint32_t restart_interval_ = 0;

  std::span<const uint8_t> input_;  // What is not in the buffer yet.
  bool segment_done_ = false;       // input_ begins with a marker, or is empty.
  bool cut_ = false;                // The file ended without a marker.
  std::vector<uint8_t> buffer_;     // Of the segment, without the zeros that are stuffed after 0xff.
  const uint8_t* end_ = nullptr;    // Of what the buffer holds; kSlack bytes follow.
  const uint8_t* safe_ = nullptr;   // A block that begins up to here needs no look at the end.

  Bits bits_;
  std::array<int, 3> predictors_ = {};
  int64_t mcu_ = 0;
  int64_t segment_ = 0;
  bool fresh_ = true;  // At a segment's first MCU.
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_SCAN_H_
