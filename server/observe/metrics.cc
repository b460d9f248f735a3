#include "server/observe/metrics.h"

#include <algorithm>
#include <iterator>

#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace stoker {
namespace {

// Seconds that one sample takes in a stage: from 10 µs of a copy to the 10 s that a sample may take.
const prometheus::Histogram::BucketBoundaries kSeconds = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2,
                                                          3e-2, 1e-1, 3e-1, 1,    3,    10};

// Seconds of a call, from one that is answered at once to a stream that lasts for an epoch of hours.
const prometheus::Histogram::BucketBoundaries kCallSeconds = {1e-3, 1e-2, 1e-1, 1, 10, 60, 600, 3600, 6 * 3600};

constexpr double kNanosecond = 1e-9;

// A stage by its name, and what a span's header says of it.
struct Stage {
  const char* name;
  uint64_t (v1::StageTimes::*nanoseconds)() const;
  void (v1::StageTimes::*set)(uint64_t nanoseconds);
};
constexpr Stage kStageList[] = {{"read", &v1::StageTimes::read, &v1::StageTimes::set_read},
                                {"decode", &v1::StageTimes::decode, &v1::StageTimes::set_decode},
                                {"augment", &v1::StageTimes::augment, &v1::StageTimes::set_augment},
                                {"own_ops", &v1::StageTimes::own_ops, &v1::StageTimes::set_own_ops},
                                {"pack", &v1::StageTimes::pack, &v1::StageTimes::set_pack}};

// Counts `samples` samples that took `seconds` in all, each as their mean.
void Observe(prometheus::Histogram& histogram, double seconds, uint64_t samples) {
  const double each = seconds / static_cast<double>(samples);
  std::vector<double> counts(kSeconds.size() + 1);
  counts[std::lower_bound(kSeconds.begin(), kSeconds.end(), each) - kSeconds.begin()] = static_cast<double>(samples);
  histogram.ObserveMultiple(counts, seconds);
}

template <typename Build>
auto& Named(Build build, const char* name, const char* help, prometheus::Registry& registry) {
  return build.Name(name).Help(help).Register(registry);
}

prometheus::Family<prometheus::Counter>& Counters(const char* name, const char* help, prometheus::Registry& registry) {
  return Named(prometheus::BuildCounter(), name, help, registry);
}

// Adds the figure to the family of its name, which it makes if it is the first.
void AddTo(std::vector<prometheus::MetricFamily>& families, const Figure& figure) {
  auto family =
      std::find_if(families.begin(), families.end(), [&](const auto& one) { return one.name == figure.name; });
  if (family == families.end()) {
    families.push_back({figure.name,
                        figure.help,
                        figure.is_counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge,
                        {}});
    family = std::prev(families.end());
  }
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : figure.labels) metric.label.push_back({name, value});
  (figure.is_counter ? metric.counter.value : metric.gauge.value) = figure.value;
  family->metric.push_back(std::move(metric));
}

}  // namespace

Metrics::Metrics()
    : samples_(Counters("stoker_samples_total", "Samples that were made, or taken from the span cache.", registry_)),
      spans_(Counters("stoker_spans_total", "Spans by what became of them: made, cached or failed.", registry_)),
      errors_(
          Counters("stoker_sample_errors_total",
                   "Samples that were substituted, and spans that failed by the sample, the pipeline or the machine.",
                   registry_)),
      sent_(Counters("stoker_sent_bytes_total", "Bytes of spans that clients' connections took.", registry_)),
      blocked_(Counters("stoker_send_blocked_seconds_total",
                        "Time that spans were ready and waited for their client's connection to take them.",
                        registry_)),
      waited_(Counters("stoker_client_wait_seconds_total",
                       "Time that clients waited for batches, as they report it to all of their servers together.",
                       registry_)),
      busy_(Counters("stoker_worker_busy_seconds_total", "Time that workers made samples.", registry_)),
      refused_(Counters("stoker_streams_refused_total", "Streams that ended before they were open.", registry_)),
      streams_(Named(prometheus::BuildGauge(), "stoker_streams_active", "Streams that are open.", registry_)),
      stages_(Named(prometheus::BuildHistogram(), "stoker_stage_duration_seconds",
                    "Time of one sample in a stage, as the mean of its span.", registry_)),
      calls_(Named(prometheus::BuildHistogram(), "grpc_server_call_duration_seconds",
                   "Time from the begin of a call to its end.", registry_)),
      busy_of_all_(busy_.Add({})),
      refused_of_all_(refused_.Add({})) {
  static_assert(std::size(kStageList) == kStages);
}

Metrics::OfDataset& Metrics::Of(const std::string& dataset) {
  const auto known = datasets_.find(dataset);
  if (known != datasets_.end()) return known->second;
  const std::map<std::string, std::string> label = {{"dataset", dataset}};
  const auto with = [&](const char* name, const char* value) {
    auto labels = label;
    labels[name] = value;
    return labels;
  };
  OfDataset of = {.samples = &samples_.Add(label),
                  .made = &spans_.Add(with("outcome", "made")),
                  .cached = &spans_.Add(with("outcome", "cached")),
                  .failed = &spans_.Add(with("outcome", "failed")),
                  .substituted = &errors_.Add(with("reason", "substituted")),
                  .bad = &errors_.Add(with("reason", "sample")),
                  .machine = &errors_.Add(with("reason", "machine")),
                  .pipeline = &errors_.Add(with("reason", "pipeline")),
                  .sent = &sent_.Add(label),
                  .blocked = &blocked_.Add(label),
                  .waited = &waited_.Add(label),
                  .streams = &streams_.Add(label)};
  for (int i = 0; i < kStages; ++i) of.stages[i] = &stages_.Add(with("stage", kStageList[i].name), kSeconds);
  return datasets_.emplace(dataset, of).first->second;
}

void Metrics::Expect(const std::string& dataset) {
  absl::MutexLock lock(&mutex_);
  Of(dataset);
}

void Metrics::Opened(const std::string& dataset) {
  absl::MutexLock lock(&mutex_);
  Of(dataset).streams->Increment();
}

void Metrics::Refused() { refused_of_all_.Increment(); }

void Metrics::Ended(const std::string& dataset) {
  absl::MutexLock lock(&mutex_);
  Of(dataset).streams->Decrement();
}

void Metrics::Made(const std::string& dataset, const v1::SpanHeader& header) {
  absl::MutexLock lock(&mutex_);
  OfDataset& of = Of(dataset);
  of.substituted->Increment(header.substitutions_size());
  if (header.has_error()) {
    of.failed->Increment();
    const v1::ErrorKind kind = header.error().kind();
    (kind == v1::ERROR_KIND_SAMPLE ? of.bad : kind == v1::ERROR_KIND_PIPELINE ? of.pipeline : of.machine)->Increment();
    return;
  }
  const auto samples = static_cast<uint64_t>(header.sample_ids_size());
  of.samples->Increment(static_cast<double>(samples));
  (header.cached() ? of.cached : of.made)->Increment();
  if (header.cached() || samples == 0) return;
  for (int i = 0; i < kStages; ++i) {
    const double seconds = kNanosecond * static_cast<double>((header.times().*kStageList[i].nanoseconds)());
    busy_of_all_.Increment(seconds);
    Observe(*of.stages[i], seconds, samples);
  }
}

void Metrics::Sent(const std::string& dataset, uint64_t bytes, absl::Duration taken) {
  absl::MutexLock lock(&mutex_);
  OfDataset& of = Of(dataset);
  of.sent->Increment(static_cast<double>(bytes));
  of.blocked->Increment(std::max(absl::ToDoubleSeconds(taken), 0.0));
}

void Metrics::Waited(const std::string& dataset, absl::Duration waited, absl::Duration share) {
  absl::MutexLock lock(&mutex_);
  OfDataset& of = Of(dataset);
  of.waited->Increment(absl::ToDoubleSeconds(share));
  of.whole_waited_seconds += absl::ToDoubleSeconds(waited);
}

void Metrics::Called(const std::string& method, absl::StatusCode code, absl::Duration taken) {
  calls_
      .Add({{"grpc_method", "stoker.v1.DataService/" + method}, {"grpc_status", absl::StatusCodeToString(code)}},
           kCallSeconds)
      .Observe(absl::ToDoubleSeconds(taken));
}

v1::DatasetStatus Metrics::StatusOf(const std::string& dataset) {
  absl::MutexLock lock(&mutex_);
  const OfDataset& of = Of(dataset);
  const auto count = [](const auto* metric) { return static_cast<uint64_t>(metric->Value()); };
  v1::DatasetStatus status;
  status.set_name(dataset);
  status.set_streams(static_cast<uint32_t>(of.streams->Value()));
  status.set_samples(count(of.samples));
  status.set_substituted(count(of.substituted));
  status.set_failed_spans(count(of.failed));
  status.set_sent_bytes(count(of.sent));
  status.set_send_blocked_seconds(of.blocked->Value());
  status.set_client_wait_seconds(of.waited->Value());
  status.set_whole_client_wait_seconds(of.whole_waited_seconds);
  for (int i = 0; i < kStages; ++i) {
    const double seconds = of.stages[i]->Collect().histogram.sample_sum;
    (status.mutable_times()->*kStageList[i].set)(static_cast<uint64_t>(seconds / kNanosecond));
  }
  return status;
}

void Metrics::Add(std::function<std::vector<Figure>()> source) {
  absl::MutexLock lock(&sources_mutex_);
  sources_.push_back(std::move(source));
}

std::vector<prometheus::MetricFamily> Metrics::Collect() const {
  std::vector<prometheus::MetricFamily> families = registry_.Collect();
  absl::MutexLock lock(&sources_mutex_);
  for (const auto& source : sources_)
    for (const Figure& figure : source()) AddTo(families, figure);
  return families;
}

std::string Metrics::Text() const { return prometheus::TextSerializer().Serialize(Collect()); }

}  // namespace stoker
