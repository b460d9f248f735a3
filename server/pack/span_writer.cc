#include "server/pack/span_writer.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/fields/schema.h"

namespace stoker {

SpanWriter::SpanWriter(const ServerPipeline& pipeline, uint32_t count, std::span<uint8_t> slab)
    : count_(count), slab_(slab.data()) {
  STOKER_CHECK(slab.size() == count * pipeline.sample_bytes());
  const auto& outputs = pipeline.outputs();
  uint8_t* begin = slab.data();
  fields_.resize(outputs.size());
  number_.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].variable()) continue;
    fields_[i] = {begin, outputs[i].bytes};
    begin += count * outputs[i].bytes;
  }
  fixed_bytes_ = begin - slab.data();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].variable()) continue;
    number_[i] = values_.size();
    values_.push_back({.output = &outputs[i],
                       .sizes = begin,
                       .begin = begin + count * kLengthBytes,
                       .row_bytes = RowBytes(outputs[i].field)});
    begin += count * outputs[i].bytes;
  }
}

std::span<uint8_t> SpanWriter::Slot(size_t field, uint32_t index) const {
  const Run& run = fields_[field];
  return {run.begin + index * run.bytes, run.bytes};
}

void SpanWriter::Write(size_t field, uint32_t index, std::span<const uint8_t> value) const {
  const std::span<uint8_t> slot = Slot(field, index);
  STOKER_CHECK(value.size() == slot.size());
  std::memcpy(slot.data(), value.data(), value.size());
}

absl::StatusOr<std::span<uint8_t>> SpanWriter::Grow(size_t field, uint32_t index, uint64_t bytes) {
  Values& values = values_[number_[field]];
  const v1::Field& declared = values.output->field;
  if (bytes > declared.max_bytes())
    return absl::DataLossError(absl::StrCat("field '", declared.name(), "' has ", bytes,
                                            " bytes, more than its max_bytes of ", declared.max_bytes(),
                                            "; raise it where the dataset is configured, on every server"));
  if (bytes % values.row_bytes != 0)
    return absl::DataLossError(absl::StrCat("field '", declared.name(), "' has ", bytes, " bytes, no multiple of the ",
                                            values.row_bytes, " of a row"));
  STOKER_CHECK(index == values.samples || index + 1 == values.samples);
  if (index == values.samples) {
    values.before = values.end;
    ++values.samples;
  }
  values.end = values.before + bytes;
  const auto size = static_cast<uint32_t>(bytes);
  std::memcpy(values.sizes + index * kLengthBytes, &size, kLengthBytes);
  return std::span(values.begin + values.before, bytes);
}

std::span<uint8_t> SpanWriter::Last(size_t field) const {
  const Values& values = values_[number_[field]];
  return {values.begin + values.before, values.end - values.before};
}

void SpanWriter::Finish(v1::SpanHeader& header) const {
  uint8_t* to = slab_ + fixed_bytes_;
  for (const Values& values : values_) {
    STOKER_CHECK(values.samples == count_);
    const uint64_t bytes = count_ * kLengthBytes + values.end;
    std::memmove(to, values.sizes, bytes);
    to += bytes;
    header.add_values_bytes(values.end);
  }
}

}  // namespace stoker
