#include "client/schedule/batch_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace stoker {
namespace {

// Bounds a global batch, so that no sum of a position and the offsets within a batch exceeds 64 bits.
constexpr uint64_t kMostSamplesOfABatch = uint64_t{1} << 32;

}  // namespace

absl::Status BatchPlan::Validate(const Options& options) {
  if (options.samples < 1) return absl::InvalidArgumentError("dataset: it has no samples");
  if (options.batch_size < 1) return absl::InvalidArgumentError("batch_size: must be at least 1");
  if (options.world_size < 1) return absl::InvalidArgumentError("world_size: must be at least 1");
  if (options.rank >= options.world_size)
    return absl::InvalidArgumentError(
        absl::StrCat("rank: ", options.rank, " is not below world_size ", options.world_size));
  if (options.batch_size > kMostSamplesOfABatch / options.world_size)
    return absl::InvalidArgumentError("batch_size: batch_size × world_size must not exceed 2^32");
  if (options.last_batch == LastBatch::kDrop && options.samples < options.batch_size * options.world_size)
    return absl::InvalidArgumentError(absl::StrCat(
        "batch_size: the dataset's ", options.samples, " samples do not fill one batch of ", options.batch_size, " on ",
        options.world_size, " ranks, and last_batch is drop; take a smaller batch, or last_batch pad or partial"));
  return absl::OkStatus();
}

std::optional<BatchSpec> BatchPlan::At(Cursor cursor) const {
  const uint64_t samples = options_.samples, batch = options_.batch_size, global = batch * options_.world_size;
  if (cursor.position >= samples) return std::nullopt;
  const uint64_t left = samples - cursor.position;
  const bool tail = left < global;
  if (tail && options_.last_batch == LastBatch::kDrop) return std::nullopt;

  BatchSpec spec{.cursor = cursor};
  uint64_t share = batch;  // Samples of each rank.
  if (tail && options_.last_batch == LastBatch::kPartial) share = (left - 1) / options_.world_size + 1;
  const uint64_t before = std::min(left, options_.rank * share);
  spec.real = std::min(share, left - before);
  spec.rows = options_.last_batch == LastBatch::kPad ? batch : spec.real;

  uint64_t offset = options_.rank * share;  // From the cursor; it wraps past the epoch's end.
  for (uint64_t row = 0; row < spec.rows;) {
    const uint64_t start = (cursor.position + offset) % samples;
    const uint64_t count = std::min(spec.rows - row, samples - start);
    spec.runs.push_back({start, count, row});
    row += count;
    offset += count;
  }
  // A batch after which only a dropped tail is left ends the epoch, so that the cursor of a finished epoch is always
  // the beginning of the next one.
  const uint64_t next = tail ? samples : cursor.position + global;
  const bool ended = next == samples || (options_.last_batch == LastBatch::kDrop && samples - next < global);
  spec.next = ended ? Cursor{cursor.epoch + 1, 0} : Cursor{cursor.epoch, next};
  return spec;
}

uint64_t BatchPlan::BatchesFrom(uint64_t position) const {
  const uint64_t left = options_.samples - std::min(position, options_.samples);
  const uint64_t global = options_.batch_size * options_.world_size;
  return left / global + (options_.last_batch != LastBatch::kDrop && left % global != 0 ? 1 : 0);
}

std::vector<SpanId> CutSpans(uint64_t epoch, const Run& run, uint64_t span_samples) {
  STOKER_CHECK(span_samples >= 1);
  std::vector<SpanId> spans;
  for (uint64_t start = run.start, end = run.start + run.count; start < end;) {
    const uint64_t border = std::min(end, (start / span_samples + 1) * span_samples);
    spans.push_back({epoch, start, static_cast<uint32_t>(border - start)});
    start = border;
  }
  return spans;
}

}  // namespace stoker
