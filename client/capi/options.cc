#include "client/capi/options.h"

#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/capi/option_reader.h"
#include "common/config/yaml_proto.h"
#include "common/identity/subset.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Takes from the environment what no option gave. A certificate and its key come from one place.
void ReadEnvironment(Client::Options& options) {
  if (options.tls_ca_file.empty()) options.tls_ca_file = FromEnvironment("STOKER_TLS_CA");
  if (options.tls_cert_file.empty() && options.tls_key_file.empty()) {
    options.tls_cert_file = FromEnvironment("STOKER_TLS_CERT");
    options.tls_key_file = FromEnvironment("STOKER_TLS_KEY");
  }
  if (options.token_file.empty()) options.token_file = FromEnvironment("STOKER_TOKEN_FILE");
}

void ReadClientOptions(OptionReader& reader, Client::Options& options) {
  reader.Read("servers", options.servers);
  reader.Read("connect_timeout", options.connect_timeout);
  reader.Read("connections", options.connections, 1, Client::kMostConnections);
  reader.Read("tls_ca_file", options.tls_ca_file);
  reader.Read("tls_server_name", options.tls_server_name);
  reader.Read("tls_cert_file", options.tls_cert_file);
  reader.Read("tls_key_file", options.tls_key_file);
  reader.Read("token_file", options.token_file);
  ReadEnvironment(options);
  if (options.servers.empty()) reader.Fail("servers", "expected a list of at least one address");
  if (options.tls_ca_file.empty() && !options.tls_server_name.empty())
    reader.Fail("tls_server_name", "needs tls_ca_file");
  if (options.tls_ca_file.empty() && !options.tls_cert_file.empty()) reader.Fail("tls_cert_file", "needs tls_ca_file");
  if (options.tls_cert_file.empty() != options.tls_key_file.empty())
    reader.Fail(options.tls_key_file.empty() ? "tls_key_file" : "tls_cert_file",
                "must be given: a certificate and its key go together");
}

// Leaves out "pipeline:1:37: ", a place in text that was made from JSON and that nobody wrote.
absl::Status WithoutPlace(const absl::Status& status) {
  absl::string_view message = status.message();
  const absl::string_view whole = message;
  if (!absl::ConsumePrefix(&message, "pipeline:1:")) return status;
  const size_t end = message.find(": ");
  int column = 0;
  if (end == message.npos || !absl::SimpleAtoi(message.substr(0, end), &column))
    return absl::Status(status.code(), whole);
  return absl::Status(status.code(), absl::StrCat("pipeline: ", message.substr(end + 2)));
}

// An object is parsed as YAML too, because JSON is YAML's flow style.
absl::Status ParsePipeline(const Json& json, v1::Pipeline& pipeline) {
  if (json.is_string()) return ParseYaml(json.get<std::string>(), "pipeline", pipeline);
  return WithoutPlace(ParseYaml(json.dump(), "pipeline", pipeline));
}

void ReadPipeline(OptionReader& reader, LoaderOptions& options) {
  reader.Read("pipeline_name", options.pipeline_name);
  const Json* pipeline = reader.Find("pipeline");
  if (pipeline == nullptr) return;
  if (!options.pipeline_name.empty()) return reader.Fail("pipeline_name", "give a pipeline or its name, not both");
  if (!pipeline->is_object() && !pipeline->is_string()) return reader.Fail("pipeline", "expected an object or YAML");
  if (const auto status = ParsePipeline(*pipeline, options.pipeline.emplace()); !status.ok())
    reader.Fail("pipeline", std::string(status.message()));
}

// Notes the failure of the option that `status`, whose message begins with "KEY: ", is about.
void Check(OptionReader& reader, const std::string& key, const absl::Status& status) {
  absl::string_view reason = status.message();
  absl::ConsumePrefix(&reason, absl::StrCat(key, ": "));
  if (!status.ok()) reader.Fail(key, std::string(reason));
}

void ReadSubset(OptionReader& reader, v1::Subset& subset) {
  std::string split;
  reader.Read("split", split);
  if (reader.Find("split") != nullptr) Check(reader, "split", ParseSplit(split, subset));
  uint64_t split_seed = 0;
  reader.Read("split_seed", split_seed, 0, std::numeric_limits<uint64_t>::max());
  subset.set_split_seed(split_seed);
  std::vector<uint64_t> indices;
  reader.Read("indices", indices);
  if (reader.Find("indices") != nullptr && indices.empty()) reader.Fail("indices", "there is none to read");
  if (!indices.empty()) Check(reader, "indices", AddIds(std::move(indices), subset));
  std::vector<std::string> classes;
  reader.Read("classes", classes);
  if (reader.Find("classes") != nullptr && classes.empty()) reader.Fail("classes", "there is none to read");
  subset.mutable_classes()->Assign(classes.begin(), classes.end());
  reader.Read("subset", *subset.mutable_list());
  if (reader.Find("subset") != nullptr && subset.list().empty()) reader.Fail("subset", "expected a list's name");
}

void ReadShuffleMode(OptionReader& reader, const std::string& key, v1::Shuffle& shuffle) {
  v1::ShuffleMode mode = v1::SHUFFLE_MODE_FULL;
  reader.Read<v1::ShuffleMode>(key, mode,
                               {{"full", v1::SHUFFLE_MODE_FULL},
                                {"none", v1::SHUFFLE_MODE_NONE},
                                {"block", v1::SHUFFLE_MODE_BLOCK},
                                {"weighted", v1::SHUFFLE_MODE_WEIGHTED}});
  shuffle.set_mode(mode);
}

absl::Status ReadShuffle(OptionReader& reader, v1::Shuffle& shuffle) {
  const Json* json = reader.Find("shuffle");
  if (json == nullptr) return absl::OkStatus();
  if (!json->is_object()) return ReadShuffleMode(reader, "shuffle", shuffle), absl::OkStatus();
  OptionReader nested(*json, "options.shuffle");
  ReadShuffleMode(nested, "mode", shuffle);
  uint64_t block_samples = 0, window_blocks = 0;
  nested.Read("block_samples", block_samples, 1, kMost);
  nested.Read("window_blocks", window_blocks, 1, kMost);
  shuffle.set_block_samples(block_samples);
  shuffle.set_window_blocks(window_blocks);
  uint64_t samples = 0;
  nested.Read("samples", samples, 1, kMost);
  shuffle.set_samples(samples);
  std::map<std::string, uint64_t> class_weights;
  nested.Read("class_weights", class_weights);
  for (const auto& [name, weight] : class_weights) (*shuffle.mutable_class_weights())[name] = weight;
  return nested.Finish();
}

void ReadJob(OptionReader& reader, LoaderOptions& options) {
  reader.Read("dataset", options.dataset);
  ReadPipeline(reader, options);
  reader.Read("batch_size", options.batch_size, 1, uint64_t{1} << 30);
  reader.Read("seed", options.seed, 0, std::numeric_limits<uint64_t>::max());
  reader.Read<LastBatch>("last_batch", options.last_batch,
                         {{"drop", LastBatch::kDrop}, {"pad", LastBatch::kPad}, {"partial", LastBatch::kPartial}});
  reader.Read("rank", options.rank, 0, kMost);
  reader.Read("world_size", options.world_size, 1, kMost);
  ReadSubset(reader, options.subset);
  if (options.batch_size == 0) reader.Fail("batch_size", "is required");
}

void ReadMemory(OptionReader& reader, CreateOptions& options) {
  reader.Read("device", options.device);
  reader.Read<Pin>("pin", options.device_options.pin, {{"auto", Pin::kAuto}, {"on", Pin::kOn}, {"off", Pin::kOff}});
  reader.Read("pinned_bytes", options.device_options.pinned_bytes, 1, kMost);
  reader.Read("prefetch", options.loader.prefetch, 1, kMost);
  reader.Read("prefetch_bytes", options.loader.prefetch_bytes, 1, kMost);
}

}  // namespace

absl::StatusOr<Client::Options> ParseClientOptions(const char* text) {
  STOKER_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "options"));
  Client::Options options;
  OptionReader reader(json, "options");
  ReadClientOptions(reader, options);
  STOKER_RETURN_IF_ERROR(reader.Finish());
  return options;
}

absl::StatusOr<CreateOptions> ParseCreateOptions(const char* text) {
  STOKER_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "options"));
  CreateOptions options;
  OptionReader reader(json, "options");
  ReadClientOptions(reader, options.client);
  ReadJob(reader, options.loader);
  ReadMemory(reader, options);
  const absl::Status shuffle = ReadShuffle(reader, options.loader.shuffle);
  reader.Read("names", options.loader.names);
  reader.Read("progress_timeout", options.loader.progress_timeout);
  reader.Read("span_deadline", options.loader.span_deadline);
  reader.Read("verify", options.loader.verify, 0.0, 1.0);
  reader.Read<VerifyPolicy>("verify_policy", options.loader.verify_policy,
                            {{"fail", VerifyPolicy::kFail}, {"warn", VerifyPolicy::kWarn}});
  STOKER_RETURN_IF_ERROR(reader.Finish());
  STOKER_RETURN_IF_ERROR(shuffle);
  return options;
}

}  // namespace stoker
