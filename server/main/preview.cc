#include "server/main/preview.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/picture/picture.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr int64_t kSide = 160, kChannels = 3, kColumns = 6;
constexpr absl::Duration kPatience = absl::Seconds(10);

// The spans that a stream was promised. Thread-safe.
class Arrivals {
 public:
  void Add(FinishedSpan span) {
    absl::MutexLock lock(&mutex_);
    spans_.push_back(std::move(span));
  }

  // Waits for one; none where `patience` is over.
  std::vector<FinishedSpan> Await(absl::Duration patience) {
    absl::MutexLock lock(&mutex_);
    const auto any = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !spans_.empty(); };
    mutex_.AwaitWithTimeout(absl::Condition(&any), patience);
    return std::move(spans_);
  }

 private:
  absl::Mutex mutex_;
  std::vector<FinishedSpan> spans_ ABSL_GUARDED_BY(mutex_);
};

v1::Pipeline Squares() {
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_resize()->add_size(kSide);
  pipeline.add_ops()->mutable_center_crop()->add_size(kSide);
  pipeline.set_bad_samples(v1::BAD_SAMPLES_SUBSTITUTE);
  return pipeline;
}

// Returns the name of the first field that becomes such squares.
absl::StatusOr<std::string> ImageField(const v1::DescribeResponse& description) {
  for (const v1::Field& field : description.fields())
    if (field.dtype() == v1::DTYPE_UINT8 && field.shape_size() == 3 && field.shape(0) == kSide &&
        field.shape(1) == kSide && field.shape(2) == kChannels)
      return field.name();
  return absl::FailedPreconditionError("the dataset has no images");
}

// Lays squares out in rows.
Picture SheetOf(std::span<const uint8_t> squares) {
  constexpr int64_t kSquareBytes = kSide * kSide * kChannels, kRowBytes = kSide * kChannels;
  const auto count = static_cast<int64_t>(squares.size()) / kSquareBytes;
  const int64_t columns = std::min(count, kColumns), rows = (count + kColumns - 1) / kColumns;
  Picture sheet = {rows * kSide, columns * kSide, std::vector<uint8_t>(rows * columns * kSquareBytes, 0xff)};
  for (int64_t i = 0; i < count; ++i)
    for (int64_t y = 0; y < kSide; ++y)
      std::memcpy(sheet.pixels.data() + ((i / kColumns * kSide + y) * columns + i % kColumns) * kRowBytes,
                  squares.data() + i * kSquareBytes + y * kRowBytes, kRowBytes);
  return sheet;
}

}  // namespace

absl::StatusOr<std::string> DrawSamples(Engine& engine, const std::string& dataset, uint64_t first) {
  v1::DescribeRequest request;
  request.set_dataset(dataset);
  *request.mutable_pipeline() = Squares();
  const auto description = engine.Describe(request);
  if (absl::IsInvalidArgument(description.status()))
    return absl::FailedPreconditionError(absl::StrCat("no images can be drawn: ", description.status().message()));
  STOKER_RETURN_IF_ERROR(description.status());
  const uint64_t samples = description->identity().samples();
  if (first >= samples) return absl::NotFoundError(absl::StrCat("there are ", samples, " samples, from 0 on"));
  v1::Open open;
  open.set_dataset(dataset);
  *open.mutable_pipeline() = Squares();
  STOKER_ASSIGN_OR_RETURN(*open.mutable_pipeline()->add_fields(), ImageField(*description));
  open.mutable_shuffle()->set_mode(v1::SHUFFLE_MODE_NONE);
  const auto arrivals = std::make_shared<Arrivals>();
  STOKER_ASSIGN_OR_RETURN(const auto stream,
                          engine.Open(open, [arrivals](FinishedSpan span) { arrivals->Add(std::move(span)); }));
  v1::Want want;
  want.set_start(first);
  want.set_count(static_cast<uint32_t>(std::min(kPreviewSamples, samples - first)));
  STOKER_RETURN_IF_ERROR(stream->Want(want));
  const std::vector<FinishedSpan> spans = arrivals->Await(kPatience);
  if (spans.empty()) return absl::UnavailableError("the workers are too busy to draw samples; try again");
  if (spans[0].header.has_error()) return absl::UnavailableError(spans[0].header.error().message());
  return EncodePng(SheetOf(spans[0].payload()));
}

}  // namespace stoker
