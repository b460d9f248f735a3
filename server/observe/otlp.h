#ifndef STOKER_SERVER_OBSERVE_OTLP_H_
#define STOKER_SERVER_OBSERVE_OTLP_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "prometheus/metric_family.h"

namespace stoker {

// Returns metrics as an ExportMetricsServiceRequest of OpenTelemetry's protocol 1, in JSON: what is posted to a
// collector's /v1/metrics. Counters and histograms are sums since `start`. `resource` are attributes of the process,
// such as service.name. Pure.
std::string OtlpJson(const std::vector<prometheus::MetricFamily>& families, absl::Time start, absl::Time now,
                     const std::vector<std::pair<std::string, std::string>>& resource);

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_OTLP_H_
