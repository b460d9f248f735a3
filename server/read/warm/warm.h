#ifndef STOKER_SERVER_READ_WARM_WARM_H_
#define STOKER_SERVER_READ_WARM_WARM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/read/cached/raw_cache.h"
#include "server/read/dataset.h"

namespace stoker {

// Samples and their stored bytes.
struct SampleCount {
  uint64_t samples = 0, bytes = 0;

  void Add(uint64_t size) { ++samples, bytes += size; }
};

struct WarmProgress {
  SampleCount all;     // of the datasets on slow storage
  SampleCount before;  // those that the disk had before
  SampleCount read;    // those that were read so far
};

struct WarmReport {
  WarmProgress progress;
  SampleCount kept;                   // of all, what the disk has now
  uint64_t failed = 0;                // samples that could not be read or do not parse
  uint64_t without_version = 0;       // samples of objects that are not kept: nothing would tell that they changed
  std::vector<std::string> problems;  // of the first that failed
  bool is_full = false;               // reading ended since there was no more room
  bool disk_failed = false;           // reading ended since the disk took nothing
  bool stopped = false;
};

struct WarmOptions {
  std::shared_ptr<RawCache> cache;             // with a disk, of the kind kFilling, which waits
  uint64_t ahead_bytes = uint64_t{256} << 20;  // that are read at once
  std::function<void(const WarmProgress&)> progress = [](const WarmProgress&) {};
  const std::atomic<bool>* stop = nullptr;  // ends it soon once true; may be null
};

// Reads the samples on slow storage that the cache's disk has not, and keeps them there. Samples of other datasets make
// room for them. What the disk had is not read again, so that a run goes on where another one ended.
//
// One thread at a time.
WarmReport Warm(const std::map<std::string, std::shared_ptr<const Dataset>>& datasets, const WarmOptions& options);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_WARM_WARM_H_
