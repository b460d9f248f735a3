#include "server/observe/metrics.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/observe/process_figures.h"

namespace stoker {
namespace {

using testing::HasSubstr;

v1::SpanHeader Span(int samples) {
  v1::SpanHeader header;
  for (int i = 0; i < samples; ++i) header.add_sample_ids(i);
  return header;
}

TEST(MetricsTest, SpansAreCountedByWhatBecameOfThem) {
  Metrics metrics;
  metrics.Opened("pets");
  v1::SpanHeader made = Span(4);
  made.mutable_times()->set_decode(8'000'000);    // 2 ms each
  made.mutable_times()->set_augment(40'000'000);  // 10 ms each
  made.add_substitutions();
  metrics.Made("pets", made);
  v1::SpanHeader cached = Span(3);
  cached.set_cached(true);
  cached.mutable_times()->set_wait(1);
  metrics.Made("pets", cached);
  for (const v1::ErrorKind kind : {v1::ERROR_KIND_SAMPLE, v1::ERROR_KIND_MACHINE, v1::ERROR_KIND_MACHINE}) {
    v1::SpanHeader failed;
    failed.mutable_error()->set_kind(kind);
    metrics.Made("pets", failed);
  }
  metrics.Sent("pets", 1000, absl::Milliseconds(500));
  metrics.Sent("pets", 24, absl::Milliseconds(250));
  metrics.Refused();
  const std::string text = metrics.Text();
  for (const char* line :
       {"stoker_samples_total{dataset=\"pets\"} 7\n", "stoker_spans_total{dataset=\"pets\",outcome=\"made\"} 1\n",
        "stoker_spans_total{dataset=\"pets\",outcome=\"cached\"} 1\n",
        "stoker_spans_total{dataset=\"pets\",outcome=\"failed\"} 3\n",
        "stoker_sample_errors_total{dataset=\"pets\",reason=\"substituted\"} 1\n",
        "stoker_sample_errors_total{dataset=\"pets\",reason=\"sample\"} 1\n",
        "stoker_sample_errors_total{dataset=\"pets\",reason=\"machine\"} 2\n",
        "stoker_sent_bytes_total{dataset=\"pets\"} 1024\n",
        "stoker_send_blocked_seconds_total{dataset=\"pets\"} 0.75\n", "stoker_streams_active{dataset=\"pets\"} 1\n",
        "stoker_streams_refused_total 1\n", "stoker_worker_busy_seconds_total 0.048\n",
        "stoker_stage_duration_seconds_count{dataset=\"pets\",stage=\"decode\"} 4\n",
        "stoker_stage_duration_seconds_sum{dataset=\"pets\",stage=\"decode\"} 0.008\n",
        "stoker_stage_duration_seconds_bucket{dataset=\"pets\",stage=\"decode\",le=\"0.001\"} 0\n",
        "stoker_stage_duration_seconds_bucket{dataset=\"pets\",stage=\"decode\",le=\"0.003\"} 4\n",
        "stoker_stage_duration_seconds_bucket{dataset=\"pets\",stage=\"augment\",le=\"0.01\"} 4\n",
        "# TYPE stoker_stage_duration_seconds histogram\n"})
    EXPECT_THAT(text, HasSubstr(line));
  metrics.Ended("pets");
  EXPECT_THAT(metrics.Text(), HasSubstr("stoker_streams_active{dataset=\"pets\"} 0\n"));
}

TEST(MetricsTest, CallsAreCountedByWhatTheyEndedWith) {
  Metrics metrics;
  metrics.Called("Describe", absl::StatusCode::kOk, absl::Milliseconds(5));
  metrics.Called("Describe", absl::StatusCode::kOk, absl::Milliseconds(500));
  metrics.Called("Stream", absl::StatusCode::kUnavailable, absl::Hours(2));
  const std::string text = metrics.Text();
  for (const char* line : {"_count{grpc_method=\"stoker.v1.DataService/Describe\",grpc_status=\"OK\"} 2\n",
                           "_bucket{grpc_method=\"stoker.v1.DataService/Describe\",grpc_status=\"OK\",le=\"0.01\"} 1\n",
                           "_sum{grpc_method=\"stoker.v1.DataService/Stream\",grpc_status=\"UNAVAILABLE\"} 7200\n"})
    EXPECT_THAT(text, HasSubstr(absl::StrCat("grpc_server_call_duration_seconds", line)));
}

TEST(MetricsTest, AStatusHasWhatWasCountedForADataset) {
  Metrics metrics;
  metrics.Opened("pets");
  v1::SpanHeader made = Span(4);
  made.mutable_times()->set_decode(8'000'000);
  metrics.Made("pets", made);
  metrics.Sent("pets", 1000, absl::Milliseconds(500));
  metrics.Waited("pets", absl::Milliseconds(500), absl::Milliseconds(250));
  const v1::DatasetStatus status = metrics.StatusOf("pets");
  EXPECT_EQ(status.name(), "pets");
  EXPECT_EQ(status.streams(), 1);
  EXPECT_EQ(status.samples(), 4);
  EXPECT_EQ(status.sent_bytes(), 1000);
  EXPECT_EQ(status.send_blocked_seconds(), 0.5);
  EXPECT_EQ(status.client_wait_seconds(), 0.25);
  EXPECT_EQ(status.whole_client_wait_seconds(), 0.5);
  EXPECT_NEAR(static_cast<double>(status.times().decode()), 8e6, 1);
  EXPECT_EQ(metrics.busy_seconds(), 0.008);
  EXPECT_THAT(metrics.Text(), HasSubstr("stoker_client_wait_seconds_total{dataset=\"pets\"} 0.25\n"));
  EXPECT_EQ(metrics.StatusOf("birds").samples(), 0);
}

TEST(MetricsTest, FiguresOfOthersStandUnderOneHead) {
  Metrics metrics;
  int asked = 0;
  metrics.Add([&asked]() -> std::vector<Figure> {
    ++asked;
    return {{"cache_bytes", "kept", false, {{"cache", "a"}}, 1},
            {"cache_bytes", "kept", false, {{"cache", "b\"\n"}}, 2}};
  });
  metrics.Add([]() -> std::vector<Figure> { return {{"seen_total", "seen", true, {}, 3}}; });
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("# HELP cache_bytes kept\n# TYPE cache_bytes gauge\ncache_bytes{cache=\"a\"} 1\n"
                              "cache_bytes{cache=\"b\\\"\\n\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE seen_total counter\nseen_total 3\n"));
  EXPECT_EQ(asked, 1);
}

TEST(ProcessFiguresTest, TellWhatPrometheusExpectsOfAProcess) {
  std::map<std::string, double> figures;
  for (const Figure& figure : ProcessFigures()) figures[figure.name] = figure.value;
  EXPECT_GT(figures["process_resident_memory_bytes"], 1 << 20);
  EXPECT_GT(figures["process_virtual_memory_bytes"], figures["process_resident_memory_bytes"]);
  EXPECT_GE(figures["process_threads"], 1);
  EXPECT_GE(figures["process_open_fds"], 3);
  EXPECT_GE(figures["process_max_fds"], figures["process_open_fds"]);
  EXPECT_TRUE(figures.contains("process_cpu_seconds_total"));
  const double now = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  EXPECT_GT(figures["process_start_time_seconds"], now - 365 * 86400) << "an emulator may tell of the machine's start";
  EXPECT_LT(figures["process_start_time_seconds"], now + 60);
}

}  // namespace
}  // namespace stoker
