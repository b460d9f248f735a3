#ifndef STOKER_SERVER_CONFIG_SETTINGS_H_
#define STOKER_SERVER_CONFIG_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/config/tls_files.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

inline constexpr int kDefaultPort = 7077;

// Bytes that a worker needs at its peak for each pixel of the largest image. The peak is while a progressive JPEG is
// decoded: coefficients of two bytes for each of up to four components, decoded RGBX, and the planes kept from an
// earlier JPEG. What ops and maps keep later fits the same room, since the coefficients are gone by then.
inline constexpr uint64_t kWorkerBytesPerPixel = 16;

// Where operators are answered.
struct AdminSettings {
  std::string host;
  int port = 0;
  std::string token;  // that requests must bear; empty: none
  std::vector<std::string> peers;
  bool preview = false;
};

// A server's configuration with every default filled in and every text parsed. A plain value.
struct Settings {
  std::string host;  // a host name or address; or "unix:/path", for which `port` means nothing
  int port = kDefaultPort;
  int workers = 1;
  std::vector<std::vector<int>> numa_nodes;  // to whose CPUs workers are bound; none: they are not
  uint64_t memory_limit_bytes = 0;
  uint64_t span_cache_bytes = 0;      // 0: no cache
  uint64_t decoded_cache_bytes = 0;   // likewise
  uint64_t read_ahead_bytes = 0;      // 0: nothing is read ahead
  uint64_t raw_memory_bytes = 0;      // of raw samples that are kept in memory; 0: none are
  std::string raw_disk_path;          // where raw samples are kept on a disk; empty: nowhere
  uint64_t raw_disk_bytes = 0;        // of that folder
  uint64_t max_pixels = 0;            // pixels of the largest image that a pipeline may decode
  double sample_seconds = 10;         // of one worker: what making a sample may cost, as estimated
  absl::Duration idle;                // until a stream that wants nothing lends its memory to others
  std::string cache_dir;              // the folder for manifests; empty if there is none
  uint64_t connections = 0;           // at once, in all
  uint64_t connections_per_peer = 0;  // of those
  absl::Duration drain;               // how long streams may go on after a signal to stop
  // How connections are made by TLS, and with which files at the start. None: not by TLS.
  struct Tls {
    v1::TlsConfig config;
    TlsFiles files;
  };
  std::optional<Tls> tls;
  std::optional<AdminSettings> admin;  // where operators are answered; none: nowhere
  std::string python;                  // the program that runs ops in Python
  absl::Duration python_patience;      // for such an op and one sample
  uint64_t python_memory_bytes = 0;    // by which one of its processes may grow
};

// Whether `host` of Settings is reached from this machine alone.
bool IsLoopback(const std::string& host);

// Returns the port of `listen`, at which all machines of a fleet are reached, each by its own name. InvalidArgument
// where there is none, or others cannot reach it.
absl::StatusOr<int> FleetPort(const std::string& listen);

// Returns the token that stands in the first line of `text`, the content of admin.token_file. InvalidArgument where it
// is too short.
absl::StatusOr<std::string> AdminToken(const std::string& text);

// Returns the host and port of an admin address alone. InvalidArgument where it is none.
absl::StatusOr<AdminSettings> AdminAddress(const v1::AdminConfig& config);

// Fills in defaults from the environment and the machine, and reads the files of `tls`. InvalidArgument, whose message
// begins with the key at fault: "memory_limit: …".
absl::StatusOr<Settings> Resolve(const v1::ServerConfig& config);

// OK unless `config` takes tokens although it listens on `host` in plaintext, where others may read them.
absl::Status CheckTokensAreSafe(const v1::ServerConfig& config, const std::string& host);

}  // namespace stoker

#endif  // STOKER_SERVER_CONFIG_SETTINGS_H_
