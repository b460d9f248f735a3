#include "server/observe/otlp.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kCumulative = 2;  // AGGREGATION_TEMPORALITY_CUMULATIVE

// Whole numbers of 64 bits are texts in protobuf's JSON.
std::string Nanoseconds(absl::Time time) { return absl::StrCat(absl::ToUnixNanos(time)); }

Json Attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

Json PointOf(const prometheus::ClientMetric& metric, absl::Time start, absl::Time now) {
  Json attributes = Json::array();
  for (const auto& label : metric.label) attributes.push_back(Attribute(label.name, label.value));
  return {{"attributes", attributes}, {"startTimeUnixNano", Nanoseconds(start)}, {"timeUnixNano", Nanoseconds(now)}};
}

// Prometheus's buckets count all below their bound; OpenTelemetry's each count their own.
void AddHistogram(const prometheus::ClientMetric::Histogram& histogram, Json& point) {
  Json bounds = Json::array(), counts = Json::array();
  uint64_t below = 0;
  for (const auto& bucket : histogram.bucket) {
    counts.push_back(absl::StrCat(bucket.cumulative_count - below));
    below = bucket.cumulative_count;
    if (!std::isinf(bucket.upper_bound)) bounds.push_back(bucket.upper_bound);
  }
  if (counts.size() == bounds.size()) counts.push_back(absl::StrCat(histogram.sample_count - below));
  point["count"] = absl::StrCat(histogram.sample_count);
  point["sum"] = histogram.sample_sum;
  point["bucketCounts"] = counts;
  point["explicitBounds"] = bounds;
}

Json MetricOf(const prometheus::MetricFamily& family, absl::Time start, absl::Time now) {
  Json points = Json::array();
  for (const prometheus::ClientMetric& metric : family.metric) {
    Json point = PointOf(metric, start, now);
    if (family.type == prometheus::MetricType::Histogram) {
      AddHistogram(metric.histogram, point);
    } else {
      point["asDouble"] = family.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value;
    }
    points.push_back(std::move(point));
  }
  Json told = {{"name", family.name}, {"description", family.help}};
  if (family.type == prometheus::MetricType::Histogram) {
    told["histogram"] = {{"dataPoints", points}, {"aggregationTemporality", kCumulative}};
  } else if (family.type == prometheus::MetricType::Counter) {
    told["sum"] = {{"dataPoints", points}, {"aggregationTemporality", kCumulative}, {"isMonotonic", true}};
  } else {
    told["gauge"] = {{"dataPoints", points}};
  }
  return told;
}

}  // namespace

std::string OtlpJson(const std::vector<prometheus::MetricFamily>& families, absl::Time start, absl::Time now,
                     const std::vector<std::pair<std::string, std::string>>& resource) {
  Json attributes = Json::array(), metrics = Json::array();
  for (const auto& [key, value] : resource) attributes.push_back(Attribute(key, value));
  for (const prometheus::MetricFamily& family : families) metrics.push_back(MetricOf(family, start, now));
  const Json scope = {{"scope", {{"name", "stokerd"}}}, {"metrics", metrics}};
  const Json of_resource = {{"resource", {{"attributes", attributes}}}, {"scopeMetrics", Json::array({scope})}};
  const Json request = {{"resourceMetrics", Json::array({of_resource})}};
  return request.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace stoker
