#ifndef STOKER_SERVER_DECODE_JPEG_HUFFMAN_H_
#define STOKER_SERVER_DECODE_JPEG_HUFFMAN_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/decode/jpeg_frame.h"

namespace stoker {

// Lookup tables of one Huffman table, indexed by the next kBits bits of the scan.
//
// `step` decodes one symbol and, where they fit in the index too, the bits of its coefficient. `walk` only passes by:
// all symbols whose codes fit, up to the end of a block. Either entry is 0 where the first code is longer than kBits;
// LongStep then has the answer. Immutable once built.
class HuffmanTable {
 public:
  static constexpr int kBits = 10;

  // An entry of `step`: what a symbol consumes and does.
  struct Step {
    static constexpr int kEndOfBlock = 100;  // As a skip: it leads past every block.

    // Bits of the code and of the coefficient after it.
    static int Length(uint32_t step) { return step & 31; }
    // Bits of the coefficient that are still to be read, the last ones of Length; 0 where Value is known.
    static int ExtraBits(uint32_t step) { return step >> 5 & 15; }
    // Coefficients passed, with the one that is decoded: zeros before it + 1. 16 zeros, or kEndOfBlock.
    static int Skip(uint32_t step) { return step >> 9 & 127; }
    static int Value(uint32_t step) { return static_cast<int32_t>(step) >> 16; }
    static uint32_t Make(int length, int extra_bits, int skip, int value) {
      return static_cast<uint32_t>(length | extra_bits << 5 | skip << 9) | static_cast<uint32_t>(value) << 16;
    }
  };

  // An entry of `walk`: some symbols in a row.
  struct Walk {
    static constexpr int kEndOfBlock = 128;  // Added to the coefficients where the last symbol ends the block.

    static int Length(uint16_t walk) { return walk & 63; }
    static int Skip(uint16_t walk) { return walk >> 6; }
    static uint16_t Make(int length, int skip) { return static_cast<uint16_t>(length | skip << 6); }
  };

  // False where `spec` is no prefix code, or has symbols that no photograph has: `is_dc` ones above 11.
  bool Build(const HuffmanSpec& spec, bool is_dc);

  uint32_t step(uint64_t bits) const { return steps_[bits >> (64 - kBits)]; }
  uint16_t walk(uint64_t bits) const { return walks_[bits >> (64 - kBits)]; }

  // The step whose code stands at the top of `bits`, of more than kBits; 0 where there is none.
  uint32_t LongStep(uint64_t bits) const;

 private:
  // The entry of `symbol`, whose code of `length` bits stands at the top of `bits`; `known` more bits are there.
  uint32_t StepOf(int symbol, int length, uint64_t bits, int known) const;

  std::array<uint32_t, 1 << kBits> steps_;
  std::array<uint16_t, 1 << kBits> walks_;
  bool is_dc_ = false;
  std::array<uint32_t, 17> limits_;  // For each length the first code beyond its own, its bits at the top of 16.
  std::array<int, 17> offsets_;      // Where its symbols begin, less its first code.
  std::array<uint8_t, 256> symbols_;
};

// Keeps the tables of the latest files: most come from few encoders. One thread at a time.
class HuffmanCache {
 public:
  // Null where Build would fail. Stays valid for the next kKept − 1 calls.
  const HuffmanTable* Get(const HuffmanSpec& spec, bool is_dc);

  static constexpr size_t kKept = 12;  // Of a file: 4.

 private:
  struct Entry {
    HuffmanSpec spec;
    bool is_dc = false;
    bool valid = false;
    uint64_t used = 0;
    HuffmanTable table;
  };

  std::vector<std::unique_ptr<Entry>> entries_;
  uint64_t clock_ = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_HUFFMAN_H_
