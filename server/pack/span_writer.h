#ifndef STOKER_SERVER_PACK_SPAN_WRITER_H_
#define STOKER_SERVER_PACK_SPAN_WRITER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "common/pipeline/server_pipeline.h"

namespace stoker {

// Where each sample's fields lie in a span: field by field in declared order, each `count` samples long,
// without padding. Writes only through what it hands out. Refers to its arguments; one thread at a time.
class SpanWriter {
 public:
  // Requires slab.size() == count × pipeline.sample_bytes().
  SpanWriter(const ServerPipeline& pipeline, uint32_t count, std::span<uint8_t> slab);

  // The place of output `field` (its index) of sample `index`, 0 ≤ index < count.
  std::span<uint8_t> Slot(size_t field, uint32_t index) const;

  // Copies a field that needs no decoding. Requires value.size() == the field's bytes.
  void Write(size_t field, uint32_t index, std::span<const uint8_t> value) const;

 private:
  struct Run {
    uint8_t* begin;
    uint64_t bytes;  // of one sample
  };
  std::vector<Run> fields_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PACK_SPAN_WRITER_H_
