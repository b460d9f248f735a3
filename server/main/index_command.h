#ifndef STOKER_SERVER_MAIN_INDEX_COMMAND_H_
#define STOKER_SERVER_MAIN_INDEX_COMMAND_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/read/registry/make_index.h"
#include "stoker/v1/config.pb.h"

namespace CLI {
class App;
}

namespace stoker {

// `stokerd index`: its flags, its progress on stderr and the file that it writes. Used once, by the main thread.
class IndexCommand {
 public:
  // Adds the command to `app`, which must outlive this. Parsing fills the flags.
  explicit IndexCommand(CLI::App& app);

  bool parsed() const;

  // Indexes until it is done or SIGINT or SIGTERM ends it. Returns the process's exit status: 0; 1 for an error, which
  // it has printed; or 128 + the signal.
  int Run() const;

 private:
  absl::StatusOr<int> Index() const;
  absl::StatusOr<v1::DatasetConfig> Dataset() const;
  absl::StatusOr<std::string> Write(const MadeIndex& made) const;

  CLI::App* const command_;
  std::string config_file_, data_, dataset_, output_;
  uint32_t threads_ = 16;
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_INDEX_COMMAND_H_
