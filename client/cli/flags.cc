#include "client/cli/flags.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/cli/printable.h"
#include "common/check.h"
#include "common/config/yaml_proto.h"
#include "common/identity/subset.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

v1::ShuffleMode ShuffleModeOf(const std::string& word) {
  if (word == "none") return v1::SHUFFLE_MODE_NONE;
  if (word == "block") return v1::SHUFFLE_MODE_BLOCK;
  if (word == "weighted") return v1::SHUFFLE_MODE_WEIGHTED;
  STOKER_CHECK(word == "full");
  return v1::SHUFFLE_MODE_FULL;
}

absl::StatusOr<v1::Subset> SubsetOf(const SourceFlags& flags) {
  v1::Subset subset;
  if (!flags.split.empty()) STOKER_RETURN_IF_ERROR(ParseSplit(flags.split, subset));
  subset.set_split_seed(flags.split_seed);
  for (absl::string_view name : absl::StrSplit(flags.classes, ',', absl::SkipEmpty()))
    subset.add_classes(std::string(name));
  subset.set_list(flags.list);
  return subset;
}

}  // namespace

CLI::Validator Silent(CLI::Validator check) { return check.description(""); }

CLI::Validator WholeNumber() {
  const auto check = [](const std::string& text) {
    uint64_t number = 0;
    return absl::SimpleAtoi(text, &number) ? "" : absl::StrCat(text, " is not a whole number from 0 to 2^64 - 1");
  };
  return CLI::Validator(check, "");
}

void AddServerFlags(CLI::App& command, ServerFlags& flags) {
  command.add_option("--servers", flags.servers, "Where stokerd answers")
      ->envname("STOKER_SERVERS")
      ->type_name("HOST:PORT,...")
      ->required();
  command
      .add_option("--connect-timeout", flags.connect_seconds,
                  "How long to wait for the first server to answer, also where "
                  "none is there yet [30, and not where all refuse]")
      ->check(Silent(CLI::Range(0.001, 86400.0)))
      ->type_name("SECONDS");
  command.add_option("--connections", flags.connections, "TCP connections to each server [1]")
      ->check(Silent(CLI::Range(1, Client::kMostConnections)))
      ->type_name("N");
  auto* ca = command
                 .add_option("--tls-ca", flags.tls_ca,
                             "Connect by TLS; a PEM file of the authorities that signed the servers' certificates")
                 ->envname("STOKER_TLS_CA")
                 ->type_name("FILE");
  command.add_option("--tls-name", flags.tls_name, "The name in the certificates [the host that is reached]")
      ->needs(ca)
      ->type_name("NAME");
  command
      .add_option("--tls-cert", flags.tls_certificate, "This client's certificate in PEM, where servers ask for one")
      ->envname("STOKER_TLS_CERT")
      ->type_name("FILE");
  command.add_option("--tls-key", flags.tls_key, "Its key")->envname("STOKER_TLS_KEY")->type_name("FILE");
  command
      .add_option("--token-file", flags.token_file, "A token that says who this client is, where servers ask for one")
      ->envname("STOKER_TOKEN_FILE")
      ->type_name("FILE");
}

void AddSourceFlags(CLI::App& command, SourceFlags& flags) {
  AddServerFlags(command, flags.server);
  command.add_option("--dataset", flags.dataset, "The dataset to read; may be left out if the servers have just one")
      ->type_name("NAME");
  auto* split = command
                    .add_option("--split", flags.split,
                                "Read a part: [:90%], [1/3:2/3] by samples' names, [:1000], [-1000:] by their ids")
                    ->type_name("[BEGIN:END]");
  command.add_option("--split-seed", flags.split_seed, "Another seed cuts percentages otherwise [0]")
      ->check(WholeNumber())
      ->needs(split)
      ->type_name("N");
  command.add_option("--classes", flags.classes, "Read the samples of these classes alone")->type_name("NAME,...");
  command.add_option("--subset", flags.list, "Read a list of samples that the servers have by this name")
      ->type_name("NAME");
  auto* file =
      command.add_option("--pipeline", flags.pipeline_file, "Ops in YAML [RandomResizedCrop(224), then a flip]")
          ->type_name("FILE");
  command.add_option("--pipeline-name", flags.pipeline_name, "A pipeline that the servers offer")
      ->type_name("NAME")
      ->excludes(file);
}

void AddJobFlags(CLI::App& command, JobFlags& flags) {
  command.add_option("--batch-size", flags.batch_size, "Samples of a batch [64]")
      ->check(Silent(CLI::Range(int64_t{1}, int64_t{1} << 30)))
      ->type_name("N");
  command.add_option("--seed", flags.seed, "Seed of the order and of all random ops [0]")
      ->check(WholeNumber())
      ->type_name("N");
  command
      .add_option("--shuffle", flags.shuffle,
                  "How samples are shuffled: full, block, none, or weighted, which draws all classes alike [full]")
      ->check(Silent(CLI::IsMember({"full", "block", "none", "weighted"})))
      ->type_name("MODE");
  command
      .add_option("--verify", flags.verify,
                  "Share of spans that a second server makes too, past all caches, to compare their bytes [0.001]")
      ->check(Silent(CLI::Range(0.0, 1.0)))
      ->type_name("SHARE");
  command
      .add_option("--verify-policy", flags.verify_policy, "Whether to fail or to warn where their bytes differ [fail]")
      ->check(Silent(CLI::IsMember({"fail", "warn"})))
      ->type_name("POLICY");
  command.add_option("--span-samples", flags.span_samples)->group("");
}

absl::StatusOr<std::shared_ptr<Client>> Connect(const ServerFlags& flags) {
  Client::Options options;
  if (flags.connect_seconds.has_value()) options.connect_timeout = absl::Seconds(*flags.connect_seconds);
  for (absl::string_view server : absl::StrSplit(flags.servers, ',', absl::SkipWhitespace()))
    options.servers.emplace_back(absl::StripAsciiWhitespace(server));
  options.connections = flags.connections;
  options.tls_ca_file = flags.tls_ca;
  options.tls_server_name = flags.tls_name;
  options.tls_cert_file = flags.tls_certificate;
  options.tls_key_file = flags.tls_key;
  options.token_file = flags.token_file;
  return Client::Create(std::move(options));
}

absl::StatusOr<Source> OpenSource(const SourceFlags& flags) {
  Source source{.dataset = flags.dataset, .pipeline_name = flags.pipeline_name};
  if (!flags.pipeline_file.empty())
    STOKER_RETURN_IF_ERROR(ReadYamlFile(flags.pipeline_file, source.pipeline.emplace()));
  STOKER_ASSIGN_OR_RETURN(source.subset, SubsetOf(flags));
  STOKER_ASSIGN_OR_RETURN(source.client, Connect(flags.server));
  if (source.dataset.empty()) {
    STOKER_ASSIGN_OR_RETURN(source.dataset, source.client->OnlyDataset());
  }
  return source;
}

LoaderOptions LoaderOptionsFor(const Source& source, const JobFlags& flags) {
  LoaderOptions options;
  options.client = source.client;
  options.dataset = source.dataset;
  options.subset = source.subset;
  options.pipeline = source.pipeline;
  options.pipeline_name = source.pipeline_name;
  options.batch_size = flags.batch_size;
  options.seed = flags.seed;
  options.shuffle.set_mode(ShuffleModeOf(flags.shuffle));
  options.last_batch = LastBatch::kPartial;
  options.span_samples = flags.span_samples;
  options.verify = flags.verify;
  options.verify_policy = flags.verify_policy == "warn" ? VerifyPolicy::kWarn : VerifyPolicy::kFail;
  return options;
}

}  // namespace stoker
