#include "server/read/ahead/read_plan.h"

#include <algorithm>
#include <tuple>

namespace stoker {
namespace {

struct Wanted {
  uint64_t id = 0;
  size_t index = 0;  // in the order of need
  StoredSamples::Place place;
  bool kept = false;
};

// Returns the samples that fit: those to be read in the order in which they are stored, then those that are kept.
std::vector<Wanted> InStoredOrder(const StoredSamples& stored, std::span<const uint64_t> ids, uint64_t most_bytes,
                                  const IsKeptAt& is_kept, FieldSet fields) {
  std::vector<Wanted> wanted;
  wanted.reserve(ids.size());
  uint64_t bytes = 0;
  for (const uint64_t id : ids) {
    if (!stored.Has(id, fields)) continue;
    const StoredSamples::Place place = stored.PlaceOf(id, fields);
    if (place.size > most_bytes - bytes) break;
    bytes += place.size;
    wanted.push_back({id, wanted.size(), place, is_kept && is_kept(place)});
  }
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
    return std::tuple(a.kept, a.place.object, a.place.offset, a.index) <
           std::tuple(b.kept, b.place.object, b.place.offset, b.index);
  });
  return wanted;
}

// Returns the longest gap between samples that is read over, so that all such gaps together are at most a kGapPart of
// what is wanted, or no longer than kAnyGapBytes.
uint64_t MostGap(const std::vector<Wanted>& wanted) {
  std::vector<uint64_t> gaps;
  uint64_t bytes = 0, end = 0;
  for (size_t i = 0; i < wanted.size() && !wanted[i].kept; ++i) {
    const StoredSamples::Place& place = wanted[i].place;
    bytes += place.size;
    const bool follows = i > 0 && wanted[i - 1].place.object == place.object;
    if (follows && place.offset > end && place.offset - end <= kMostGapBytes) gaps.push_back(place.offset - end);
    end = std::max(follows ? end : 0, place.offset + place.size);
  }
  std::sort(gaps.begin(), gaps.end());
  uint64_t sum = 0, most = kAnyGapBytes;
  for (const uint64_t gap : gaps) {
    sum += gap;
    if (sum > bytes / kGapPart) break;
    most = std::max(most, gap);
  }
  return most;
}

// Whether `next`, which begins no earlier than `read`, is read with it.
bool AreNeighbours(const ReadPlan::Read& read, const StoredSamples::Place& next, uint64_t most_gap) {
  const uint64_t end = read.offset + read.size, next_end = next.offset + next.size;
  if (read.object != next.object) return false;
  if (next_end <= end) return true;
  return next.offset <= end + most_gap && next_end - read.offset <= kMostReadBytes;
}

}  // namespace

ReadPlan PlanReads(const StoredSamples& stored, std::span<const uint64_t> ids, uint64_t most_bytes,
                   const IsKeptAt& is_kept, FieldSet fields) {
  struct Ordered {
    ReadPlan::Read read;
    size_t index;     // of the sample that needs it first
    uint32_t number;  // in stored order
  };
  const std::vector<Wanted> wanted = InStoredOrder(stored, ids, most_bytes, is_kept, fields);
  const uint64_t most_gap = MostGap(wanted);
  std::vector<Ordered> reads;
  ReadPlan plan;
  plan.samples.reserve(wanted.size());
  for (const auto& [id, index, place, kept] : wanted) {
    if (reads.empty() || kept || !AreNeighbours(reads.back().read, place, most_gap))
      reads.push_back({{place.object, place.offset, 0, 0, kept}, index, static_cast<uint32_t>(reads.size())});
    ReadPlan::Read& read = reads.back().read;
    read.size = std::max(read.size, place.offset + place.size - read.offset);
    ++read.samples;
    reads.back().index = std::min(reads.back().index, index);
    plan.samples.push_back({id, reads.back().number, place.offset - read.offset, place.size});
  }
  std::sort(reads.begin(), reads.end(), [](const Ordered& a, const Ordered& b) { return a.index < b.index; });
  std::vector<uint32_t> places(reads.size());
  plan.reads.reserve(reads.size());
  for (const Ordered& ordered : reads) {
    places[ordered.number] = static_cast<uint32_t>(plan.reads.size());
    plan.bytes += ordered.read.size;
    plan.reads.push_back(ordered.read);
  }
  for (ReadPlan::Sample& sample : plan.samples) sample.read = places[sample.read];
  std::sort(plan.samples.begin(), plan.samples.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return plan;
}

}  // namespace stoker
