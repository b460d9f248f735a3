#ifndef STOKER_SERVER_CONFIG_SETTINGS_H_
#define STOKER_SERVER_CONFIG_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

inline constexpr int kDefaultPort = 7077;

// A worker's peak for each pixel of the largest image: a progressive JPEG's coefficients, two bytes for each of up to
// four components, beside RGBX, and an earlier JPEG's planes; then, the coefficients gone, what ops keep.
inline constexpr uint64_t kWorkerBytesPerPixel = 16;

// A server's configuration with every default filled in and every text understood. A value.
struct Settings {
  std::string host;  // or "unix:/path", and no port
  int port = kDefaultPort;
  int workers = 1;
  uint64_t memory_limit_bytes = 0;
  uint64_t span_cache_bytes = 0;
  uint64_t max_pixels = 0;
  std::string cache_dir;
  absl::Duration drain;
  struct Tls {
    std::string certificate, key;  // The files' content.
  };
  std::optional<Tls> tls;
};

// Reads the files of `tls`. InvalidArgument names the key: "memory_limit: …".
absl::StatusOr<Settings> Resolve(const v1::ServerConfig& config);

}  // namespace stoker

#endif  // STOKER_SERVER_CONFIG_SETTINGS_H_
