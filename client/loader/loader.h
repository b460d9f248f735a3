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
#include "client/fleet/dataset_index.h"
#include "client/fleet/stats.h"
#include "client/loader/batch.h"
#include "client/loader/options.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// What a loader has done since it was made. A value.
struct LoaderStats : FleetStats {
  uint64_t batches = 0, samples = 0, substituted = 0;
  absl::Duration waited;              // Time that Next() waited for spans.
  absl::Duration transformed;         // Time that Next() spent on the device's ops.
  std::vector<std::string> warnings;  // What the device wants the user to know.
};

// A training job's batches, in the epoch's global order, from however many servers there are.
//
//   auto loader = stoker::Loader::Create({.servers = {"cpu1:7077", "cpu2:7077"}, .batch_size = 256});
//   while (auto batch = (*loader)->Next()) { if (!*batch) break; Train(**batch); }
//
// Next() belongs to one thread at a time; the rest is thread-safe. Memory is bounded by the batches that prefetch
// allows and those that the caller keeps, and every wait has an end.
class Loader {
 public:
  // Connects and checks everything: the dataset, the pipeline, and that servers agree. Unavailable if no server answers
  // in time; InvalidArgument and NotFound name what is wrong.
  static absl::StatusOr<std::unique_ptr<Loader>> Create(LoaderOptions options);

  // Ends all streams, and waits for that.
  ~Loader();

  // The next batch of this epoch, or nothing at its end; the call after that begins the next epoch.
  //
  // An error is returned again by each call until SetEpoch() or Restore(), and leaves State() at the last batch that
  // was returned. DataLoss names a bad sample, or one of which servers make different bytes (see
  // LoaderOptions::verify), FailedPrecondition one that the pipeline does not fit, Unavailable says
  // why no server could make a span, DeadlineExceeded that nothing came for progress_timeout, and Cancelled follows
  // Cancel().
  absl::StatusOr<std::optional<Batch>> Next();

  // Waits at most `patience` for what Next() would wait for. DeadlineExceeded if Next() would still wait; else OK, even
  // where Next() would return an error. For callers that look at signals in between.
  absl::Status Await(absl::Duration patience);

  // Makes the next call of Next() begin `epoch`. Batches of another epoch that were asked for ahead are dropped. Clears
  // an error.
  void SetEpoch(uint64_t epoch);

  // Makes a Next() that waits, and every later one, return Cancelled. For another thread.
  void Cancel();

  // Where the job stands, as small JSON: how far into the global order Next() came, and what that order depends on.
  std::string State() const;

  // Continues from a state, which may be of another batch size, world size or number of servers. FailedPrecondition
  // names what else differs: dataset, pipeline, seed, shuffle, or the servers' pixels, which `accept_other_pixels`
  // allows. Clears an error.
  absl::Status Restore(const std::string& state, bool accept_other_pixels = false);

  // Batches of a whole epoch; equal on all ranks.
  uint64_t batches_per_epoch() const;

  // The fields of a batch as Next() hands them out, after the device's ops, without the batch's dimension.
  const std::vector<v1::Field>& fields() const;

  // What the servers' index knows of the dataset: class names, labels, names of samples.
  DatasetIndex index() const;

  // What the servers said of the dataset and pipeline.
  const v1::DescribeResponse& description() const;

  // What the loader was made with; dataset, rank, world size and device are filled in.
  const LoaderOptions& options() const;

  LoaderStats stats() const;

 private:
  class Impl;
  explicit Loader(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Tunes glibc's allocator for large received messages: fewer page faults, and a third less CPU on the receiving side.
// This is for the whole process, so a program decides: it calls this first in main(). It keeps up to 64 MiB of memory.
void TuneAllocator();

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_LOADER_H_
