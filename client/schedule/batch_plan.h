#ifndef STOKER_CLIENT_SCHEDULE_BATCH_PLAN_H_
#define STOKER_CLIENT_SCHEDULE_BATCH_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/identity/span_id.h"

namespace stoker {

// What becomes of an epoch's last samples where they are too few for a batch on every rank. In each mode every rank has
// the same number of batches.
enum class LastBatch {
  kDrop,     // They are left out.
  kPad,      // They are filled up with the epoch's first positions.
  kPartial,  // They are spread over the ranks: the last ranks get a short or an empty batch.
};

// A job's place in its global order: the epochs before `epoch` and its positions below `position` are done.
struct Cursor {
  uint64_t epoch = 0;
  uint64_t position = 0;
  friend auto operator<=>(const Cursor&, const Cursor&) = default;
};

// Consecutive positions in a batch.
struct Run {
  uint64_t start = 0;  // The first position.
  uint64_t count = 0;
  uint64_t row = 0;  // The batch's row that has the first position.
};

// One rank's part of a global batch.
struct BatchSpec {
  Cursor cursor;          // Where the global batch begins.
  Cursor next;            // Where the job stands after it.
  std::vector<Run> runs;  // Sorted by row; there are several where padding wraps.
  uint64_t rows = 0;      // Samples, padding included.
  uint64_t real = 0;      // Samples before the padding.
};

// Which positions each batch of one rank has: global batch g of W ranks covers B·W consecutive positions after the
// cursor, of which rank r takes its r-th run of B. Pure; immutable, hence thread-safe.
class BatchPlan {
 public:
  // What a rank's batches are computed from.
  struct Options {
    uint64_t samples = 0;
    uint64_t batch_size = 1;
    uint64_t rank = 0, world_size = 1;
    LastBatch last_batch = LastBatch::kDrop;
  };

  // InvalidArgument names the option.
  static absl::Status Validate(const Options& options);

  // Requires valid options.
  explicit BatchPlan(const Options& options) : options_(options) {}

  // The batch at `cursor`, or none if its epoch has no further batch.
  std::optional<BatchSpec> At(Cursor cursor) const;

  // Batches of the epoch from `position` on.
  uint64_t BatchesFrom(uint64_t position) const;

 private:
  const Options options_;
};

// Cuts a run where the grid of spans does, which has a border at each multiple of `span_samples`, so that jobs of equal
// shape ask for equal spans. Requires span_samples of at least 1.
std::vector<SpanId> CutSpans(uint64_t epoch, const Run& run, uint64_t span_samples);

}  // namespace stoker

#endif  // STOKER_CLIENT_SCHEDULE_BATCH_PLAN_H_
