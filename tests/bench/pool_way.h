#ifndef STOKER_TESTS_BENCH_POOL_WAY_H_
#define STOKER_TESTS_BENCH_POOL_WAY_H_

#include <cstdint>
#include <map>
#include <memory>

#include "absl/status/statusor.h"
#include "server/read/dataset.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// What a pool of workers is given.
struct PoolOptions {
  int workers = 1;
  uint64_t ahead_bytes = 0;    // of what is read ahead
  uint64_t decoded_bytes = 0;  // of images that are kept decoded
  uint64_t window = 64;        // wants that are outstanding at once: none is faster for having more
  v1::Shuffle shuffle = {};
};

// The payloads' hashes of the first epoch's spans, by their starts.
using SpanHashes = std::map<uint64_t, uint64_t>;

// What a pool made in one stretch of time.
struct PoolRun {
  double images = 0, wall_seconds = 0, cpu_seconds = 0;  // the last of this whole process
};

// Makes images of `dataset`, epoch after epoch in the shuffled order of a training job, in a pool of its own: for
// `warm_seconds` untimed, then for `seconds`. Adds to `hashes`. Returns the error of a span that has one.
absl::StatusOr<PoolRun> RunPool(const std::shared_ptr<const Dataset>& dataset, const PoolOptions& options,
                                double warm_seconds, double seconds, SpanHashes& hashes);

// Returns the start of a span of which both know the hash, and not the same one; else nothing.
const uint64_t* DifferentSpan(const SpanHashes& a, const SpanHashes& b);

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_POOL_WAY_H_
