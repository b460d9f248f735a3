#include "server/main/admin_pages.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/config/yaml_proto.h"
#include "nlohmann/json.hpp"
#include "server/main/grpc_build.h"

namespace stoker {
namespace {

using Page = AdminServer::Page;

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";

// Whether the server answers; the reason where it does not.
Page HealthOf(Server& server) {
  if (server.Healthy()) return {.body = "ok\n"};
  return {.status = 503, .body = "gRPC's threads or all workers hang; the log says more\n"};
}

// Whether clients should be sent here.
Page ReadinessOf(Server& server) {
  if (server.draining()) return {.status = 503, .body = "draining: this server ends what it owes, and stops\n"};
  return HealthOf(server);
}

nlohmann::ordered_json DatasetsOf(const Engine::Catalog& catalog) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, dataset] : catalog.datasets)
    list.push_back({{"name", name},
                    {"samples", dataset->size()},
                    {"fingerprint", absl::BytesToHexString(dataset->fingerprint())},
                    {"description", dataset->description()}});
  return list;
}

// A figure's name with its labels: "stoker_cache_bytes{cache="raw_disk"}".
std::string KeyOf(const Figure& figure) {
  std::string key = figure.name;
  for (const auto& [name, value] : figure.labels)
    absl::StrAppend(&key, key.size() == figure.name.size() ? "{" : ",", name, "=\"", value, "\"");
  return figure.labels.empty() ? key : key + "}";
}

std::string StatusOf(Server& server) {
  nlohmann::ordered_json status = {{"build", BuildDescription()},
                                   {"address", server.address()},
                                   {"uptime_seconds", absl::ToInt64Seconds(server.uptime())},
                                   {"healthy", server.Healthy()},
                                   {"draining", server.draining()},
                                   {"problem", server.problem()},
                                   {"served", server.service_log().Total()},
                                   {"datasets", DatasetsOf(*server.engine().catalog())}};
  for (const Figure& figure : ServerFigures(server)) status["figures"][KeyOf(figure)] = figure.value;
  return status.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::vector<Figure> ServerFigures(const Server& server) {
  std::vector<Figure> figures;
  const auto cache = [&](const char* name, uint64_t hits, uint64_t misses, uint64_t bytes) {
    for (const auto& [result, count] : {std::pair("hit", hits), {"miss", misses}})
      figures.push_back({"stoker_cache_requests_total",
                         "What a cache was asked for: spans, decoded images, samples as they are stored.",
                         true,
                         {{"cache", name}, {"result", result}},
                         static_cast<double>(count)});
    figures.push_back(
        {"stoker_cache_bytes", "Bytes that a cache keeps.", false, {{"cache", name}}, static_cast<double>(bytes)});
  };
  const Engine& engine = server.engine();
  const SpanCache::Stats spans = engine.spans().stats();
  if (engine.spans().enabled()) cache("span", spans.hits, spans.misses, spans.bytes);
  const DecodedCache::Stats decoded = engine.decoded().stats();
  if (engine.decoded().enabled()) cache("decoded", decoded.hits, decoded.misses, decoded.memory.bytes);
  if (server.raw_cache() != nullptr) {
    const RawCache::Stats raw = server.raw_cache()->stats();
    cache("raw_memory", raw.memory_hits, raw.disk_hits + raw.misses, raw.memory.bytes);
    if (server.raw_cache()->has_disk()) cache("raw_disk", raw.disk_hits, raw.misses, raw.disk.bytes);
  }
  const auto gauge = [&](const char* name, const char* help, double value) {
    figures.push_back({name, help, false, {}, value});
  };
  gauge("stoker_workers", "Threads that make spans.", engine.workers());
  gauge("stoker_slab_bytes", "Memory that spans in the making, and those that wait to be sent, may take.",
        static_cast<double>(engine.slab_bytes()));
  gauge("stoker_config_reload_success", "Whether the configuration was taken up when it was read last.",
        server.reload_success() ? 1 : 0);
  figures.push_back({"stoker_build_info",
                     "What is running.",
                     false,
                     {{"version", STOKER_VERSION}, {"grpc", GrpcBuildOfThisProcess().text}},
                     1});
  return figures;
}

std::map<std::string, AdminServer::Route> AdminPages(Server& server) {
  return {{"/healthz", {.make = [&server] { return HealthOf(server); }, .is_open = true}},
          {"/readyz", {.make = [&server] { return ReadinessOf(server); }, .is_open = true}},
          {"/metrics",
           {.make = [&server] { return Page{.type = kMetricsType, .body = server.service_log().metrics().Text()}; }}},
          {"/status", {.make = [&server] { return Page{.type = "application/json", .body = StatusOf(server)}; }}},
          {"/config", {.make = [&server] { return Page{.body = ToYaml(server.config())}; }}}};
}

}  // namespace stoker
