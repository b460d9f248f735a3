#include "server/plan/sample_set.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/check.h"

namespace stoker {

SampleSet::SampleSet(std::vector<uint64_t> words) : words_(std::move(words)) {
  before_.reserve(words_.size() / kBlockWords + 1);
  for (size_t word = 0; word < words_.size(); ++word) {
    if (word % kBlockWords == 0) before_.push_back(size_);
    size_ += std::popcount(words_[word]);
  }
}

uint64_t SampleSet::BytesFor(uint64_t end) {
  const uint64_t words = end / 64 + (end % 64 != 0 ? 1 : 0);
  return (words + words / kBlockWords + 1) * sizeof(uint64_t);
}

uint64_t SampleSet::IdAt(uint64_t rank) const {
  STOKER_CHECK(rank < size_);
  const uint64_t block = std::upper_bound(before_.begin(), before_.end(), rank) - before_.begin() - 1;
  uint64_t left = rank - before_[block], word = block * kBlockWords;
  for (uint64_t ids; left >= (ids = std::popcount(words_[word])); ++word) left -= ids;
  uint64_t bits = words_[word];
  for (; left > 0; --left) bits &= bits - 1;  // Clears the lowest bit.
  return word * 64 + std::countr_zero(bits);
}

uint64_t SampleSet::CountBelow(uint64_t end) const {
  const uint64_t last = std::min<uint64_t>(end / 64, words_.size()), block = last / kBlockWords;
  uint64_t count = block < before_.size() ? before_[block] : size_;
  for (uint64_t word = block * kBlockWords; word < last; ++word) count += std::popcount(words_[word]);
  if (last < words_.size()) count += std::popcount(words_[last] & ((uint64_t{1} << end % 64) - 1));
  return count;
}

void SampleSet::ForEachRun(absl::FunctionRef<void(uint64_t begin, uint64_t end)> tell) const {
  uint64_t begin = 0, end = 0;  // The run that was found last, and may go on.
  for (uint64_t word = 0; word < words_.size(); ++word) {
    uint64_t bits = words_[word], first = word * 64;
    while (bits != 0) {
      const int skipped = std::countr_zero(bits);
      const int ids = std::countr_one(bits >> skipped);
      first += skipped;
      if (first != end) {
        if (begin != end) tell(begin, end);
        begin = first;
      }
      first += ids;
      end = first;
      bits = skipped + ids == 64 ? 0 : bits >> (skipped + ids);
    }
  }
  if (begin != end) tell(begin, end);
}

}  // namespace stoker
