#ifndef STOKER_SERVER_PACK_SPAN_WRITER_H_
#define STOKER_SERVER_PACK_SPAN_WRITER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/pipeline/server_pipeline.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Writes each sample's fields into a span's payload, which common/fields/span_layout.h draws. While samples are made,
// every field has room for the most that its samples can have; Finish moves those together whose samples differ in
// size.
//
// Points into the slab, which must outlive it. One thread at a time.
class SpanWriter {
 public:
  // Requires slab.size() == count × pipeline.sample_bytes().
  SpanWriter(const ServerPipeline& pipeline, uint32_t count, std::span<uint8_t> slab);

  // Returns the bytes of sample `index` < count in output number `field` of the pipeline, whose samples have one size.
  std::span<uint8_t> Slot(size_t field, uint32_t index) const;

  // Copies `value` into the slot, for a field that needs no decoding. Requires that they have the same size.
  void Write(size_t field, uint32_t index, std::span<const uint8_t> value) const;

  // Returns the room for sample `index` of a field whose samples differ in size, which has `bytes`. Samples are made in
  // order; the last one may be made again. DataLoss where it has more than the field allows, or no whole rows.
  absl::StatusOr<std::span<uint8_t>> Grow(size_t field, uint32_t index, uint64_t bytes);

  // Returns the sample that was given room last in such a field.
  std::span<uint8_t> Last(size_t field) const;

  // Ends a span whose samples are all made, and tells `header` how many bytes those have that differ in size.
  void Finish(v1::SpanHeader& header) const;

 private:
  // The part of the slab of a field whose samples have one size.
  struct Run {
    uint8_t* begin = nullptr;
    uint64_t bytes = 0;  // bytes of one sample
  };

  // The part of the slab of a field whose samples differ in size.
  struct Values {
    const ServerPipeline::Output* output = nullptr;
    uint8_t* sizes = nullptr;
    uint8_t* begin = nullptr;  // of the samples
    uint64_t row_bytes = 0;
    uint64_t before = 0, end = 0;  // where the last sample begins and ends
    uint32_t samples = 0;          // that were made
  };

  const uint32_t count_;
  uint8_t* const slab_;
  uint64_t fixed_bytes_ = 0;  // of the whole span
  std::vector<Run> fields_;   // one for each output
  std::vector<Values> values_;
  std::vector<size_t> number_;  // for each output its place in values_
};

}  // namespace stoker

#endif  // STOKER_SERVER_PACK_SPAN_WRITER_H_
