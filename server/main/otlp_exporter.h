#ifndef STOKER_SERVER_MAIN_OTLP_EXPORTER_H_
#define STOKER_SERVER_MAIN_OTLP_EXPORTER_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/time/periodic.h"
#include "server/observe/metrics.h"
#include "server/read/stores/curl/http_client.h"

namespace stoker {

// Sends metrics to an OpenTelemetry collector, by OTLP over HTTP as JSON, again and again on a thread of its own.
// What went wrong is logged once, until it goes well again.
class OtlpExporter {
 public:
  struct Options {
    std::string url;                   // "http://collector:4318/v1/metrics"; it may have a password
    std::string shown;                 // the URL for people, without that
    std::vector<std::string> headers;  // "Name: value"; they may be secret
    absl::Duration interval = absl::Minutes(1);
    std::vector<std::pair<std::string, std::string>> resource;  // attributes of this process
  };

  // What OpenTelemetry's environment variables ask for: OTEL_EXPORTER_OTLP_METRICS_ENDPOINT or
  // OTEL_EXPORTER_OTLP_ENDPOINT with their …_HEADERS, OTEL_METRIC_EXPORT_INTERVAL, OTEL_SERVICE_NAME and
  // OTEL_RESOURCE_ATTRIBUTES. An empty `url` where no endpoint is named, or OTEL_SDK_DISABLED or OTEL_METRICS_EXPORTER
  // turn it off. InvalidArgument, with the variable, for what is no URL or number, and for a protocol in
  // OTEL_EXPORTER_OTLP_METRICS_PROTOCOL or OTEL_EXPORTER_OTLP_PROTOCOL other than http/json.
  static absl::StatusOr<Options> FromEnvironment(const std::function<std::string(const char*)>& variable);

  // Adds an attribute of the process, where the environment has none of that name.
  static void Describe(Options& options, const std::string& name, const std::string& value);

  // `metrics` must outlive it.
  OtlpExporter(Options options, const Metrics& metrics);
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  // Sends once more.
  ~OtlpExporter();

 private:
  void Send();

  const Options options_;
  const Metrics& metrics_;
  const absl::Time started_ = absl::Now();
  bool failed_ = false;  // The last time; the thread's own, as the client is.
  HttpClient client_;
  std::optional<Periodic> periodic_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_OTLP_EXPORTER_H_
