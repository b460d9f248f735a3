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
  std::string fingerprint;               // hexadecimal
  uint64_t sample_bytes = 0;             // of a usual sample as it is sent
  bool images = false;                   // whether samples are images
  uint32_t parallelism = 0;              // spans that one server works on at once
  double seconds = 0;                    // from the first call of Next() to the end
  double first_batch_seconds = 0;        // from the first call of Next() to the first batch
  double cpu_seconds = 0;                // CPU time of this process during `seconds`, without own_seconds
  double own_seconds = 0;                // CPU time that digest and contact sheet took
  double host_cpu_share = -1;            // busy share of all of this machine's CPUs, 0 to 1; negative if unknown
  std::vector<double> gpu_shares;        // busy share of each GPU, 0 to 1; empty if unknown
  LoaderStats stats;                     // what the loader counted during `seconds`
  std::vector<Substituted> substituted;  // the first few substituted samples
  std::vector<std::string> digests;      // digests of epochs from.epoch, from.epoch + 1, …
  std::string sheet;                     // path of the contact sheet; empty if there is none
  bool interrupted = false;
  std::string state;  // path; empty where none was asked for
  Cursor from, to;    // where the run began and ended

  double images_per_second() const;
  double megabytes_per_second() const;  // bytes as sent of the samples that were handed out
};

// Says in a few words what limits the speed, and which figures show that.
std::string Bottleneck(const Figures& figures);

// Prints the figures for people, in several lines. Names that came from servers are made printable.
std::string ToText(const Figures& figures);

// Prints the figures as one JSON object and a line feed.
std::string ToJson(const Figures& figures);

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_REPORT_H_
