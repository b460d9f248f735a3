#include "client/loader/assembly.h"

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace stoker {

Assembly::Assembly(const BatchSpec& spec, std::shared_ptr<HostSlab> slab, uint64_t span_samples, bool names,
                   size_t variable)
    : landed_(std::make_shared<LandedBatch>()) {
  landed_->spec = spec;
  landed_->slab = std::move(slab);
  landed_->positions.resize(spec.rows);
  landed_->sample_ids.resize(spec.rows);
  if (names) landed_->names.resize(spec.rows);
  landed_->values.resize(variable);
  for (const Run& run : spec.runs) {
    for (uint64_t i = 0; i < run.count; ++i) landed_->positions[run.row + i] = run.start + i;
    for (const SpanId& span : CutSpans(spec.cursor.epoch, run, span_samples))
      parts_.push_back({span, run.row + span.start - run.start});
  }
  landed_->drawn_positions = landed_->positions;
  missing_ = parts_.size();
}

void Assembly::Land(const Part& part, const v1::SpanHeader& header, std::span<const std::span<uint8_t>> values) {
  LandedBatch& batch = *landed_;
  for (size_t i = 0; i < values.size(); ++i) batch.values[i].push_back({part.row, values[i]});
  for (uint32_t i = 0; i < part.span.count; ++i)
    batch.sample_ids[part.row + i] = header.sample_ids(static_cast<int>(i));
  if (!batch.names.empty())
    for (uint32_t i = 0; i < part.span.count; ++i) batch.names[part.row + i] = header.names(static_cast<int>(i));
  for (const v1::Substitution& it : header.substitutions()) {
    if (it.offset() >= part.span.count) continue;  // A server's word is not trusted.
    batch.drawn_positions[part.row + it.offset()] = it.position();
    batch.substituted.push_back({.position = part.span.start + it.offset(),
                                 .bad_sample_id = it.bad_sample_id(),
                                 .bad_sample_name = it.bad_sample_name(),
                                 .reason = it.reason()});
  }
  Answered();
}

void Assembly::Fail(const Part& part, const absl::Status& status) {
  if (status_.ok() || part.row < failed_row_) {
    status_ = status;
    failed_row_ = part.row;
  }
  Answered();
}

void Assembly::Answered() {
  STOKER_CHECK(missing_ > 0);
  if (--missing_ > 0) return;
  std::sort(landed_->substituted.begin(), landed_->substituted.end(),
            [](const Substituted& a, const Substituted& b) { return a.position < b.position; });
  for (auto& values : landed_->values)
    std::sort(values.begin(), values.end(),
              [](const LandedBatch::Values& a, const LandedBatch::Values& b) { return a.row < b.row; });
}

std::shared_ptr<LandedBatch> Assembly::landed() const {
  STOKER_CHECK(whole() && status_.ok());
  return landed_;
}

}  // namespace stoker
