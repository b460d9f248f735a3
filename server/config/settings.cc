#include "server/config/settings.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/config/byte_size.h"
#include "common/config/watched_file.h"
#include "common/status_macros.h"
#include "server/config/resources.h"

namespace stoker {
namespace {

constexpr uint32_t kMaxWorkers = 1024;
constexpr double kMostSampleSeconds = 3600;
constexpr uint64_t kMostMemory = uint64_t{1} << 56;
constexpr uint64_t kMostPixels = uint64_t{1} << 26;
constexpr uint64_t kLeastPixels = uint64_t{1} << 22;
constexpr uint64_t kLeastConnectionsPerPeer = 64;
constexpr uint64_t kLeastReadAhead = uint64_t{64} << 20;
constexpr uint64_t kDefaultPythonMemory = uint64_t{1} << 30, kLeastPythonMemory = uint64_t{16} << 20;

// The least size of a raw cache's folder.
constexpr uint64_t kLeastDisk = uint64_t{64} << 20;

constexpr int kDefaultAdminPort = 7078;
constexpr size_t kLeastTokenBytes = 16;

constexpr char kUnixPrefix[] = "unix:/";

// Splits HOST:PORT, which stands under `key`. An IPv6 address stands in brackets, since it has colons of its own.
absl::Status ParseListen(const std::string& key, const std::string& listen, int usual_port, std::string& host,
                         int& port) {
  const size_t colon = listen.rfind(':');
  if (colon == std::string::npos || colon == 0 || !absl::SimpleAtoi(listen.substr(colon + 1), &port) || port < 0 ||
      port > 65535)
    return absl::InvalidArgumentError(
        absl::StrCat(key, ": '", listen, "' is not HOST:PORT; write for example 127.0.0.1:", usual_port));
  host = listen.substr(0, colon);
  return absl::OkStatus();
}

absl::Status ResolveListen(const std::string& listen, Settings& settings) {
  if (absl::StartsWith(listen, kUnixPrefix)) {
    settings.host = listen;
    return absl::OkStatus();
  }
  return ParseListen("listen", listen.empty() ? absl::StrCat("127.0.0.1:", kDefaultPort) : listen, kDefaultPort,
                     settings.host, settings.port);
}

absl::Status ResolveAdmin(const v1::AdminConfig& config, Settings& settings) {
  STOKER_ASSIGN_OR_RETURN(settings.admin, AdminAddress(config));
  AdminSettings& admin = *settings.admin;
  if (!IsLoopback(admin.host) && config.token_file().empty())
    return absl::InvalidArgumentError(absl::StrCat(
        "admin.listen: ", config.listen(),
        " is open to other machines; give it a token (admin.token_file), or write 127.0.0.1:", admin.port));
  admin.peers = {config.peers().begin(), config.peers().end()};
  admin.preview = config.preview();
  for (const std::string& peer : admin.peers)
    if (!absl::StartsWith(peer, "http://") && !absl::StartsWith(peer, "https://"))
      return absl::InvalidArgumentError(
          absl::StrCat("admin.peers: '", peer, "' is no URL of an admin address, such as http://cpu2:7078"));
  if (config.token_file().empty()) return absl::OkStatus();
  const auto text = ReadSmallFile(config.token_file());
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat("admin.token_file: ", text.status().message()));
  STOKER_ASSIGN_OR_RETURN(admin.token, AdminToken(*text));
  return absl::OkStatus();
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string DefaultCacheDir() {
  if (auto dir = Environment("CACHE_DIRECTORY"); !dir.empty()) return dir;  // systemd sets it for CacheDirectory=.
  if (auto dir = Environment("XDG_CACHE_HOME"); !dir.empty()) return dir + "/stoker";
  if (auto dir = Environment("HOME"); !dir.empty()) return dir + "/.cache/stoker";
  return "";
}

// Sums of these bytes, and of what else the process needs, stay far below 2^64.
absl::Status CheckBytes(const Settings& settings) {
  if (settings.memory_limit_bytes > kMostMemory)
    return absl::InvalidArgumentError(absl::StrCat("memory_limit: ", settings.memory_limit_bytes,
                                                   " bytes are more than ", kMostMemory, ", which no machine has"));
  if (settings.span_cache_bytes > settings.memory_limit_bytes)
    return absl::InvalidArgumentError(absl::StrCat("span_cache: ", settings.span_cache_bytes,
                                                   " bytes are more than memory_limit, ", settings.memory_limit_bytes,
                                                   ", which they are part of"));
  if (settings.decoded_cache_bytes > settings.memory_limit_bytes)
    return absl::InvalidArgumentError(absl::StrCat("decoded_cache: ", settings.decoded_cache_bytes,
                                                   " bytes are more than memory_limit, ", settings.memory_limit_bytes,
                                                   ", which they are part of"));
  if (settings.read_ahead_bytes > std::max(settings.memory_limit_bytes, kLeastReadAhead))
    return absl::InvalidArgumentError(absl::StrCat("read_ahead: ", settings.read_ahead_bytes,
                                                   " bytes are more than memory_limit, ", settings.memory_limit_bytes,
                                                   ", which they are part of"));
  if (settings.raw_memory_bytes > settings.memory_limit_bytes)
    return absl::InvalidArgumentError(absl::StrCat("raw_cache.memory: ", settings.raw_memory_bytes,
                                                   " bytes are more than memory_limit, ", settings.memory_limit_bytes,
                                                   ", which they are part of"));
  return absl::OkStatus();
}

// The pixels for which all workers together need half of the memory; at least 4 Mi and at most 64 Mi pixels.
uint64_t DefaultMaxPixels(const Settings& settings) {
  return std::clamp(settings.memory_limit_bytes / 2 / kWorkerBytesPerPixel / settings.workers, kLeastPixels,
                    kMostPixels);
}

absl::Status ResolveRawCache(const v1::RawCache& config, Settings& settings) {
  if (!config.memory().empty()) {
    const auto bytes = ParseByteSize(config.memory());
    if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("raw_cache.memory: ", bytes.status().message()));
    settings.raw_memory_bytes = *bytes;
  }
  if (!config.has_disk()) return absl::OkStatus();
  if (config.disk().path().empty())
    return absl::InvalidArgumentError("raw_cache.disk.path: name a folder on a local disk");
  const auto bytes = ParseByteSize(config.disk().size());
  if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("raw_cache.disk.size: ", bytes.status().message()));
  if (*bytes < kLeastDisk)
    return absl::InvalidArgumentError(
        absl::StrCat("raw_cache.disk.size: ", *bytes, " bytes are fewer than ", kLeastDisk));
  settings.raw_disk_path = config.disk().path();
  settings.raw_disk_bytes = *bytes;
  return absl::OkStatus();
}

// A quarter of the descriptors is for the dataset's files and the rest of the process.
absl::Status ResolveConnections(const v1::LimitsConfig& limits, Settings& settings) {
  const uint64_t most = AvailableFiles() / 4 * 3;
  settings.connections = limits.connections() == 0 ? most : limits.connections();
  if (settings.connections > AvailableFiles())
    return absl::InvalidArgumentError(
        absl::StrCat("limits.connections: ", settings.connections, " is more than the ", AvailableFiles(),
                     " files that this process may open; see `ulimit -n`, or LimitNOFILE= of systemd"));
  settings.connections_per_peer = limits.connections_per_peer() == 0
                                      ? std::max(settings.connections / 8, kLeastConnectionsPerPeer)
                                      : limits.connections_per_peer();
  return absl::OkStatus();
}

absl::Status ResolvePythonOps(const v1::PythonOpsConfig& config, Settings& settings) {
  settings.python = config.python().empty() ? "python3" : config.python();
  const double seconds = config.seconds() == 0 ? 10 : config.seconds();
  if (!(seconds > 0 && seconds <= kMostSampleSeconds))
    return absl::InvalidArgumentError(
        absl::StrCat("python_ops.seconds: ", seconds, " is not above 0 and up to ", kMostSampleSeconds));
  settings.python_patience = absl::Seconds(seconds);
  settings.python_memory_bytes = kDefaultPythonMemory;
  if (config.memory().empty()) return absl::OkStatus();
  const auto bytes = ParseByteSize(config.memory());
  if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("python_ops.memory: ", bytes.status().message()));
  if (*bytes < kLeastPythonMemory)
    return absl::InvalidArgumentError(
        absl::StrCat("python_ops.memory: ", *bytes, " bytes are fewer than ", kLeastPythonMemory));
  settings.python_memory_bytes = *bytes;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> FleetPort(const std::string& listen) {
  Settings settings;
  STOKER_RETURN_IF_ERROR(ResolveListen(listen, settings));
  const bool is_here_alone = listen.empty() || settings.host == "127.0.0.1" || settings.host == "localhost" ||
                             settings.host == "[::1]" || absl::StartsWith(settings.host, kUnixPrefix);
  if (!is_here_alone && settings.port != 0) return settings.port;
  return absl::InvalidArgumentError(absl::StrCat(
      "listen: '", listen, "' is no address that other machines reach; write ", "listen: 0.0.0.0:", kDefaultPort));
}

absl::StatusOr<std::string> AdminToken(const std::string& text) {
  std::string token = text.substr(0, text.find('\n'));
  absl::StripTrailingAsciiWhitespace(&token);
  if (token.size() >= kLeastTokenBytes) return token;
  return absl::InvalidArgumentError(absl::StrCat("admin.token_file: its first line has ", token.size(),
                                                 " bytes, where a token has at least ", kLeastTokenBytes,
                                                 "; `openssl rand -hex 32` makes one"));
}

absl::StatusOr<AdminSettings> AdminAddress(const v1::AdminConfig& config) {
  AdminSettings admin;
  if (absl::StartsWith(config.listen(), kUnixPrefix)) {
    admin.host = config.listen();
    return admin;
  }
  STOKER_RETURN_IF_ERROR(ParseListen("admin.listen", config.listen(), kDefaultAdminPort, admin.host, admin.port));
  if (admin.host.find(',') != std::string::npos)
    return absl::InvalidArgumentError(absl::StrCat("admin.listen: '", config.listen(), "' is more than one address"));
  return admin;
}

bool IsLoopback(const std::string& host) {
  return absl::StartsWith(host, kUnixPrefix) || host == "localhost" || host == "[::1]" || host.rfind("127.", 0) == 0;
}

absl::StatusOr<Settings> Resolve(const v1::ServerConfig& config) {
  Settings settings;
  STOKER_RETURN_IF_ERROR(ResolveListen(config.listen(), settings));
  if (!IsLoopback(settings.host) && !config.insecure() && !config.has_tls())
    return absl::InvalidArgumentError(
        absl::StrCat("listen: ", config.listen(),
                     " is open to other machines; give it a certificate (tls, or --tls-cert and --tls-key), or, on a "
                     "network that you trust, say so: insecure: true, or --insecure"));
  STOKER_RETURN_IF_ERROR(CheckTokensAreSafe(config, settings.host));
  if (config.has_tls()) {
    Settings::Tls& tls = settings.tls.emplace();
    tls.config = config.tls();
    STOKER_ASSIGN_OR_RETURN(tls.files, ReadTlsFiles(tls.config));
    STOKER_RETURN_IF_ERROR(CheckTlsFiles(tls.config, tls.files));
  }
  if (config.workers() > kMaxWorkers)
    return absl::InvalidArgumentError(absl::StrCat("workers: ", config.workers(), " is more than ", kMaxWorkers));
  settings.workers = config.workers() == 0 ? AvailableCpus() : static_cast<int>(config.workers());
  if (!config.has_numa() || config.numa()) settings.numa_nodes = NumaNodes();
  if (settings.numa_nodes.size() < 2) settings.numa_nodes.clear();  // There is nothing to choose.
  settings.memory_limit_bytes = AvailableMemory() / 5 * 4;
  if (!config.memory_limit().empty()) {
    const auto bytes = ParseByteSize(config.memory_limit());
    if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("memory_limit: ", bytes.status().message()));
    settings.memory_limit_bytes = *bytes;
  }
  if (!config.span_cache().empty()) {
    const auto bytes = ParseByteSize(config.span_cache());
    if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("span_cache: ", bytes.status().message()));
    settings.span_cache_bytes = *bytes;
  }
  if (!config.decoded_cache().empty()) {
    const auto bytes = ParseByteSize(config.decoded_cache());
    if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("decoded_cache: ", bytes.status().message()));
    settings.decoded_cache_bytes = *bytes;
  }
  settings.read_ahead_bytes = std::max(settings.memory_limit_bytes / 8, kLeastReadAhead);
  if (!config.read_ahead().empty()) {
    const auto bytes = ParseByteSize(config.read_ahead());
    if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("read_ahead: ", bytes.status().message()));
    settings.read_ahead_bytes = *bytes;
  }
  STOKER_RETURN_IF_ERROR(ResolveRawCache(config.raw_cache(), settings));
  STOKER_RETURN_IF_ERROR(CheckBytes(settings));
  settings.max_pixels = config.max_pixels() == 0 ? DefaultMaxPixels(settings) : config.max_pixels();
  if (settings.max_pixels > uint64_t{1} << 32)
    return absl::InvalidArgumentError(absl::StrCat("max_pixels: ", settings.max_pixels, " is more than 2^32"));
  if (config.limits().sample_seconds() != 0) settings.sample_seconds = config.limits().sample_seconds();
  if (!(settings.sample_seconds > 0 && settings.sample_seconds <= kMostSampleSeconds))
    return absl::InvalidArgumentError(absl::StrCat("limits.sample_seconds: ", settings.sample_seconds,
                                                   " is not above 0 and up to ", kMostSampleSeconds));
  settings.idle = absl::Seconds(config.limits().idle_seconds() == 0 ? 10 : config.limits().idle_seconds());
  settings.cache_dir = config.cache_dir().empty() ? DefaultCacheDir() : config.cache_dir();
  STOKER_RETURN_IF_ERROR(ResolveConnections(config.limits(), settings));
  STOKER_RETURN_IF_ERROR(ResolvePythonOps(config.python_ops(), settings));
  if (config.has_admin()) STOKER_RETURN_IF_ERROR(ResolveAdmin(config.admin(), settings));
  settings.drain = absl::Seconds(config.drain_seconds() == 0 ? 30 : config.drain_seconds());
  return settings;
}

absl::Status CheckTokensAreSafe(const v1::ServerConfig& config, const std::string& host) {
  const bool takes_tokens = !config.access().token_file().empty() || !config.access().jwt().empty();
  if (!takes_tokens || config.has_tls() || absl::StartsWith(host, kUnixPrefix)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("access.", config.access().token_file().empty() ? "jwt" : "token_file",
                   ": tokens are taken only by TLS or through a Unix socket; give the server a certificate (tls, or "
                   "--tls-cert and --tls-key), or listen on unix:/path"));
}

}  // namespace stoker
