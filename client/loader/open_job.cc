#include "client/loader/open_job.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/fleet/check_answer.h"
#include "common/fields/schema.h"
#include "common/identity/epoch_order.h"
#include "common/identity/subset.h"
#include "common/pipeline/pipeline.h"
#include "common/pipeline/server_pipeline.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// What prefetch takes by default: bytes that keep some dozens of workers busy, at some spans of 1 MiB each; but at
// least 2 batches, one to wait for and one to follow it, and not so many tiny ones that each call looks after hundreds.
constexpr uint64_t kPrefetchBytes = uint64_t{64} << 20;
constexpr int64_t kLeastPrefetch = 2, kMostPrefetch = 64;

// What servers take in one request, less what a stream's has beside what Describe has.
constexpr size_t kMostRequestBytes = (64 << 10) - 64;

// The number in the environment's `name`, or -1 where there is none.
absl::StatusOr<int64_t> FromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return -1;
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < 0)
    return absl::InvalidArgumentError(absl::StrCat(name, "='", text, "' in the environment is no number"));
  return number;
}

absl::Status FindRank(LoaderOptions& options) {
  if (options.rank < 0 && options.world_size < 0) {
    STOKER_ASSIGN_OR_RETURN(options.rank, FromEnvironment("RANK"));
    STOKER_ASSIGN_OR_RETURN(options.world_size, FromEnvironment("WORLD_SIZE"));
  }
  if ((options.rank < 0) != (options.world_size < 0))
    return absl::InvalidArgumentError("rank and world_size (or RANK and WORLD_SIZE): give both or none");
  if (options.rank < 0) options.rank = 0, options.world_size = 1;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> FieldBytes(const std::vector<v1::Field>& fields) {
  std::vector<uint64_t> all;
  for (const v1::Field& field : fields) {
    STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, ByteSize(field));
    all.push_back(IsVariable(field.kind()) ? kLengthBytes : bytes);
  }
  return all;
}

// Checks that spans of the user's size do not exceed the largest sample.
absl::Status CheckSizes(const LoaderOptions& options, const v1::DescribeResponse& description) {
  const uint64_t sample_bytes = description.sample_bytes();
  if (options.span_samples * sample_bytes > kMaxSampleBytes && options.span_samples > 1)
    return absl::InvalidArgumentError(absl::StrCat("span_samples: spans of ", options.span_samples,
                                                   " samples would exceed ", kMaxSampleBytes, " bytes"));
  return absl::OkStatus();
}

bool IsPart(const v1::Subset& subset) { return subset.ByteSizeLong() > 0; }

// Servers that know no subsets would serve the whole dataset in their place.
absl::Status CheckKnowsSubsets(const LoaderOptions& options, const v1::DescribeResponse& description) {
  const bool weighted = options.shuffle.mode() == v1::SHUFFLE_MODE_WEIGHTED;
  if ((!IsPart(options.subset) && !weighted) || description.dataset_samples() > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("subset: the servers (", description.build(),
                                                    ") are too old to serve part of a dataset, or to draw "
                                                    "by class; upgrade them"));
}

v1::DescribeRequest RequestOf(const LoaderOptions& options) {
  v1::DescribeRequest request;
  request.set_dataset(options.dataset);
  if (options.pipeline.has_value())
    *request.mutable_pipeline() = *options.pipeline;
  else if (!options.pipeline_name.empty())
    request.set_pipeline_name(options.pipeline_name);
  if (IsPart(options.subset)) *request.mutable_subset() = options.subset;
  *request.mutable_shuffle() = options.shuffle;
  return request;
}

}  // namespace

uint64_t OpenedJob::slab_bytes() const {
  const uint64_t fixed = std::accumulate(field_bytes.begin(), field_bytes.end(), uint64_t{0});
  const uint64_t values = layout.typical_bytes() - fixed;
  return options.batch_size * (fixed + values + values / 4);
}

int64_t OpenedJob::prefetch() const {
  const auto by_bytes = static_cast<int64_t>(std::max<uint64_t>(1, options.prefetch_bytes / batch_bytes()));
  const auto busy = static_cast<int64_t>((kPrefetchBytes - 1) / batch_bytes() + 1);
  const int64_t wanted = options.prefetch > 0 ? options.prefetch : std::clamp(busy, kLeastPrefetch, kMostPrefetch);
  return std::min(wanted, by_bytes);
}

JobIdentity OpenedJob::identity() const {
  return {.dataset = options.dataset,
          .identity = description.identity(),
          .pipeline_hash = WholeHash(description.pipeline()),
          .pipeline = description.pipeline(),
          .seed = options.seed,
          .shuffle = options.shuffle};
}

v1::Open OpenedJob::stream_open() const {
  v1::Open open;
  open.set_dataset(options.dataset);
  *open.mutable_pipeline() = description.pipeline();
  open.set_seed(options.seed);
  *open.mutable_shuffle() = options.shuffle;
  open.set_names(options.names);
  for (int kind = v1::FIELD_KIND_UNSPECIFIED + 1; kind <= v1::FieldKind_MAX; ++kind)
    open.add_known_kinds(static_cast<v1::FieldKind>(kind));
  if (IsPart(options.subset)) *open.mutable_subset() = options.subset;
  return open;
}

absl::StatusOr<OpenedJob> OpenJob(LoaderOptions options) {
  std::shared_ptr<Client> client = options.client;
  if (client == nullptr) {
    STOKER_ASSIGN_OR_RETURN(client, Client::Create({.servers = options.servers,
                                                    .connect_timeout = options.connect_timeout,
                                                    .connections = options.connections,
                                                    .tls_ca_file = options.tls_ca_file,
                                                    .tls_server_name = options.tls_server_name,
                                                    .tls_cert_file = options.tls_cert_file,
                                                    .tls_key_file = options.tls_key_file,
                                                    .token_file = options.token_file}));
  }
  STOKER_RETURN_IF_ERROR(CompleteOptions(options));
  if (options.dataset.empty()) {
    STOKER_ASSIGN_OR_RETURN(options.dataset, client->OnlyDataset());
  }
  const v1::DescribeRequest request = RequestOf(options);
  if (request.ByteSizeLong() > kMostRequestBytes)
    return absl::InvalidArgumentError(absl::StrCat(
        "the pipeline, indices, classes and class_weights take ", request.ByteSizeLong(), " bytes, more than the ",
        kMostRequestBytes, " of a request; the servers' configuration takes pipelines and long lists of samples"));
  STOKER_ASSIGN_OR_RETURN(auto description, client->Describe(request));
  return JoinJob(std::move(options), std::move(client), std::move(description));
}

absl::Status CompleteOptions(LoaderOptions& options) {
  if (options.batch_size < 1) return absl::InvalidArgumentError("batch_size: must be at least 1");
  if (options.span_deadline <= absl::ZeroDuration())
    return absl::InvalidArgumentError("span_deadline: must be above 0");
  if (!(options.verify >= 0 && options.verify <= 1))
    return absl::InvalidArgumentError(
        absl::StrCat("verify: ", options.verify, " is no share of the spans; give a number from 0 to 1"));
  STOKER_RETURN_IF_ERROR(FindRank(options));
  if (options.span_samples > ServerPipeline::kMaxSpanSamples)
    return absl::InvalidArgumentError(absl::StrCat("span_samples: must not exceed ", ServerPipeline::kMaxSpanSamples));
  STOKER_RETURN_IF_ERROR(ValidateSubset(options.subset));
  return ValidateShuffle(options.shuffle);
}

absl::StatusOr<OpenedJob> JoinJob(LoaderOptions options, std::shared_ptr<Client> client,
                                  v1::DescribeResponse description) {
  STOKER_RETURN_IF_ERROR(CheckAnswer(RequestOf(options), description));
  STOKER_RETURN_IF_ERROR(CheckKnowsSubsets(options, description));
  const std::vector<v1::Field> fields(description.fields().begin(), description.fields().end());
  STOKER_ASSIGN_OR_RETURN(auto device_pipeline, DevicePipeline::Create(description.pipeline(), fields));
  STOKER_ASSIGN_OR_RETURN(auto field_bytes, FieldBytes(fields));
  STOKER_RETURN_IF_ERROR(CheckSizes(options, description));
  const BatchPlan::Options plan = {.samples = description.identity().samples(),
                                   .batch_size = static_cast<uint64_t>(options.batch_size),
                                   .rank = static_cast<uint64_t>(options.rank),
                                   .world_size = static_cast<uint64_t>(options.world_size),
                                   .last_batch = options.last_batch};
  STOKER_RETURN_IF_ERROR(BatchPlan::Validate(plan));
  if (options.device == nullptr) options.device = HostDevice();
  return OpenedJob{.options = std::move(options),
                   .client = std::move(client),
                   .description = std::move(description),
                   .device_pipeline = std::move(device_pipeline),
                   .layout = SpanLayout(fields),
                   .plan = plan,
                   .field_bytes = std::move(field_bytes)};
}

}  // namespace stoker
