#include "server/main/otlp_exporter.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "server/observe/otlp.h"
#include "spdlog/spdlog.h"

namespace stoker {
namespace {

using Variable = std::function<std::string(const char*)>;

// Returns the first of two variables that is set, and its name.
std::pair<std::string, std::string> FirstOf(const Variable& variable, const char* first, const char* second) {
  if (std::string value = variable(first); !value.empty()) return {first, std::move(value)};
  return {second, variable(second)};
}

// Parses "a=b,c=d", whose values are percent-encoded.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> PairsOf(const std::string& name,
                                                                         const std::string& text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> split = absl::StrSplit(part, absl::MaxSplits('=', 1));
    const std::string key(absl::StripAsciiWhitespace(split.first));
    if (key.empty() || part.find('=') == absl::string_view::npos)
      return absl::InvalidArgumentError(absl::StrCat(name, ": write key=value,key=value"));
    pairs.emplace_back(key, PercentDecoded(std::string(absl::StripAsciiWhitespace(split.second))));
  }
  return pairs;
}

// The URL without user, password and query.
std::string Shown(const std::string& url) {
  const std::pair<absl::string_view, absl::string_view> scheme = absl::StrSplit(url, absl::MaxSplits("://", 1));
  absl::string_view rest = scheme.second.substr(0, scheme.second.find('?'));
  if (const size_t at = rest.substr(0, rest.find('/')).rfind('@'); at != absl::string_view::npos)
    rest.remove_prefix(at + 1);
  return absl::StrCat(scheme.first, "://", rest);
}

HttpLimits Limits() {
  HttpLimits limits;
  limits.requests = limits.tries = 1;  // The next one comes soon, and has all that this one has.
  limits.connect = absl::Seconds(1);
  limits.silence = limits.total = absl::Seconds(2);  // A server that stops waits for the last one.
  limits.backend.reset();                            // It is no storage.
  return WithAuthorities(limits);
}

}  // namespace

absl::StatusOr<OtlpExporter::Options> OtlpExporter::FromEnvironment(const Variable& variable) {
  Options options;
  const std::vector<std::string> exporters = absl::StrSplit(variable("OTEL_METRICS_EXPORTER"), ',', absl::SkipEmpty());
  const bool is_named = exporters.empty() || std::find(exporters.begin(), exporters.end(), "otlp") != exporters.end();
  if (absl::EqualsIgnoreCase(variable("OTEL_SDK_DISABLED"), "true") || !is_named) return options;
  const std::string whole = variable("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
  const std::string base = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (whole.empty() && base.empty()) return options;
  const char* const name = whole.empty() ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";
  options.url = whole.empty() ? absl::StrCat(absl::StripSuffix(base, "/"), "/v1/metrics") : whole;
  if (!absl::StartsWith(options.url, "http://") && !absl::StartsWith(options.url, "https://"))
    return absl::InvalidArgumentError(absl::StrCat(name, ": this is no URL, such as http://host:4318"));
  options.shown = Shown(options.url);
  const auto [protocol_name, protocol] =
      FirstOf(variable, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
  if (!protocol.empty() && protocol != "http/json")
    return absl::InvalidArgumentError(absl::StrCat(protocol_name, ": '", protocol, "' is not spoken; say http/json"));
  const auto [headers_name, headers] =
      FirstOf(variable, "OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS");
  STOKER_ASSIGN_OR_RETURN(const auto pairs, PairsOf(headers_name, headers));
  for (const auto& [key, value] : pairs) options.headers.push_back(absl::StrCat(key, ": ", value));
  if (const std::string text = variable("OTEL_METRIC_EXPORT_INTERVAL"); !text.empty()) {
    int milliseconds = 0;
    if (!absl::SimpleAtoi(text, &milliseconds) || milliseconds < 1)
      return absl::InvalidArgumentError(
          absl::StrCat("OTEL_METRIC_EXPORT_INTERVAL: '", text, "' is no number of milliseconds"));
    options.interval = absl::Milliseconds(milliseconds);
  }
  STOKER_ASSIGN_OR_RETURN(options.resource, PairsOf("OTEL_RESOURCE_ATTRIBUTES", variable("OTEL_RESOURCE_ATTRIBUTES")));
  const std::string service = variable("OTEL_SERVICE_NAME");
  if (!service.empty()) std::erase_if(options.resource, [](const auto& pair) { return pair.first == "service.name"; });
  Describe(options, "service.name", service.empty() ? "stokerd" : service);
  return options;
}

void OtlpExporter::Describe(Options& options, const std::string& name, const std::string& value) {
  const auto named = [&name](const auto& pair) { return pair.first == name; };
  if (std::none_of(options.resource.begin(), options.resource.end(), named)) options.resource.emplace_back(name, value);
}

OtlpExporter::OtlpExporter(Options options, const Metrics& metrics)
    : options_(std::move(options)), metrics_(metrics), client_(Limits()) {
  periodic_.emplace(options_.interval, [this] { Send(); });
}

OtlpExporter::~OtlpExporter() {
  periodic_.reset();
  Send();
}

void OtlpExporter::Send() {
  HttpRequest request = {.method = "POST", .url = options_.url, .name = options_.shown};
  request.headers = {"Content-Type: application/json"};
  request.secret_headers = options_.headers;
  request.body = OtlpJson(metrics_.Collect(), started_, absl::Now(), options_.resource);
  const auto response = client_.Fetch(std::move(request));
  if (!response.ok() && !failed_)
    spdlog::warn("OpenTelemetry's collector: {}; metrics go on being sent", std::string(response.status().message()));
  if (response.ok() && failed_) spdlog::info("OpenTelemetry's collector takes metrics again");
  failed_ = !response.ok();
}

}  // namespace stoker
