#include "server/decode/jpeg_huffman.h"

#include <algorithm>

namespace stoker {
namespace {

// The most bits of a DC difference in an image of 8 bits (ITU-T T.81, table F.1).
constexpr int kMaxDcBits = 11;

// Reads a coefficient that is written in `size` bits (ITU-T T.81, table F.1): it is negative where the first bit is 0.
int Extend(int bits, int size) { return bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits; }

}  // namespace

uint32_t HuffmanTable::StepOf(int symbol, int length, uint64_t bits, int known) const {
  const int size = is_dc_ ? symbol : symbol & 15, run = is_dc_ ? 0 : symbol >> 4;
  if (size == 0) return Step::Make(length, 0, is_dc_ ? 1 : run == 15 ? 16 : Step::kEndOfBlock, 0);
  if (size > known) return Step::Make(length + size, size, run + 1, 0);
  const int value = Extend(static_cast<int>(bits << length >> (64 - size)), size);
  return Step::Make(length + size, 0, run + 1, value);
}

bool HuffmanTable::Build(const HuffmanSpec& spec, bool is_dc) {
  is_dc_ = is_dc;
  symbols_ = spec.symbols;
  steps_.fill(0);
  std::array<uint8_t, 1 << kBits> code_lengths = {};
  uint32_t code = 0;  // the next code of the present length
  int next = 0;       // the index of its symbol
  for (int length = 1; length <= 16; ++length, code <<= 1) {
    offsets_[length] = next - static_cast<int>(code);
    for (int i = 0; i < spec.counts[length - 1]; ++i, ++code, ++next) {
      if (code >> length != 0 || (is_dc && symbols_[next] > kMaxDcBits)) return false;
      if (length > kBits) continue;
      const int known = kBits - length;
      for (uint64_t rest = 0; rest < uint64_t{1} << known; ++rest) {
        const uint64_t index = uint64_t{code} << known | rest;
        steps_[index] = StepOf(symbols_[next], length, index << (64 - kBits), known);
        code_lengths[index] = static_cast<uint8_t>(length);
      }
    }
    if (code >> length != 0) return false;  // The code that consists of ones alone must stay free.
    limits_[length] = code << (16 - length);
  }
  for (uint64_t index = 0; index < walks_.size() && !is_dc; ++index) {
    int length = 0, skip = 0;
    while (length < kBits) {
      // Zeros are shifted in behind the known bits. A code that reaches into them is not known.
      const uint64_t rest = (index << length) & (walks_.size() - 1);
      if (steps_[rest] == 0 || code_lengths[rest] > kBits - length) break;
      const bool ends = Step::Skip(steps_[rest]) == Step::kEndOfBlock;
      if (!ends && length > 0 && skip + Step::Skip(steps_[rest]) >= 64) break;
      length += Step::Length(steps_[rest]);
      skip += ends ? int{Walk::kEndOfBlock} : Step::Skip(steps_[rest]);
      if (ends) break;
    }
    walks_[index] = Walk::Make(length, skip);
  }
  return true;
}

uint32_t HuffmanTable::LongStep(uint64_t bits) const {
  const auto top = static_cast<uint32_t>(bits >> 48);
  for (int length = kBits + 1; length <= 16; ++length)
    if (top < limits_[length])
      return StepOf(symbols_[(offsets_[length] + static_cast<int>(top >> (16 - length))) & 255], length, bits, 48);
  return 0;
}

const HuffmanTable* HuffmanCache::Get(const HuffmanSpec& spec, bool is_dc) {
  ++clock_;
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [&](const auto& entry) { return entry->is_dc == is_dc && entry->spec == spec; });
  if (found == entries_.end() && entries_.size() < kKept) {
    entries_.push_back(std::make_unique<Entry>());
    found = entries_.end() - 1;
    (*found)->used = 0;
  } else if (found == entries_.end()) {
    found = std::min_element(entries_.begin(), entries_.end(),
                             [](const auto& a, const auto& b) { return a->used < b->used; });
    (*found)->used = 0;
  }
  Entry& entry = **found;
  if (entry.used == 0) {
    entry.spec = spec;
    entry.is_dc = is_dc;
    entry.valid = entry.table.Build(spec, is_dc);
  }
  entry.used = clock_;
  return entry.valid ? &entry.table : nullptr;
}

}  // namespace stoker
