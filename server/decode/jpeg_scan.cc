#include "server/decode/jpeg_scan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/check.h"

namespace stoker {
namespace {

constexpr ptrdiff_t kBufferBytes = 1 << 14;
// More bytes than one block takes: 64 symbols of up to 31 bits, and what a refill reads ahead.
constexpr ptrdiff_t kSlack = 512;

// The largest sum of the absolute dequantized coefficients of a block. Beyond it the values between the two passes of
// libjpeg-turbo's inverse DCT, up to 4 · 1.39 times as much, may not fit into 16 bits. Photographs stay far below.
constexpr int kMostOfABlock = 5800;

// The largest absolute dequantized DC coefficient at 1/8 of the size. Beyond it libjpeg's 1×1 form wraps black and
// white around.
constexpr int kMostOfADc = 4080;

using Step = HuffmanTable::Step;
using WalkStep = HuffmanTable::Walk;

// The place in the block, row by row, of each coefficient in zigzag order (ITU-T T.81, figure 5). The last 16 entries
// catch a run that leads beyond the block.
constexpr uint8_t kNaturalOrder[64 + 16] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,
    6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31,
    39, 46, 53, 60, 61, 54, 47, 55, 62, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};

uint64_t LoadBigEndian(const uint8_t* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return __builtin_bswap64(value);
}

// Reads the coefficient of a step of `length` bits, of which the last `size` are the coefficient's.
int ExtraValue(uint64_t bits, int length, int size) {
  const auto raw = static_cast<int>((bits << (length - size)) >> (64 - size));
  return raw < 1 << (size - 1) ? raw - (1 << size) + 1 : raw;
}

}  // namespace

inline void JpegScan::Bits::Refill() {
  bits |= LoadBigEndian(next) >> left;
  next += (63 - left) >> 3;
  left |= 56;
}

inline bool JpegScan::ReadDc(const HuffmanTable& table, Bits& bits, int& predictor) {
  bits.Refill();
  uint32_t step = table.step(bits.bits);
  if (step == 0 && (step = table.LongStep(bits.bits)) == 0) return false;
  const int length = Step::Length(step), size = Step::ExtraBits(step);
  const int difference = size != 0 ? ExtraValue(bits.bits, length, size) : Step::Value(step);
  predictor = static_cast<int16_t>(predictor + difference);
  bits.Drop(length);
  return true;
}

inline bool JpegScan::Walk(const BlockCode& code, Bits& bits, int& predictor) {
  if (!ReadDc(*code.dc, bits, predictor)) return false;
  const HuffmanTable& table = *code.ac;
  int at = 1;
  Bits before;
  int passed;
  do {
    if (bits.left < 32) bits.Refill();
    before = bits;
    passed = at;
    uint32_t length, skip;
    if (const uint16_t walk = table.walk(bits.bits); walk != 0) [[likely]] {
      length = WalkStep::Length(walk);
      skip = WalkStep::Skip(walk);
    } else {
      const uint32_t step = table.LongStep(bits.bits);
      if (step == 0) return false;
      length = Step::Length(step);
      skip = Step::Skip(step) == Step::kEndOfBlock ? int{WalkStep::kEndOfBlock} : Step::Skip(step);
    }
    bits.Drop(static_cast<int>(length));
    at += static_cast<int>(skip);
  } while (at < 64);
  if (at == 64 || (at >= WalkStep::kEndOfBlock && at < WalkStep::kEndOfBlock + 64)) [[likely]]
    return true;
  // The block ended within the last entry, which is read again symbol by symbol.
  for (bits = before, at = passed; at < 64;) {
    bits.Refill();
    uint32_t step = table.step(bits.bits);
    if (step == 0 && (step = table.LongStep(bits.bits)) == 0) return false;
    bits.Drop(Step::Length(step));
    at += Step::Skip(step);
  }
  return at == 64 || at > Step::kEndOfBlock;
}

inline int JpegScan::Decode(const BlockCode& code, Bits& bits, int& predictor, int16_t* out) {
  if (!ReadDc(*code.dc, bits, predictor)) return -1;
  const int dc = predictor * code.quantization[0];
  out[0] = static_cast<int16_t>(dc);
  const HuffmanTable& table = *code.ac;
  int at = 1, last = 0, sum = std::abs(dc);
  do {
    if (bits.left < 32) bits.Refill();
    uint32_t step = table.step(bits.bits);
    if (step == 0 && (step = table.LongStep(bits.bits)) == 0) [[unlikely]]
      return -1;
    const int length = Step::Length(step), size = Step::ExtraBits(step);
    int value = Step::Value(step);
    if (size != 0) value = ExtraValue(bits.bits, length, size);
    bits.Drop(length);
    at += Step::Skip(step);
    if (value != 0) {
      last = at - 1;
      const int product = value * code.quantization[last & 63];
      out[kNaturalOrder[last]] = static_cast<int16_t>(product);
      sum += std::abs(product);
    }
  } while (at < 64);
  if ((at != 64 && at <= Step::kEndOfBlock) || sum > kMostOfABlock) return -1;
  return last;
}

void JpegScan::Start(std::span<const uint8_t> scan, uint32_t restart_interval, std::span<const BlockCode> blocks) {
  STOKER_CHECK(blocks.size() <= kMaxBlocks);
  std::copy(blocks.begin(), blocks.end(), blocks_.begin());
  block_count_ = static_cast<int>(blocks.size());
  restart_interval_ = restart_interval;
  if (buffer_.empty()) buffer_.resize(kBufferBytes + kSlack);
  input_ = scan;
  mcu_ = segment_ = 0;
  cut_ = false;
  BeginSegment();
}

void JpegScan::BeginSegment() {
  segment_done_ = false;
  bits_ = {buffer_.data()};
  end_ = buffer_.data();
  predictors_ = {};
  fresh_ = true;
  Fill();
}

// Fills the buffer with the next bytes of the segment, after those that bits_ has not read yet.
void JpegScan::Fill() {
  uint8_t* to = buffer_.data();
  if (bits_.next < end_) to = std::copy(bits_.next, end_, to);
  uint8_t* const full = buffer_.data() + kBufferBytes;
  bits_.next = buffer_.data();
  while (!segment_done_ && to < full) {
    const size_t room = std::min<size_t>(full - to, input_.size());
    const auto* found = static_cast<const uint8_t*>(std::memchr(input_.data(), 0xff, room));
    const size_t plain = found == nullptr ? room : found - input_.data();
    std::memcpy(to, input_.data(), plain);
    to += plain;
    input_ = input_.subspan(plain);
    if (input_.empty()) {
      segment_done_ = cut_ = true;
    } else if (found != nullptr) {
      segment_done_ = input_.size() < 2 || input_[1] != 0;
      if (segment_done_) break;
      *to++ = 0xff;
      input_ = input_.subspan(2);
    }
  }
  end_ = to;
  std::memset(to, 0, kSlack);
  safe_ = segment_done_ ? end_ : end_ - kSlack;
}

bool JpegScan::Provide(Bits& bits) {
  if (segment_done_) return bits.next - (bits.left >> 3) <= end_;
  bits_ = bits;
  Fill();
  bits = bits_;
  return true;
}

bool JpegScan::WalkMcus(int64_t count) {
  Bits bits = bits_;
  std::array<int, 3> predictors = predictors_;
  for (int64_t i = 0; i < count; ++i)
    for (int block = 0; block < block_count_; ++block) {
      if (bits.next > safe_ && !Provide(bits)) return false;
      if (!Walk(blocks_[block], bits, predictors[blocks_[block].component])) return false;
    }
  bits_ = bits;
  predictors_ = predictors;
  mcu_ += count;
  fresh_ = fresh_ && count == 0;
  return bits_.next - (bits_.left >> 3) <= end_;
}

bool JpegScan::WalkBlock(int block) {
  if (bits_.next > safe_ && !Provide(bits_)) return false;
  return Walk(blocks_[block], bits_, predictors_[blocks_[block].component]);
}

bool JpegScan::DecodeDc(int block, int16_t& dc) {
  if (!WalkBlock(block)) return false;
  const BlockCode& code = blocks_[block];
  const int product = predictors_[code.component] * code.quantization[0];
  dc = static_cast<int16_t>(product);
  return std::abs(product) <= kMostOfADc && bits_.next - (bits_.left >> 3) <= end_;
}

int JpegScan::DecodeBlock(int block, int16_t* out) {
  if (bits_.next > safe_ && !Provide(bits_)) return -1;
  Bits bits = bits_;
  const int last = Decode(blocks_[block], bits, predictors_[blocks_[block].component], out);
  bits_ = bits;
  return bits.next - (bits.left >> 3) <= end_ ? last : -1;
}

bool JpegScan::BeginMcu() {
  if (restart_interval_ != 0 && !fresh_ && mcu_ % restart_interval_ == 0 && !NextSegment()) return false;
  fresh_ = false;
  return true;
}

bool JpegScan::AdvanceTo(int64_t mcu) {
  if (restart_interval_ != 0) {
    const int64_t ahead = mcu / restart_interval_ - segment_;
    if (ahead > 0) {
      if (!SkipSegments(ahead)) return false;
      mcu_ = segment_ * restart_interval_;
    }
  }
  return WalkMcus(mcu - mcu_);
}

// Moves on to the next segment. Returns false where this one holds bytes that were not read.
bool JpegScan::NextSegment() {
  if (!segment_done_ || bits_.next - (bits_.left >> 3) != end_) return false;
  return SkipSegments(1);
}

bool JpegScan::SkipSegments(int64_t count) {
  for (; count > 0; --count) {
    while (!input_.empty()) {
      const void* found = std::memchr(input_.data(), 0xff, input_.size());
      if (found == nullptr) return false;
      input_ = input_.subspan(static_cast<const uint8_t*>(found) - input_.data());
      if (input_.size() < 2 || input_[1] != 0) break;
      input_ = input_.subspan(2);
    }
    if (!ReadRestartMarker()) return false;
  }
  BeginSegment();
  return true;
}

bool JpegScan::ReadRestartMarker() {
  if (input_.size() < 2 || input_[1] != 0xd0 + segment_ % 8) return false;
  input_ = input_.subspan(2);
  ++segment_;
  return true;
}

}  // namespace stoker
