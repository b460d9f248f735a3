#ifndef STOKER_SERVER_WORK_STAGE_CLOCK_H_
#define STOKER_SERVER_WORK_STAGE_CLOCK_H_

#include <chrono>
#include <cstdint>

#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Stopwatch that adds the nanoseconds of each stage to a StageTimes, which must outlive it. One thread at a time.
class StageClock {
 public:
  using Setter = void (v1::StageTimes::*)(uint64_t);
  using Getter = uint64_t (v1::StageTimes::*)() const;

  explicit StageClock(v1::StageTimes& times) : times_(times) {}

  // Adds the time since the last call, or since construction, to one stage, given by its accessors.
  void Book(Getter get, Setter set) {
    const auto now = std::chrono::steady_clock::now();
    (times_.*set)((times_.*get)() + std::chrono::nanoseconds(now - last_).count());
    last_ = now;
  }

 private:
  v1::StageTimes& times_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_STAGE_CLOCK_H_
