#ifndef STOKER_CLIENT_LOADER_OPEN_JOB_H_
#define STOKER_CLIENT_LOADER_OPEN_JOB_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/fleet/client.h"
#include "client/loader/options.h"
#include "client/loader/state.h"
#include "client/schedule/batch_plan.h"
#include "common/fields/span_layout.h"
#include "common/pipeline/device_pipeline.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// A training job before its first batch: what the user asked for, joined with what the servers said of it. A value.
struct OpenedJob {
  LoaderOptions options;  // Dataset, rank, world size and device are filled in.
  std::shared_ptr<Client> client;
  v1::DescribeResponse description;
  DevicePipeline device_pipeline;
  SpanLayout layout;        // It is that of the description's fields.
  BatchPlan::Options plan;  // Valid.

  // Bytes of each field of one sample at the beginning of a slab, in a span's order: where samples differ in size,
  // these are the sizes'.
  std::vector<uint64_t> field_bytes;

  // Bytes of a whole batch as the servers make it, of usual samples.
  uint64_t batch_bytes() const { return options.batch_size * layout.typical_bytes(); }

  // Bytes of the slab of a whole batch. Samples that differ in size have a quarter more room than usual ones need.
  uint64_t slab_bytes() const;

  // The step of the grid that spans are cut on.
  uint64_t span_samples() const { return options.span_samples > 0 ? options.span_samples : description.span_samples(); }

  // Batches to have on their way: what the options ask for, or enough to keep the servers busy, within
  // options.prefetch_bytes; at least 1.
  int64_t prefetch() const;

  // What a saved state of this job belongs to.
  JobIdentity identity() const;

  // What each stream to a server is opened with.
  v1::Open stream_open() const;
};

// Opens a job: checks the options, connects, asks the servers to describe dataset and pipeline, and checks that.
// Blocks for as long as the client's connect_timeout. The errors are those of Loader::Create.
absl::StatusOr<OpenedJob> OpenJob(LoaderOptions options);

// The steps of OpenJob that need no server.

// Fills in rank and world size, from RANK and WORLD_SIZE in the environment where the options have none.
// InvalidArgument names the option, or the variable, that cannot be.
absl::Status CompleteOptions(LoaderOptions& options);

// Joins options that CompleteOptions took with a description. InvalidArgument names the option that does not go with
// the dataset or the pipeline; Internal says how the description contradicts itself.
absl::StatusOr<OpenedJob> JoinJob(LoaderOptions options, std::shared_ptr<Client> client,
                                  v1::DescribeResponse description);

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_OPEN_JOB_H_
