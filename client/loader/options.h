#ifndef STOKER_CLIENT_LOADER_OPTIONS_H_
#define STOKER_CLIENT_LOADER_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/device/device.h"
#include "client/fleet/client.h"
#include "client/schedule/batch_plan.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// What becomes of a job when two servers make a span with different bytes.
enum class VerifyPolicy {
  kFail,  // Next() returns DataLoss, which names the sample and the servers.
  kWarn,  // LoaderStats::warnings says it, and the job goes on with the bytes that came first.
};

// What a job reads, from which servers, and how its batches are cut. A value.
struct LoaderOptions {
  // Where the servers are: a client that is shared with other loaders, or else what Client::Options says of the
  // fields below it.
  std::shared_ptr<Client> client;
  std::vector<std::string> servers;
  std::optional<absl::Duration> connect_timeout;
  int connections = 1;
  std::string tls_ca_file, tls_server_name, tls_cert_file, tls_key_file, token_file;

  // The dataset's name at the servers. It may be empty where they have just one.
  std::string dataset;

  // The pipeline, or the name of one that the servers offer. Where neither is given: RandomResizedCrop(224),
  // RandomHorizontalFlip.
  std::optional<v1::Pipeline> pipeline;
  std::string pipeline_name;

  // The part of the dataset to read: all of it if this is empty. ParseSplit and AddIds of common/identity/subset.h fill
  // it in.
  v1::Subset subset;

  int64_t batch_size = 0;  // Samples of a batch of this rank. Required.
  uint64_t seed = 0;
  v1::Shuffle shuffle;  // Default: full. For evaluation: SHUFFLE_MODE_NONE. SHUFFLE_MODE_WEIGHTED draws by class.
  LastBatch last_batch = LastBatch::kDrop;

  // Which part of each global batch this loader takes. Where both are negative: what RANK and WORLD_SIZE in the
  // environment say, as torchrun sets them, or else one rank.
  int64_t rank = -1;
  int64_t world_size = -1;

  int64_t prefetch = 0;                         // Batches ahead; 0: enough to keep the servers busy.
  uint64_t prefetch_bytes = uint64_t{1} << 30;  // Bounds the memory of batches ahead.
  bool names = false;                           // Batches carry the samples' names.

  // Next() fails when no span arrives for so long while it waits.
  absl::Duration progress_timeout = absl::Seconds(60);

  // The least time after which a span counts as lost, and a server that stays silent as hung. It is longer where the
  // servers' own latencies are.
  absl::Duration span_deadline = absl::Seconds(2);

  // The share of spans, from 0 to 1, that a second server makes too, past all caches, to compare their bytes. Batches
  // do not wait for that, but an epoch's end does. It needs two servers or more.
  double verify = 0.001;
  VerifyPolicy verify_policy = VerifyPolicy::kFail;

  std::shared_ptr<Device> device;  // Where batches go. Default: HostDevice().

  // Samples of a span, instead of about 1 MiB. For tests.
  uint32_t span_samples = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_OPTIONS_H_
