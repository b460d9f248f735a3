#include "server/pack/span_writer.h"

#include <cstring>

#include "common/check.h"

namespace stoker {

SpanWriter::SpanWriter(const ServerPipeline& pipeline, uint32_t count, std::span<uint8_t> slab) {
  STOKER_CHECK(slab.size() == count * pipeline.sample_bytes());
  uint8_t* begin = slab.data();
  for (const auto& output : pipeline.outputs()) {
    fields_.push_back({begin, output.bytes});
    begin += count * output.bytes;
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

}  // namespace stoker
