#ifndef STOKER_CLIENT_LOADER_ASSEMBLY_H_
#define STOKER_CLIENT_LOADER_ASSEMBLY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/device/device.h"
#include "client/loader/batch.h"
#include "client/schedule/batch_plan.h"
#include "common/identity/span_id.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// A batch as its spans brought it, one entry for each row of its slab. A value.
struct LandedBatch {
  BatchSpec spec;
  std::shared_ptr<HostSlab> slab;
  std::vector<uint64_t> positions;

  // The position whose random draws each row has. It is the row's own, but for a substitute: that has the draws of its
  // own place in the order.
  std::vector<uint64_t> drawn_positions;

  std::vector<uint64_t> sample_ids;
  std::vector<std::string> names;        // Empty unless they were asked for.
  std::vector<Substituted> substituted;  // Sorted by position.

  // The samples of a span of a field whose samples differ in size, and the first of their rows.
  struct Values {
    uint64_t row = 0;
    std::span<const uint8_t> bytes;
  };
  std::vector<std::vector<Values>> values;  // For each such field in order, sorted by row.
};

// Puts a batch together from spans, which come in any order: says which spans to fetch, takes what their headers say,
// and keeps the error of the first row that failed. It knows neither where spans come from nor their payload, which the
// fleet copies into the slab.
//
// Single owner: a loader keeps its assemblies under its lock. What landed() returned is not written to any more.
class Assembly {
 public:
  // A span of the batch, and the row of its first sample.
  struct Part {
    SpanId span;
    uint64_t row = 0;
  };

  // Spans are cut on the grid of `span_samples`, see CutSpans. Requires that `slab` has room for the batch. `variable`
  // is the number of fields whose samples differ in size.
  Assembly(const BatchSpec& spec, std::shared_ptr<HostSlab> slab, uint64_t span_samples, bool names,
           size_t variable = 0);

  const BatchSpec& spec() const { return landed_->spec; }
  const std::shared_ptr<HostSlab>& slab() const { return landed_->slab; }

  // What to fetch. Each part is answered once, by Land or Fail.
  const std::vector<Part>& parts() const { return parts_; }

  // A part is in the slab, and for each field whose samples differ in size in `values`, which the slab's owner keeps.
  // Requires that the header has an id for each of its samples, and a name where names were asked for.
  void Land(const Part& part, const v1::SpanHeader& header, std::span<const std::span<uint8_t>> values = {});

  // A part cannot be had.
  void Fail(const Part& part, const absl::Status& status);

  // Whether all parts are answered. A batch of no rows is whole from the start.
  bool whole() const { return missing_ == 0; }

  // The error of the first row that failed so far.
  const absl::Status& status() const { return status_; }

  // The batch. Requires that it is whole and status() is OK.
  std::shared_ptr<LandedBatch> landed() const;

 private:
  // Counts an answer, and puts the batch in order after the last one.
  void Answered();

  std::shared_ptr<LandedBatch> landed_;
  std::vector<Part> parts_;
  size_t missing_ = 0;  // Parts that are not answered.
  absl::Status status_;
  uint64_t failed_row_ = 0;  // The row that status_ is of, if that is not OK.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_ASSEMBLY_H_
