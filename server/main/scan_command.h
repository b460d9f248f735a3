#ifndef STOKER_SERVER_MAIN_SCAN_COMMAND_H_
#define STOKER_SERVER_MAIN_SCAN_COMMAND_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/config/settings.h"
#include "server/read/dataset.h"
#include "server/scan/scan.h"
#include "stoker/v1/config.pb.h"

namespace CLI {
class App;
}

namespace stoker {

// `stokerd scan`: its flags, its progress on stderr and its report. Used once, by the main thread.
class ScanCommand {
 public:
  // Adds the command to `app`, which must outlive this. Parsing fills the flags.
  explicit ScanCommand(CLI::App& app);

  bool parsed() const;

  // Scans until it is done or SIGINT or SIGTERM ends it. Returns the process's exit status: 0 where nothing was found;
  // 1 where something was, and for an error, which it has printed; or 128 + the signal.
  int Run() const;

 private:
  absl::StatusOr<int> Scan() const;
  absl::StatusOr<v1::ServerConfig> Configuration() const;

  absl::StatusOr<ReportFormat> Format() const;
  std::string StateFile(const Dataset& dataset, const Settings& settings) const;
  absl::Status Write(const ScanReport& report, const Dataset& dataset) const;

  CLI::App* const command_;
  std::string config_file_, data_, dataset_, out_, format_, cache_dir_;
  uint32_t workers_ = 0;
  uint64_t max_pixels_ = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_SCAN_COMMAND_H_
