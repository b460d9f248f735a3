#ifndef STOKER_CLIENT_LOADER_LOADER_H_
#define STOKER_CLIENT_LOADER_LOADER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/device/device.h"
#include "client/fleet/client.h"
#include "client/fleet/stats.h"
#include "client/loader/batch.h"
#include "client/schedule/batch_plan.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// What a job reads, from which servers, and how its batches are cut.
struct LoaderOptions {
  // Where the servers are: a shared client, or else what Client::Options says of these.
  std::shared_ptr<Client> client;
  std::vector<std::string> servers;
  int connections = 1;
  std::string tls_ca_file;

  // May be empty where the servers have just one.
  std::string dataset;

  // Neither: RandomResizedCrop(224), RandomHorizontalFlip.
  std::optional<v1::Pipeline> pipeline;
  std::string pipeline_name;  // One that the servers offer.

  int64_t batch_size = 0;  // Samples of a batch of this rank. Required.
  uint64_t seed = 0;
  v1::Shuffle shuffle;  // Default: full. For evaluation: SHUFFLE_MODE_NONE.
  LastBatch last_batch = LastBatch::kDrop;
  // Negative: what RANK and WORLD_SIZE say, as torchrun sets them; without these, one rank.
  int64_t rank = -1;
  int64_t world_size = -1;

  int64_t prefetch = 0;                         // Batches ahead; 0 takes enough to keep servers busy.
  uint64_t prefetch_bytes = uint64_t{1} << 30;  // Bounds them.
  bool names = false;                           // Batches carry samples' names.

  absl::Duration progress_timeout = absl::Seconds(60);  // Without any span arriving, while Next() waits.

  // The least time after which a span counts as lost, and a server that stays silent as hung; longer where the servers'
  // own latencies are.
  absl::Duration span_deadline = absl::Seconds(2);
  std::shared_ptr<Device> device;  // Default: HostDevice().

  // Samples of a span, instead of about 1 MiB. For tests.
  uint32_t span_samples = 0;
};

// What a loader has done since it was made.
struct LoaderStats : FleetStats {
  uint64_t batches = 0, samples = 0, substituted = 0;
  absl::Duration waited;              // by Next() for spans
  absl::Duration transformed;         // by Next() on the device's ops
  std::vector<std::string> warnings;  // Of the device, for the user.
};

// A training job's batches, in the epoch's global order, from however many servers there are.
//
//   auto loader = stoker::Loader::Create({.servers = {"cpu1:7077", "cpu2:7077"}, .batch_size = 256});
//   while (auto batch = (*loader)->Next()) { if (!*batch) break; Train(**batch); }
//
// Next() belongs to one thread at a time; the rest is thread-safe. Bounded: prefetch batches of memory, and no wait
// without an end.
class Loader {
 public:
  // Connects and checks everything: the dataset, the pipeline, and that servers agree. Unavailable if no server
  // answers in time, InvalidArgument and NotFound name what is wrong.
  static absl::StatusOr<std::unique_ptr<Loader>> Create(LoaderOptions options);

  // Ends all streams.
  ~Loader();

  // The next batch of this epoch, or nothing at its end; the call after that begins the next epoch.
  //
  // Errors are sticky and leave state() at the last batch that was returned: DataLoss names a bad sample,
  // FailedPrecondition a pipeline that does not fit one, Unavailable says why no server could make a span,
  // DeadlineExceeded that nothing came for progress_timeout, Cancelled follows Cancel().
  absl::StatusOr<std::optional<Batch>> Next();

  // Waits for what Next() would wait for, at most `patience`: DeadlineExceeded if Next() would still wait, else OK,
  // even where it would return an error. For callers that look at signals in between.
  absl::Status Await(absl::Duration patience);

  // Begins `epoch` with the next call of Next(). Look-ahead into another epoch is dropped. Clears a sticky error.
  void SetEpoch(uint64_t epoch);

  // Makes a waiting and every later Next() return Cancelled. For another thread.
  void Cancel();

  // Where the job stands, as small JSON: batches that Next() returned, in global samples, and what they came from.
  std::string State() const;

  // Continues from a state, also one of another batch size, world size or number of servers. FailedPrecondition
  // names what differs: dataset, pipeline, seed or shuffle; or the servers' pixels, which `accept_other_pixels` takes
  // as they are now. Clears a sticky error.
  absl::Status Restore(const std::string& state, bool accept_other_pixels = false);

  // Batches of a whole epoch, equal on all ranks.
  uint64_t batches_per_epoch() const;

  // The fields of a batch as Next() hands them out, after the device's ops, without the batch's dimension.
  const std::vector<v1::Field>& fields() const;

  // What the servers said of the dataset and pipeline.
  const v1::DescribeResponse& description() const;

  // What it was made with: dataset, rank, world size and device filled in.
  const LoaderOptions& options() const;

  LoaderStats stats() const;

 private:
  class Impl;
  explicit Loader(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Tunes glibc's allocator for large received messages: fewer page faults, a third less CPU on the receiving side.
// Process-wide, hence left to the program: call it first in main(). Costs up to 64 MiB of memory kept.
void TuneAllocator();

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_LOADER_H_
