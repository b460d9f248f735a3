#include "server/main/warm_command.h"

#include <algorithm>
#include <cstdio>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/config/byte_size.h"
#include "common/status_macros.h"
#include "server/config/settings.h"
#include "server/main/progress_line.h"
#include "server/main/server.h"
#include "server/read/registry/open_dataset.h"
#include "server/read/warm/warm.h"

namespace stoker {
namespace {

// Keeps of `datasets` those with one of the names; without names, those that are no mix of others. NotFound where one
// is not there.
absl::Status KeepOnly(const std::vector<std::string>& names, const v1::ServerConfig& config, Datasets& datasets) {
  if (names.empty()) {
    for (const v1::DatasetConfig& dataset : config.datasets())
      if (dataset.has_mix()) datasets.erase(*DatasetName(dataset));
    return absl::OkStatus();
  }
  Datasets kept;
  for (const std::string& name : names) {
    const auto found = datasets.find(name);
    if (found == datasets.end()) return absl::NotFoundError(absl::StrCat("--dataset: none is called '", name, "'"));
    kept.insert(*found);
  }
  datasets = std::move(kept);
  return absl::OkStatus();
}

std::string Words(const SampleCount& count) {
  return absl::StrFormat("%d samples (%s)", count.samples, FormatByteSize(count.bytes));
}

void Print(const WarmReport& report, const Settings& settings, bool all_kept) {
  const WarmProgress& progress = report.progress;
  for (const std::string& problem : report.problems) std::fprintf(stderr, "not kept: %s\n", problem.c_str());
  std::printf("%s: has %s of %s; %s of them were there before\n", settings.raw_disk_path.c_str(),
              Words(report.kept).c_str(), Words(progress.all).c_str(), Words(progress.before).c_str());
  if (report.failed > 0) std::printf("%lu samples could not be read or do not parse, see above\n", report.failed);
  if (report.without_version > 0)
    std::printf(
        "%lu samples are of objects without an ETag or a time, which are not kept: nothing would tell that they "
        "changed\n",
        report.without_version);
  if (report.is_full)
    std::printf("the rest does not fit: raw_cache.disk.size is %s, or its table of samples is full (memory_limit)\n",
                FormatByteSize(settings.raw_disk_bytes).c_str());
  if (report.disk_failed) std::printf("the disk takes nothing more, see above\n");
  if (report.stopped) std::printf("stopped; the same command goes on from here\n");
  if (all_kept) std::printf("no epoch needs their stores\n");
}

absl::StatusOr<int> Run(const v1::ServerConfig& config, const std::vector<std::string>& names) {
  STOKER_ASSIGN_OR_RETURN(const Settings settings, Resolve(config));
  if (settings.raw_disk_path.empty())
    return absl::InvalidArgumentError(
        "raw_cache.disk: no disk to fill is configured; give --raw-cache-disk DIR and --raw-cache-size SIZE, or the "
        "key");
  Settings disk_alone = settings;
  disk_alone.raw_memory_bytes = 0;
  WarmOptions options{.cache = OpenRawCache(disk_alone, Admission::Kind::kFilling), .stop = &StopRequested()};
  if (!options.cache->has_disk()) return absl::UnavailableError("raw_cache.disk: cannot be used, see above");
  STOKER_ASSIGN_OR_RETURN(Datasets datasets, OpenDatasets(config, settings, options.cache));
  STOKER_RETURN_IF_ERROR(KeepOnly(names, config, datasets));
  StopOnSignals();
  ProgressLine line;
  CommandPace pace;
  options.progress = [&](const WarmProgress& progress) {
    if (!line.IsDue()) return;
    const uint64_t missing = progress.all.bytes - progress.before.bytes,
                   left = missing - std::min(missing, progress.read.bytes);
    if (progress.read.samples == 0) {
      line.Show(absl::StrCat("looking at what is there: ", Words(progress.all)));
    } else {
      line.Show(progress.read.bytes, missing,
                absl::StrCat("read ", FormatByteSize(progress.read.bytes), " of ", FormatByteSize(missing), ", ",
                             FormatByteSize(static_cast<uint64_t>(pace.PerSecond(progress.read.bytes))), "/s, ",
                             pace.TimeLeft(progress.read.bytes, left), " left"));
    }
  };
  const WarmReport report = Warm(datasets, options);
  line.Clear();
  if (report.progress.all.samples == 0 && report.without_version == 0 && !report.stopped) {
    std::printf("none of the datasets lies on slow storage: there is nothing to keep\n");
    return 0;
  }
  const bool all_kept = report.kept.samples == report.progress.all.samples && report.without_version == 0;
  Print(report, settings, all_kept);
  if (report.stopped) return StatusOfSignal();
  return all_kept ? 0 : 1;
}

}  // namespace

int RunWarm(const v1::ServerConfig& config, const std::vector<std::string>& names) {
  const absl::StatusOr<int> status = Run(config, names);
  if (status.ok()) return *status;
  std::fprintf(stderr, "stokerd: %s\n", std::string(status.status().message()).c_str());
  return 1;
}

}  // namespace stoker
