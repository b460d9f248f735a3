#include "server/main/admin_pages.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/config/yaml_proto.h"
#include "nlohmann/json.hpp"
#include "server/admin/page.h"
#include "server/main/grpc_build.h"
#include "server/observe/log.h"
#include "server/observe/process_figures.h"
#include "server/read/stores/traffic.h"

namespace stoker {
namespace {

using Page = AdminServer::Page;

constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";

// The page's script asks for the rest, with the token that a person gives it.
constexpr char kPagePolicy[] =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src *; img-src blob: data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Page PageForPeople() {
  return {.type = "text/html; charset=utf-8",
          .body = std::string(kAdminPage),
          .headers = {{"Content-Security-Policy", kPagePolicy}, {"Referrer-Policy", "no-referrer"}}};
}

// The pages of other servers show whether this one is ready.
Page ToAnyOrigin(int status, const std::string& body) {
  return {.status = status, .body = body, .headers = {{"Access-Control-Allow-Origin", "*"}}};
}

// Whether the server answers; the reason where it does not.
Page HealthOf(Server& server) {
  if (server.Healthy()) return ToAnyOrigin(200, "ok\n");
  return ToAnyOrigin(503, "gRPC's threads or all workers hang; the log says more\n");
}

// Whether clients should be sent here.
Page ReadinessOf(Server& server) {
  if (server.draining()) return ToAnyOrigin(503, "draining: this server ends what it owes, and stops\n");
  return HealthOf(server);
}

// How many streams /status lists.
constexpr size_t kMostStreams = 200;

// What a cache was asked for, and what it keeps.
struct CacheFigures {
  const char* name;
  uint64_t hits = 0, misses = 0, bytes = 0;
};

// Returns those of the caches that are configured.
std::vector<CacheFigures> CacheFiguresOf(const Server& server) {
  const Engine& engine = server.engine();
  std::vector<CacheFigures> caches;
  const SpanCache::Stats spans = engine.spans().stats();
  if (engine.spans().enabled()) caches.push_back({"span", spans.hits, spans.misses, spans.bytes});
  const DecodedCache::Stats decoded = engine.decoded().stats();
  if (engine.decoded().enabled()) caches.push_back({"decoded", decoded.hits, decoded.misses, decoded.memory.bytes});
  if (server.raw_cache() == nullptr) return caches;
  const RawCache::Stats raw = server.raw_cache()->stats();
  caches.push_back({"raw_memory", raw.memory_hits, raw.disk_hits + raw.misses, raw.memory.bytes});
  if (server.raw_cache()->has_disk()) caches.push_back({"raw_disk", raw.disk_hits, raw.misses, raw.disk.bytes});
  return caches;
}

// Returns an answer for the error of a page.
Page ErrorPage(const absl::Status& status) {
  const int code = absl::IsNotFound(status) || absl::IsFailedPrecondition(status) ? 404
                   : absl::IsInvalidArgument(status)                              ? 400
                                                                                  : 503;
  return {.status = code, .body = absl::StrCat(status.message(), "\n")};
}

constexpr double kNanosecond = 1e-9;

nlohmann::ordered_json DatasetsOf(Server& server) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, dataset] : server.engine().catalog()->datasets) {
    const v1::DatasetStatus done = server.service_log().metrics().StatusOf(name);
    const v1::StageTimes& times = done.times();
    const auto seconds = [](uint64_t nanoseconds) { return kNanosecond * static_cast<double>(nanoseconds); };
    list.push_back({{"name", name},
                    {"samples", dataset->size()},
                    {"fingerprint", absl::BytesToHexString(dataset->fingerprint())},
                    {"description", dataset->description()},
                    {"streams", done.streams()},
                    {"samples_made", done.samples()},
                    {"substituted", done.substituted()},
                    {"failed_spans", done.failed_spans()},
                    {"sent_bytes", done.sent_bytes()},
                    {"send_blocked_seconds", done.send_blocked_seconds()},
                    {"client_wait_seconds", done.client_wait_seconds()},
                    {"whole_client_wait_seconds", done.whole_client_wait_seconds()},
                    {"stages",
                     {{"read", seconds(times.read())},
                      {"decode", seconds(times.decode())},
                      {"augment", seconds(times.augment())},
                      {"own_ops", seconds(times.own_ops())},
                      {"pack", seconds(times.pack())}}}});
  }
  return list;
}

nlohmann::ordered_json StreamsOf(const std::vector<DataService::OpenStream>& streams) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [who, figures] : streams)
    list.push_back({{"peer", who.peer},
                    {"identity", who.identity},
                    {"dataset", figures.dataset},
                    {"age_seconds", absl::ToDoubleSeconds(figures.age)},
                    {"spans", figures.spans},
                    {"samples", figures.samples},
                    {"sent_bytes", figures.sent_bytes},
                    {"waited_seconds", absl::ToDoubleSeconds(figures.waited)}});
  return list;
}

nlohmann::ordered_json ProblemsOf(const std::vector<LoggedProblem>& problems) {
  auto list = nlohmann::ordered_json::array();
  for (const LoggedProblem& problem : problems)
    list.push_back({{"unix_seconds", absl::ToUnixSeconds(problem.time)},
                    {"level", problem.is_error ? "error" : "warning"},
                    {"text", problem.text}});
  return list;
}

nlohmann::ordered_json CachesOf(const Server& server) {
  auto list = nlohmann::ordered_json::array();
  for (const CacheFigures& cache : CacheFiguresOf(server))
    list.push_back({{"name", cache.name}, {"hits", cache.hits}, {"misses", cache.misses}, {"bytes", cache.bytes}});
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
  const Engine& engine = server.engine();
  const WorkerPool::Waiting waiting = engine.waiting();
  const auto [streams, all_streams] = server.streams(kMostStreams);
  const AdminSettings& admin = *server.settings().admin;
  nlohmann::ordered_json status = {{"build", BuildDescription()},
                                   {"address", server.address()},
                                   {"uptime_seconds", absl::ToDoubleSeconds(server.uptime())},
                                   {"healthy", server.Healthy()},
                                   {"draining", server.draining()},
                                   {"problem", server.problem()},
                                   {"served", server.service_log().Total()},
                                   {"workers", engine.workers()},
                                   {"busy_seconds", server.service_log().metrics().busy_seconds()},
                                   {"queue", {{"fetch", waiting.fetch}, {"work", waiting.work}}},
                                   {"memory",
                                    {{"resident_bytes", ResidentBytes()},
                                     {"slab_bytes", engine.slab_bytes()},
                                     {"slab_used_bytes", engine.held_slab_bytes()}}},
                                   {"datasets", DatasetsOf(server)},
                                   {"caches", CachesOf(server)},
                                   {"streams", StreamsOf(streams)},
                                   {"streams_total", all_streams},
                                   {"problems", ProblemsOf(RecentProblems())},
                                   {"peers", admin.peers},
                                   {"preview", admin.preview}};
  for (const Figure& figure : ServerFigures(server)) status["figures"][KeyOf(figure)] = figure.value;
  return status.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Page PreviewOf(Server& server, const AdminServer::Query& query) {
  uint64_t first = 0;
  const std::string dataset = query("dataset"), number = query("first");
  if (!number.empty() && !absl::SimpleAtoi(number, &first))
    return ErrorPage(absl::InvalidArgumentError("first: give the id of a sample, from 0 on"));
  const auto png = server.DrawSamples(dataset, first);
  if (!png.ok()) return ErrorPage(png.status());
  return {.type = "image/png", .body = *png};
}

}  // namespace

std::vector<Figure> ServerFigures(Server& server) {
  std::vector<Figure> figures;
  for (const CacheFigures& cache : CacheFiguresOf(server)) {
    for (const auto& [result, count] : {std::pair("hit", cache.hits), {"miss", cache.misses}})
      figures.push_back({"stoker_cache_requests_total",
                         "What a cache was asked for: spans, decoded images, samples as they are stored.",
                         true,
                         {{"cache", cache.name}, {"result", result}},
                         static_cast<double>(count)});
    figures.push_back({"stoker_cache_bytes",
                       "Bytes that a cache keeps.",
                       false,
                       {{"cache", cache.name}},
                       static_cast<double>(cache.bytes)});
  }
  const Engine& engine = server.engine();
  const auto gauge = [&](const char* name, const char* help, double value) {
    figures.push_back({name, help, false, {}, value});
  };
  gauge("stoker_healthy", "Whether gRPC's threads and the workers answer.", server.Healthy() ? 1 : 0);
  gauge("stoker_draining", "Whether the server ends what it owes, and stops.", server.draining() ? 1 : 0);
  gauge("stoker_memory_limit_bytes", "The bound of resident memory.",
        static_cast<double>(server.settings().memory_limit_bytes));
  gauge("stoker_workers", "Threads that make spans.", engine.workers());
  gauge("stoker_slab_bytes", "Memory that spans in the making, and those that wait to be sent, may take.",
        static_cast<double>(engine.slab_bytes()));
  gauge("stoker_slab_used_bytes", "What they take now.", static_cast<double>(engine.held_slab_bytes()));
  const WorkerPool::Waiting waiting = engine.waiting();
  for (const auto& [stage, spans] : {std::pair("fetch", waiting.fetch), {"work", waiting.work}})
    figures.push_back({"stoker_queue_depth",
                       "Spans that are wanted, and wait for their samples' bytes (fetch) or for a worker (work).",
                       false,
                       {{"stage", stage}},
                       static_cast<double>(spans)});
  const auto counter = [&](const char* name, const char* help, Figure::Labels labels, uint64_t value) {
    figures.push_back({name, help, true, std::move(labels), static_cast<double>(value)});
  };
  for (const Backend backend : kBackends)
    counter("stoker_read_bytes_total", "Bytes that were read from storage.", {{"source", NameOf(backend)}},
            Traffic::OfProcess().bytes(backend));
  for (const auto& [of, requests] : Traffic::OfProcess().requests())
    counter("stoker_storage_requests_total", "Requests to storage that ended, each try by itself.",
            {{"backend", NameOf(of.first)}, {"code", of.second}}, requests);
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
  std::map<std::string, AdminServer::Route> pages = {
      {"/", {.make = [](const auto&) { return PageForPeople(); }, .is_open = true}},
      {"/healthz", {.make = [&server](const auto&) { return HealthOf(server); }, .is_open = true}},
      {"/readyz", {.make = [&server](const auto&) { return ReadinessOf(server); }, .is_open = true}},
      {"/metrics",
       {.make =
            [&server](const auto&) {
              return Page{.type = kMetricsType, .body = server.service_log().metrics().Text()};
            }}},
      {"/status",
       {.make = [&server](const auto&) { return Page{.type = "application/json", .body = StatusOf(server)}; }}},
      {"/config", {.make = [&server](const auto&) { return Page{.body = ToYaml(server.config())}; }}}};
  if (server.settings().admin->preview)
    pages["/preview"] = {.make = [&server](const auto& query) { return PreviewOf(server, query); }};
  return pages;
}

}  // namespace stoker
