#ifndef STOKER_CLIENT_DEVICE_TRACE_H_
#define STOKER_CLIENT_DEVICE_TRACE_H_

namespace stoker {

// A named stretch of the calling thread's time, while it lives, for tools that trace a process (NVTX: Nsight Systems
// and others). Costs next to nothing without such a tool, and does nothing in a build without CUDA. `name` is a
// literal.
class TraceRange {
 public:
  explicit TraceRange(const char* name);
  ~TraceRange();
  TraceRange(const TraceRange&) = delete;
  TraceRange& operator=(const TraceRange&) = delete;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_TRACE_H_
