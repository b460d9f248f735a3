#include "server/observe/otlp.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/observe/metrics.h"

namespace stoker {
namespace {

// The metric of that name.
nlohmann::json Find(const nlohmann::json& request, const std::string& name) {
  for (const auto& metric : request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"])
    if (metric["name"] == name) return metric;
  ADD_FAILURE() << "there is no " << name;
  return {};
}

TEST(OtlpTest, MetricsAreSumsGaugesAndHistograms) {
  Metrics metrics;
  metrics.Opened("pets");
  v1::SpanHeader made;
  for (int i = 0; i < 4; ++i) made.add_sample_ids(i);
  made.mutable_times()->set_decode(8'000'000);  // 2 ms each
  metrics.Made("pets", made);
  const absl::Time start = absl::FromUnixSeconds(100), now = absl::FromUnixSeconds(160);
  const auto request = nlohmann::json::parse(OtlpJson(metrics.Collect(), start, now, {{"service.name", "stokerd"}}));
  EXPECT_EQ(request["resourceMetrics"][0]["resource"]["attributes"][0]["value"]["stringValue"], "stokerd");
  const auto samples = Find(request, "stoker_samples_total")["sum"];
  EXPECT_EQ(samples["isMonotonic"], true);
  EXPECT_EQ(samples["aggregationTemporality"], 2);
  EXPECT_EQ(samples["dataPoints"][0]["asDouble"], 4);
  EXPECT_EQ(samples["dataPoints"][0]["startTimeUnixNano"], "100000000000");
  EXPECT_EQ(samples["dataPoints"][0]["timeUnixNano"], "160000000000");
  EXPECT_EQ(samples["dataPoints"][0]["attributes"][0]["key"], "dataset");
  EXPECT_EQ(Find(request, "stoker_streams_active")["gauge"]["dataPoints"][0]["asDouble"], 1);
  const nlohmann::json stages = Find(request, "stoker_stage_duration_seconds")["histogram"]["dataPoints"];
  for (const auto& point : stages) {
    ASSERT_EQ(point["bucketCounts"].size(), point["explicitBounds"].size() + 1);
    int all = 0;
    for (const std::string count : point["bucketCounts"]) all += std::stoi(count);
    EXPECT_EQ(point["count"], std::to_string(all));
    EXPECT_EQ(all, 4);
    EXPECT_EQ(point["sum"], point["attributes"][1]["value"]["stringValue"] == "decode" ? 0.008 : 0.0);
  }
}

}  // namespace
}  // namespace stoker
