#ifndef STOKER_SERVER_MAIN_PREPARE_COMMAND_H_
#define STOKER_SERVER_MAIN_PREPARE_COMMAND_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/prepare/prepare.h"
#include "stoker/v1/config.pb.h"

namespace CLI {
class App;
}

namespace stoker {

// `stokerd prepare`: its flags, its progress on stderr and its report on stdout. Used once, by the main thread.
class PrepareCommand {
 public:
  // Adds the command to `app`, which must outlive this. Parsing fills the flags.
  explicit PrepareCommand(CLI::App& app);

  bool parsed() const;

  // Prepares until it is done or SIGINT or SIGTERM ends it. Returns the process's exit status: 0; 1 for an error, which
  // it has printed; or 128 + the signal.
  int Run() const;

 private:
  absl::StatusOr<v1::ServerConfig> Configuration() const;
  absl::StatusOr<PrepareOptions> Options(const v1::ServerConfig& config) const;

  // Says in `options` what to prepare: the folder of images that the configuration names, or another dataset, opened.
  absl::Status SetSource(const v1::ServerConfig& config, PrepareOptions& options) const;
  absl::Status SetFormat(PrepareOptions& options) const;
  absl::StatusOr<PrepareReport> Prepare() const;

  CLI::App* const command_;
  std::string config_file_, dataset_, cache_dir_;
  std::string data_, out_, pipeline_file_, shard_size_, format_ = "folder";
  uint32_t restart_interval_ = 8, short_side_ = 0, quality_ = 95, workers_ = 0;
  bool strip_ = false, overwrite_ = false;
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_PREPARE_COMMAND_H_
