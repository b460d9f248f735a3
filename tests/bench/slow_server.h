#ifndef STOKER_TESTS_BENCH_SLOW_SERVER_H_
#define STOKER_TESTS_BENCH_SLOW_SERVER_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace stoker {

// A process that serves the files below a folder by HTTP with ranges, so that its time on cores is none of this
// process's. It lets each first byte wait. What asks it as an S3 server, for a bucket in the path and without a
// listing, gets the same.
class SlowServer {
 public:
  // It runs on `core`. The folder's first subfolder in a path is a bucket to who thinks so. Call it before this process
  // has threads.
  SlowServer(const std::string& folder, absl::Duration latency, int core);
  SlowServer(const SlowServer&) = delete;
  SlowServer& operator=(const SlowServer&) = delete;
  ~SlowServer();

  const std::string& url() const { return url_; }  // "http://127.0.0.1:1234"

  // What it was asked for so far: ranges and whole files, and the bytes of their bodies.
  uint64_t reads() const;
  uint64_t bytes() const;

 private:
  struct Counts;  // in memory that both processes share

  Counts* const counts_;
  pid_t pid_ = -1;
  std::string url_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_SLOW_SERVER_H_
