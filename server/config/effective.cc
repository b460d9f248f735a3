#include "server/config/effective.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

std::string Bytes(uint64_t bytes) { return absl::StrCat(bytes); }

}  // namespace

v1::ServerConfig EffectiveConfig(const v1::ServerConfig& config, const Settings& settings) {
  v1::ServerConfig full = config;
  const bool local = absl::StartsWith(settings.host, "unix:");
  full.set_listen(local ? settings.host : absl::StrCat(settings.host, ":", settings.port));
  full.set_workers(static_cast<uint32_t>(settings.workers));
  full.set_numa(!config.has_numa() || config.numa());
  full.set_memory_limit(Bytes(settings.memory_limit_bytes));
  full.set_span_cache(Bytes(settings.span_cache_bytes));
  full.set_decoded_cache(Bytes(settings.decoded_cache_bytes));
  full.set_read_ahead(Bytes(settings.read_ahead_bytes));
  full.set_max_pixels(settings.max_pixels);
  if (!settings.cache_dir.empty()) full.set_cache_dir(settings.cache_dir);
  full.set_drain_seconds(static_cast<uint32_t>(absl::ToInt64Seconds(settings.drain)));
  v1::LimitsConfig& limits = *full.mutable_limits();
  limits.set_connections(settings.connections);
  limits.set_connections_per_peer(settings.connections_per_peer);
  limits.set_sample_seconds(settings.sample_seconds);
  limits.set_idle_seconds(static_cast<uint32_t>(absl::ToInt64Seconds(settings.idle)));
  if (full.ops().empty()) return full;
  v1::PythonOpsConfig& python = *full.mutable_python_ops();
  python.set_python(settings.python);
  python.set_seconds(absl::ToDoubleSeconds(settings.python_patience));
  python.set_memory(Bytes(settings.python_memory_bytes));
  return full;
}

}  // namespace stoker
