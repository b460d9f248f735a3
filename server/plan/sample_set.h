#ifndef STOKER_SERVER_PLAN_SAMPLE_SET_H_
#define STOKER_SERVER_PLAN_SAMPLE_SET_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

namespace stoker {

// A set of sample ids, which finds the id of a rank: its place among the set's ids in ascending order, counted from 0.
// It takes one bit for each id up to the largest, and a thirty-second of that. Immutable, hence thread-safe.
class SampleSet {
 public:
  // Holds the id 64·w + b for each bit b, counted from the lowest, that is set in word w.
  explicit SampleSet(std::vector<uint64_t> words);

  // Returns the bytes that a set takes whose ids are all below `end`.
  static uint64_t BytesFor(uint64_t end);

  // Returns the number of ids.
  uint64_t size() const { return size_; }

  // Returns the id of a rank. Requires rank < size().
  uint64_t IdAt(uint64_t rank) const;

  // Returns the number of the set's ids that are below `end`.
  uint64_t CountBelow(uint64_t end) const;

  bool Contains(uint64_t id) const { return id / 64 < words_.size() && (words_[id / 64] >> id % 64 & 1) != 0; }

  // Calls `tell` for each run of consecutive ids, in ascending order, with the first id and the one after the last.
  void ForEachRun(absl::FunctionRef<void(uint64_t begin, uint64_t end)> tell) const;

  // Returns the bytes of memory that the set holds beside itself.
  uint64_t resident_bytes() const { return (words_.capacity() + before_.capacity()) * sizeof(uint64_t); }

 private:
  static constexpr uint64_t kBlockWords = 32;

  std::vector<uint64_t> words_;
  std::vector<uint64_t> before_;  // how many ids lie below each block of words
  uint64_t size_ = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLAN_SAMPLE_SET_H_
