#ifndef STOKER_SERVER_DECODE_JPEG_SCAN_H_
#define STOKER_SERVER_DECODE_JPEG_SCAN_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "server/decode/jpeg_huffman.h"

namespace stoker {

// Reads the entropy-coded part of a JPEG. It decodes the blocks that are wanted and walks past the others, several
// symbols at a time, without their coefficients. Where the scan has restart markers, it jumps over whole segments, the
// runs of MCUs between two markers.
//
// A scan is used by one thread at a time. It keeps its buffer from file to file.
//
// Every function that returns a bool returns false where the data is damaged, ends early or is odd in any way. The scan
// is then of no more use.
class JpegScan {
 public:
  // How a block of an MCU is coded. The tables and factors must outlive the scan's use.
  struct BlockCode {
    const HuffmanTable* dc = nullptr;
    const HuffmanTable* ac = nullptr;
    const int16_t* quantization = nullptr;  // 64 factors, in zigzag order
    int component = 0;                      // 0, 1 or 2
  };

  static constexpr int kMaxBlocks = 6;  // blocks of an MCU; 4:2:0 has so many

  // Begins `scan`, which must stay. Each MCU holds `blocks`, in order. A restart marker follows every
  // `restart_interval` MCUs, none where that is 0.
  void Start(std::span<const uint8_t> scan, uint32_t restart_interval, std::span<const BlockCode> blocks);

  // Returns whether the file was seen to end without a marker. libjpeg may judge that to be damage.
  bool cut() const { return cut_; }

  // Returns the index of the next MCU.
  int64_t mcu() const { return mcu_; }

  // Passes all MCUs before `mcu`. Requires mcu() ≤ mcu.
  bool AdvanceTo(int64_t mcu);

  // The next MCU is read by BeginMcu, then one of WalkBlock, DecodeDc and DecodeBlock for each of its blocks in order,
  // then EndMcu.
  bool BeginMcu();
  bool WalkBlock(int block);
  // Walks past a block and stores its first coefficient, dequantized, in `dc`. Returns false also where that is too
  // large for libjpeg's 1×1 form.
  bool DecodeDc(int block, int16_t& dc);
  // Writes the dequantized coefficients of a block, row by row, to `out`, which must hold 64 zeros. Returns the index,
  // in zigzag order, of the last coefficient that is not 0, or 0 where there is none. Returns −1 where the other
  // functions return false, and also where coefficients are too large for a photograph.
  int DecodeBlock(int block, int16_t* out);
  void EndMcu() { ++mcu_; }

 private:
  // The scan's next bits. They are at the top of `bits`, of which `left` are valid; `next` is the first byte that is
  // not in `bits` as a whole. Reads run ahead of what is consumed.
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

  // Makes sure that the bits of one more block can be read from `bits`, zeros after the segment's end. Returns false
  // where bits beyond that end have been consumed.
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

  std::span<const uint8_t> input_;  // the part of the scan that is not in the buffer yet
  bool segment_done_ = false;       // whether input_ begins with a marker or is empty
  bool cut_ = false;                // whether the file ended without a marker
  std::vector<uint8_t> buffer_;     // bytes of the segment, without the zeros that are stuffed after 0xff
  const uint8_t* end_ = nullptr;    // the end of these bytes; kSlack zeros follow
  const uint8_t* safe_ = nullptr;   // A block that begins up to here ends before end_, or needs no more input.

  Bits bits_;
  std::array<int, 3> predictors_ = {};  // the DC coefficient before, for each component
  int64_t mcu_ = 0;
  int64_t segment_ = 0;
  bool fresh_ = true;  // whether no MCU of the segment has begun
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_SCAN_H_
