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

// Flags that several commands have. Empty: not given.

struct ServerFlags {
  std::string servers;  // separated by commas
  double connect_seconds = 30;
  int connections = 1;
  std::string tls_ca, tls_name;
};

struct SourceFlags {
  ServerFlags server;
  std::string dataset;
  std::string pipeline_file, pipeline_name;
};

// What makes one job's epochs what they are, and how they are cut.
struct JobFlags {
  int64_t batch_size = 64;
  uint64_t seed = 0;
  std::string shuffle = "full";
  uint32_t span_samples = 0;  // For tests.
};

// A check that --help does not mention: what is written beside it says enough.
CLI::Validator Silent(CLI::Validator check);

// For any uint64_t: CLI11 takes -1 for the largest, and what is larger for something else.
CLI::Validator WholeNumber();

// The flags must outlive the parsing.
void AddServerFlags(CLI::App& command, ServerFlags& flags);
void AddSourceFlags(CLI::App& command, SourceFlags& flags);
void AddJobFlags(CLI::App& command, JobFlags& flags);

absl::StatusOr<std::shared_ptr<Client>> Connect(const ServerFlags& flags);

// What the flags chose of what the servers have.
struct Source {
  std::shared_ptr<Client> client;
  std::string dataset;
  std::optional<v1::Pipeline> pipeline;
  std::string pipeline_name;
};

// Takes the only dataset where none is named. InvalidArgument, with their names, if there are several.
absl::StatusOr<Source> OpenSource(const SourceFlags& flags);

LoaderOptions LoaderOptionsFor(const Source& source, const JobFlags& flags);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_FLAGS_H_
