#ifndef STOKER_SERVER_PACK_SPAN_WRITER_H_
#define STOKER_SERVER_PACK_SPAN_WRITER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "common/pipeline/server_pipeline.h"

namespace stoker {

// Knows where each sample's fields lie in a span's payload. The fields follow one another in declared order, without
// padding; each holds all samples of the span. With C samples and fields f, g of F and G bytes a sample:
//
//   ┌───────┬───────┬───┬─────────┬───────┬───────┬───┬─────────┐
//   │ f[0]  │ f[1]  │ … │ f[C−1]  │ g[0]  │ g[1]  │ … │ g[C−1]  │
//   └───────┴───────┴───┴─────────┴───────┴───────┴───┴─────────┘
//   0       F                     C·F     C·F + G               C·(F + G) bytes
//
// Points into the slab, which must outlive it. Thread-safe, as long as no two threads write one slot.
class SpanWriter {
 public:
  // Requires slab.size() == count × pipeline.sample_bytes().
  SpanWriter(const ServerPipeline& pipeline, uint32_t count, std::span<uint8_t> slab);

  // Returns the bytes of sample `index` < count in output number `field` of the pipeline.
  std::span<uint8_t> Slot(size_t field, uint32_t index) const;

  // Copies `value` into the slot, for a field that needs no decoding. Requires that they have the same size.
  void Write(size_t field, uint32_t index, std::span<const uint8_t> value) const;

 private:
  // One field's part of the slab.
  struct Run {
    uint8_t* begin;
    uint64_t bytes;  // bytes of one sample
  };
  std::vector<Run> fields_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PACK_SPAN_WRITER_H_
