#include "server/main/otlp_exporter.h"

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

absl::StatusOr<OtlpExporter::Options> From(const std::map<std::string, std::string>& variables) {
  return OtlpExporter::FromEnvironment([&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}

TEST(OtlpExporterTest, NothingIsSentWhereNobodyAsks) {
  const auto options = From({{"OTEL_SERVICE_NAME", "x"}});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->url, "");
}

TEST(OtlpExporterTest, TheVariablesAreOpenTelemetrys) {
  const auto options = From({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/"},
                             {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=y=z"},
                             {"OTEL_METRIC_EXPORT_INTERVAL", "2500"},
                             {"OTEL_SERVICE_NAME", "photos"},
                             {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,team=vision"}});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->url, "http://collector:4318/v1/metrics");
  EXPECT_THAT(options->headers, ElementsAre("api-key: a b", "x: y=z"));
  EXPECT_EQ(options->interval, absl::Milliseconds(2500));
  EXPECT_THAT(options->resource, UnorderedElementsAre(Pair("service.name", "photos"), Pair("team", "vision")));
  const auto whole =
      From({{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://c/m"}, {"OTEL_EXPORTER_OTLP_ENDPOINT", "x"}});
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->url, "https://c/m");
  EXPECT_THAT(whole->resource, ElementsAre(Pair("service.name", "stokerd")));
}

TEST(OtlpExporterTest, TheVariablesTurnItOffToo) {
  for (const auto& [name, value] : {std::pair("OTEL_SDK_DISABLED", "True"),
                                    {"OTEL_METRICS_EXPORTER", "none"},
                                    {"OTEL_METRICS_EXPORTER", "prometheus"}}) {
    const auto options = From({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"}, {name, value}});
    ASSERT_TRUE(options.ok());
    EXPECT_EQ(options->url, "") << name;
  }
  EXPECT_NE(From({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}, {"OTEL_METRICS_EXPORTER", "console,otlp"}})->url,
            "");
}

TEST(OtlpExporterTest, APasswordIsNotShown) {
  const auto options = From({{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://user:p@ss@collector:4318/v1?key=secret"}});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->shown, "http://collector:4318/v1");
}

TEST(OtlpExporterTest, WhatIsWrongIsNamed) {
  const std::pair<std::string, std::string> cases[] = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"},
                                                       {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                                                       {"OTEL_EXPORTER_OTLP_HEADERS", "key"},
                                                       {"OTEL_METRIC_EXPORT_INTERVAL", "1m"},
                                                       {"OTEL_RESOURCE_ATTRIBUTES", "=x"}};
  for (const auto& [name, value] : cases) {
    std::map<std::string, std::string> variables = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"}};
    variables[name] = value;
    EXPECT_THAT(From(variables).status().message(), HasSubstr(name)) << value;
  }
}

}  // namespace
}  // namespace stoker
