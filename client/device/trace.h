#ifndef STOKER_CLIENT_DEVICE_TRACE_H_
#define STOKER_CLIENT_DEVICE_TRACE_H_

namespace stoker {

// Marks the calling thread's time, from construction to destruction, with a name for tools that trace a process (NVTX:
// Nsight Systems and others). It costs next to nothing without such a tool, and does nothing in a build without CUDA.
// `name` must be a literal.
class TraceRange {
 public:
  explicit TraceRange(const char* name);
  ~TraceRange();
  TraceRange(const TraceRange&) = delete;
  TraceRange& operator=(const TraceRange&) = delete;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_DEVICE_TRACE_H_
