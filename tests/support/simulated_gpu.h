#ifndef STOKER_TESTS_SUPPORT_SIMULATED_GPU_H_
#define STOKER_TESTS_SUPPORT_SIMULATED_GPU_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/device/cuda/runtime.h"

namespace stoker {

// Runs a kernel's threads on the CPU, one after the other in random order, phase by phase.
void RunOnCpu(const KernelCall& call, uint64_t seed);

// A GPU that is none: streams whose work a thread does later, some of it much later, in any order that streams and
// events allow; copies read and write when their turn comes. Memory is poisoned before its first use and when it is
// freed, and work that touches memory which nobody has is remembered in violations(). Streams 0, 1 and 2 are CUDA's
// default streams. Thread-safe.
class SimulatedGpu : public CudaRuntime {
 public:
  explicit SimulatedGpu(uint64_t seed);
  ~SimulatedGpu() override;  // Drops what is queued.

  // Queues what a consumer would. `touches` is device memory.
  void Enqueue(Stream stream, std::function<void()> work, const void* touches, uint64_t bytes);

  // Another GPU's: it waits for this one's events, and cannot record them.
  Stream CreateForeignStream();

  // No work is done between these.
  void Pause();
  void Resume();

  // Waits until all is done.
  void Drain();

  // Bounds of what can be allocated.
  void LimitDevice(uint64_t bytes);
  void LimitPinned(uint64_t bytes);

  // Makes the call number `call` of this interface, from now on counted from 0, fail with cudaErrorUnknown; or it and
  // all that follow, as when a kernel wrote where it must not: then queued work is lost.
  void FailCall(int64_t call);
  void FailFrom(int64_t call);
  void FailNone();
  int64_t calls() const;  // Since the last of these.

  std::vector<std::string> violations() const;

  // What is not yet given back: "2 events, …"; empty if nothing.
  std::string Leaks() const;

  int64_t device_allocations() const;  // Ever.

  int ordinal() const override { return 3; }
  std::string PciId() const override { return ""; }
  absl::StatusOr<uint8_t*> AllocateDevice(uint64_t bytes) override;
  absl::Status FreeDevice(uint8_t* memory) override;
  absl::StatusOr<uint64_t> FreeDeviceBytes() override;
  absl::StatusOr<uint8_t*> AllocatePinned(uint64_t bytes) override;
  absl::Status FreePinned(uint8_t* memory) override;
  absl::StatusOr<Stream> CreateStream() override;
  absl::Status DestroyStream(Stream stream) override;
  absl::Status Synchronize(Stream stream) override;
  absl::Status WaitFor(Stream stream, Event event) override;
  absl::StatusOr<Event> CreateEvent() override;
  absl::Status DestroyEvent(Event event) override;
  absl::Status Record(Event event, Stream stream) override;
  absl::StatusOr<bool> IsDone(Event event) override;
  absl::Status Synchronize(Event event) override;
  absl::Status CopyToDevice(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) override;
  absl::Status CopyOnDevice(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) override;
  absl::Status CopyToHost(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) override;
  absl::Status Fill(uint8_t* memory, uint8_t value, uint64_t bytes, Stream stream) override;
  absl::Status Launch(const KernelCall& call, Stream stream) override;

 private:
  using Fence = std::shared_ptr<bool>;                // Whether it is passed.
  using StreamKey = std::pair<Stream, uint64_t>;      // Of a thread's default stream, the thread's number too.
  using Range = std::pair<const uint8_t*, uint64_t>;  // Device memory.

  struct Work {
    std::vector<Fence> after;
    std::function<void()> run;  // May be none.
    std::vector<Range> touches;
    Fence done = std::make_shared<bool>(false);
  };
  struct Queue {
    std::deque<Work> work;
    Fence last = std::make_shared<bool>(true);
    int stalled = 0;  // Turns that it sits out.
  };
  struct Allocation {
    std::unique_ptr<uint8_t[]> memory;
    uint8_t* aligned = nullptr;
    uint64_t bytes = 0;
  };

  absl::Status Count() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  StreamKey KeyOf(Stream stream) const;
  absl::Status Push(Stream stream, Work work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Await(const Fence& fence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Step() ABSL_LOCKS_EXCLUDED(mutex_);
  void Run();
  void Check(const Range& range) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<uint8_t*> Allocate(uint64_t bytes, uint64_t limit, std::map<const uint8_t*, Allocation>& all)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Free(uint8_t* memory, std::map<const uint8_t*, Allocation>& all) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool lost_ ABSL_GUARDED_BY(mutex_) = false;
  int paused_ ABSL_GUARDED_BY(mutex_) = 0;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t calls_ ABSL_GUARDED_BY(mutex_) = 0, fail_call_ ABSL_GUARDED_BY(mutex_) = -1,
                 fail_from_ ABSL_GUARDED_BY(mutex_) = -1, device_allocations_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t device_limit_ ABSL_GUARDED_BY(mutex_) = uint64_t{1} << 30, pinned_limit_
                                                                      ABSL_GUARDED_BY(mutex_) = uint64_t{1} << 30;
  uintptr_t next_handle_ ABSL_GUARDED_BY(mutex_) = 100;
  std::map<StreamKey, Queue> queues_ ABSL_GUARDED_BY(mutex_);
  std::set<Stream> streams_ ABSL_GUARDED_BY(mutex_), foreign_ ABSL_GUARDED_BY(mutex_);
  std::map<Event, Fence> events_ ABSL_GUARDED_BY(mutex_);
  std::map<const uint8_t*, Allocation> device_ ABSL_GUARDED_BY(mutex_), pinned_ ABSL_GUARDED_BY(mutex_);
  std::vector<Allocation> freed_ ABSL_GUARDED_BY(mutex_);  // Kept, so that late work meets poison.
  std::vector<std::string> violations_ ABSL_GUARDED_BY(mutex_);

  std::thread worker_;
};

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_SIMULATED_GPU_H_
