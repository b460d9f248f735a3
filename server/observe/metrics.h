#ifndef STOKER_SERVER_OBSERVE_METRICS_H_
#define STOKER_SERVER_OBSERVE_METRICS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/metric_family.h"
#include "prometheus/registry.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// A number that is asked for whenever somebody looks, under the name and labels that Prometheus knows it by.
struct Figure {
  using Labels = std::vector<std::pair<std::string, std::string>>;

  std::string name, help;
  bool is_counter = false;  // it only grows; else it is a gauge
  Labels labels;
  double value = 0;
};

// What a server counts, for Prometheus. docs/operations.md lists the names, which are an interface. Nothing has a
// sample's or a file's name for a label, so that there are as many series as there are datasets, times few.
// Thread-safe.
class Metrics {
 public:
  Metrics();

  // There is a dataset: its series are there from now on, so that their first increase is seen.
  void Expect(const std::string& dataset);

  void Opened(const std::string& dataset);
  void Refused();
  void Ended(const std::string& dataset);

  // A span was made, or could not be made.
  void Made(const std::string& dataset, const v1::SpanHeader& header);

  // A span of so many bytes was written to its client's connection, which took so long.
  void Sent(const std::string& dataset, uint64_t bytes, absl::Duration taken);

  // A client says that it waited so long for batches, of which `share` is this server's.
  void Waited(const std::string& dataset, absl::Duration waited, absl::Duration share);

  // A call of stoker.v1.DataService ended. `method` is one of its own: "Describe".
  void Called(const std::string& method, absl::StatusCode code, absl::Duration taken);

  // Returns what was counted for a dataset.
  v1::DatasetStatus StatusOf(const std::string& dataset);

  // Returns the seconds that workers made samples.
  double busy_seconds() const { return busy_of_all_.Value(); }

  // Adds figures of others. `source` is called by whoever calls Text, on any thread.
  void Add(std::function<std::vector<Figure>()> source);

  // Returns all of it.
  std::vector<prometheus::MetricFamily> Collect() const;

  // Returns it in Prometheus's text format, version 0.0.4.
  std::string Text() const;

 private:
  template <typename Kind>
  using Family = prometheus::Family<Kind>;

  // The stages that a sample's time is told of.
  static constexpr int kStages = 5;

  // The series of a dataset.
  struct OfDataset {
    prometheus::Counter *samples, *made, *cached, *failed, *substituted, *bad, *machine, *pipeline, *sent, *blocked,
        *waited;
    prometheus::Gauge* streams;
    prometheus::Histogram* stages[kStages];
    double whole_waited_seconds = 0;  // not divided as `waited` is
  };
  OfDataset& Of(const std::string& dataset) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  prometheus::Registry registry_;
  Family<prometheus::Counter>&samples_, &spans_, &errors_, &sent_, &blocked_, &waited_, &busy_, &refused_;
  Family<prometheus::Gauge>& streams_;
  Family<prometheus::Histogram>&stages_, &calls_;
  prometheus::Counter &busy_of_all_, &refused_of_all_;

  mutable absl::Mutex mutex_;
  std::map<std::string, OfDataset> datasets_ ABSL_GUARDED_BY(mutex_);

  mutable absl::Mutex sources_mutex_;
  std::vector<std::function<std::vector<Figure>()>> sources_ ABSL_GUARDED_BY(sources_mutex_);
};

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_METRICS_H_
