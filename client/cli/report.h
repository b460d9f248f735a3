#ifndef STOKER_CLIENT_CLI_REPORT_H_
#define STOKER_CLIENT_CLI_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/loader/batch.h"
#include "client/loader/loader.h"
#include "client/schedule/batch_plan.h"

namespace stoker {

// What a benchmark measured. Plain values.
struct Figures {
  std::string dataset;
  std::string fingerprint;  // hexadecimal
  uint64_t sample_bytes = 0;
  bool images = false;                   // Samples are images.
  uint32_t parallelism = 0;              // of one server
  double seconds = 0;                    // from the first call of Next() to the end
  double first_batch_seconds = 0;        // to the first batch
  double cpu_seconds = 0;                // of this process meanwhile, but for
  double own_seconds = 0;                // what digest and sheet took
  double host_cpu_share = -1;            // of all of this machine's CPUs that was busy; negative if unknown
  std::vector<double> gpu_shares;        // of the time that each GPU was busy; empty if unknown
  LoaderStats stats;                     // of this time
  std::vector<Substituted> substituted;  // the first few
  std::vector<std::string> digests;      // of epochs from.epoch, from.epoch + 1, …
  std::string sheet;                     // path
  bool interrupted = false;
  std::string state;  // path; empty where none was asked for
  Cursor from, to;    // where the run began and ended

  double images_per_second() const;
  double megabytes_per_second() const;  // of what was handed out
};

// What to change for more speed, in a few words, and the figures that say so.
std::string Bottleneck(const Figures& figures);

// For people, several lines. Names from servers are made printable.
std::string ToText(const Figures& figures);

// One JSON object and a line feed.
std::string ToJson(const Figures& figures);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_REPORT_H_
