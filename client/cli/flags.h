#ifndef STOKER_CLIENT_CLI_FLAGS_H_
#define STOKER_CLIENT_CLI_FLAGS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "client/fleet/client.h"
#include "client/loader/loader.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// The flags that several commands have. An empty text means that the flag was not given.

struct ServerFlags {
  std::string servers;  // separated by commas
  std::optional<double> connect_seconds;
  int connections = 1;
  std::string tls_ca, tls_name, tls_certificate, tls_key, token_file;
};

struct SourceFlags {
  ServerFlags server;
  std::string dataset;
  std::string split, classes, list;  // the part of the dataset to read; classes are separated by commas
  uint64_t split_seed = 0;
  std::string pipeline_file, pipeline_name;
};

// The flags that say in which order a job reads samples, and how it cuts them into batches.
struct JobFlags {
  int64_t batch_size = 64;
  uint64_t seed = 0;
  std::string shuffle = "full";
  double verify = LoaderOptions().verify;
  std::string verify_policy = "fail";
  uint32_t span_samples = 0;  // a hidden flag for tests; 0: the servers' choice
};

// Hides a check from --help, where the flag's own text says enough.
CLI::Validator Silent(CLI::Validator check);

// Accepts any uint64_t. CLI11 alone would take -1 for the largest one, and misread larger numbers.
CLI::Validator WholeNumber();

// The flags must outlive the parsing.
void AddServerFlags(CLI::App& command, ServerFlags& flags);
void AddSourceFlags(CLI::App& command, SourceFlags& flags);
void AddJobFlags(CLI::App& command, JobFlags& flags);

// Connects to the servers. Errors are those of Client::Create.
absl::StatusOr<std::shared_ptr<Client>> Connect(const ServerFlags& flags);

// What the flags chose among all that the servers have.
struct Source {
  std::shared_ptr<Client> client;
  std::string dataset;
  v1::Subset subset;
  std::optional<v1::Pipeline> pipeline;
  std::string pipeline_name;
};

// Connects, and reads the pipeline's file. InvalidArgument says what is wrong with --split. If no dataset is named it
// takes the only one; InvalidArgument, with their names, if there are several.
absl::StatusOr<Source> OpenSource(const SourceFlags& flags);

LoaderOptions LoaderOptionsFor(const Source& source, const JobFlags& flags);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_FLAGS_H_
