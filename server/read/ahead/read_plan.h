#ifndef STOKER_SERVER_READ_AHEAD_READ_PLAN_H_
#define STOKER_SERVER_READ_AHEAD_READ_PLAN_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "server/read/dataset.h"

namespace stoker {

// Which ranges of objects to read for some samples. Plain values.
struct ReadPlan {
  // A range of one object, which holds one sample or several neighbours.
  struct Read {
    uint64_t object = 0;            // its number (StoredSamples::Place)
    uint64_t offset = 0, size = 0;  // bytes
    uint32_t samples = 0;           // that lie in it
    bool kept = false;              // it is one sample, which a cache has
  };
  // Where a sample lies in its read.
  struct Sample {
    uint64_t id = 0;
    uint32_t read = 0;              // a place in `reads`
    uint64_t offset = 0, size = 0;  // bytes
  };

  std::vector<Read> reads;      // in the order in which samples need them
  std::vector<Sample> samples;  // in the order of their ids
  uint64_t bytes = 0;           // of all reads
};

// Neighbours are read together, up to kMostReadBytes, if kAnyGapBytes or less lie between them: what formats write
// between samples. Longer gaps, up to kMostGapBytes, are read over from the shortest on, as long as all gaps together
// are at most a kGapPart of the bytes that are wanted. So a span of a block shuffle, which takes some of the samples of
// its window, fetches hardly more than it needs.
inline constexpr uint64_t kAnyGapBytes = uint64_t{2} << 10, kMostGapBytes = uint64_t{64} << 10;
inline constexpr uint64_t kGapPart = 16;
inline constexpr uint64_t kMostReadBytes = uint64_t{8} << 20;

// Whether a cache has the sample that is stored there.
using IsKeptAt = std::function<bool(const StoredSamples::Place&)>;

// Plans the reads for those `fields` of the samples `ids`, in which one may stand twice. The samples from the first on
// at which the sum of sizes would be above `most_bytes` are left out. A sample that `is_kept` is read by itself;
// without it none is.
ReadPlan PlanReads(const StoredSamples& stored, std::span<const uint64_t> ids, uint64_t most_bytes,
                   const IsKeptAt& is_kept = nullptr, FieldSet fields = FieldSet::All());

}  // namespace stoker

#endif  // STOKER_SERVER_READ_AHEAD_READ_PLAN_H_
