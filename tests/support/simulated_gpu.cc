#include "tests/support/simulated_gpu.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "client/device/cuda/step_kernels.h"
#include "client/device/cuda/transform_kernel.h"
#include "common/fields/half_precision.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr uint8_t kUnused = 0xCD, kFreed = 0xDD;
constexpr Stream kLegacy = 0, kPerThread = 2;

struct CpuArithmetic {
  static float Affine(uint32_t x, float scale, float bias) { return static_cast<float>(x) * scale + bias; }
  static float Mix(float a, float share, float b, float other_share) { return a * share + b * other_share; }
  template <typename Out>
  static Out Round(float x);
  template <typename Out>
  static Out Map(uint32_t x, float scale, float bias) {
    return Round<Out>(Affine(x, scale, bias));
  }
  static void Add(uint64_t* sum, uint64_t more) { *sum += more; }
  static void Count(uint32_t* counter) { ++*counter; }
};
template <>
uint8_t CpuArithmetic::Round(float x) {
  return static_cast<uint8_t>(x);
}
template <>
float CpuArithmetic::Round(float x) {
  return x;
}
template <>
Half CpuArithmetic::Round(float x) {
  return {ToFloat16(x)};
}
template <>
Bfloat16 CpuArithmetic::Round(float x) {
  return {ToBfloat16(x)};
}
template <>
uint8_t CpuArithmetic::Map(uint32_t x, float, float) {
  return static_cast<uint8_t>(x);
}

struct CpuLaunch {
  uint64_t seed;
  template <typename Kernel, typename Arguments>
  int operator()(const Arguments& arguments) const {
    const Grid grid = Kernel::GridOf(arguments);
    std::mt19937_64 random(seed);
    std::vector<uint32_t> threads(grid.threads);
    std::iota(threads.begin(), threads.end(), 0);
    std::shuffle(threads.begin(), threads.end(), random);
    for (uint32_t y = 0; y < grid.blocks_y; ++y)
      for (uint32_t x = 0; x < grid.blocks_x; ++x) {
        typename Kernel::Shared shared;
        std::memset(static_cast<void*>(&shared), kUnused, sizeof shared);
        for (int phase = 0; phase < Kernel::kPhases; ++phase)
          for (uint32_t thread : threads) Kernel::Run(phase, arguments, Place{x, y, thread}, shared);
      }
    return 0;
  }
};

}  // namespace

void RunOnCpu(const KernelCall& call, uint64_t seed) {
  std::visit([&](const auto& arguments) { Dispatch<CpuArithmetic>(arguments, CpuLaunch{seed}); }, call);
}

SimulatedGpu::SimulatedGpu(uint64_t seed) : random_(seed), worker_([this] { Run(); }) {}

SimulatedGpu::~SimulatedGpu() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    changed_.SignalAll();
  }
  worker_.join();
}

// ---- the machine ----

void SimulatedGpu::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (ending_) return;
    }
    if (!Step()) {
      absl::MutexLock lock(&mutex_);
      if (!ending_) changed_.WaitWithTimeout(&mutex_, absl::Milliseconds(1));
    }
  }
}

// Does the first work of some stream that waits for nothing. False if there is none.
bool SimulatedGpu::Step() {
  Work work;
  {
    absl::MutexLock lock(&mutex_);
    if (paused_ > 0) return false;
    std::vector<Queue*> ready;
    for (auto& [key, queue] : queues_) {
      if (queue.work.empty()) continue;
      const auto& after = queue.work.front().after;
      if (std::all_of(after.begin(), after.end(), [](const Fence& fence) { return *fence; })) ready.push_back(&queue);
    }
    if (ready.empty()) return false;
    Queue* queue = ready[random_() % ready.size()];
    if (queue->stalled > 0 && ready.size() > 1) {
      --queue->stalled;
      return true;
    }
    if (random_() % 8 == 0) queue->stalled = static_cast<int>(random_() % 16);
    work = std::move(queue->work.front());
    queue->work.pop_front();
    for (const Range& range : work.touches) Check(range);
    running_ = true;
  }
  if (work.run) work.run();
  absl::MutexLock lock(&mutex_);
  running_ = false;
  for (const Range& range : work.touches) Check(range);
  *work.done = true;
  changed_.SignalAll();
  return true;
}

void SimulatedGpu::Check(const Range& range) {
  const auto [from, bytes] = range;
  auto next = device_.upper_bound(from);
  const bool inside = next != device_.begin() && (--next, from + bytes <= next->second.aligned + next->second.bytes);
  if (!inside) violations_.push_back(absl::StrCat("work on ", bytes, " bytes of device memory that nobody has"));
}

SimulatedGpu::StreamKey SimulatedGpu::KeyOf(Stream stream) const {
  static std::atomic<uint64_t> threads = 0;
  thread_local const uint64_t thread = ++threads;
  if (stream == kPerThread) return {stream, thread};
  return {stream <= 1 ? kLegacy : stream, 0};
}

// The legacy stream waits for the threads' default streams, and they for it.
absl::Status SimulatedGpu::Push(Stream stream, Work work) {
  const StreamKey key = KeyOf(stream);
  if (stream > kPerThread && !streams_.contains(stream))
    return absl::InternalError("cudaErrorInvalidResourceHandle: no such stream");
  if (key.first == kLegacy)
    for (const auto& [other, queue] : queues_)
      if (other.first == kPerThread) work.after.push_back(queue.last);
  if (key.first == kPerThread) work.after.push_back(queues_[{kLegacy, 0}].last);
  Queue& queue = queues_[key];
  queue.last = work.done;
  if (lost_) {
    *work.done = true;
  } else {
    queue.work.push_back(std::move(work));
  }
  changed_.SignalAll();
  return absl::OkStatus();
}

void SimulatedGpu::Await(const Fence& fence) {
  while (!*fence) changed_.Wait(&mutex_);
}

absl::Status SimulatedGpu::Count() {
  const int64_t call = calls_++;
  const bool lose = fail_from_ >= 0 && call >= fail_from_;
  if (lose && !lost_) {
    lost_ = true;
    while (running_) changed_.Wait(&mutex_);
    for (auto& [key, queue] : queues_) {
      for (Work& work : queue.work) *work.done = true;
      queue.work.clear();
    }
    changed_.SignalAll();
  }
  if (lose || call == fail_call_) return absl::InternalError("cudaErrorUnknown: unknown error");
  return absl::OkStatus();
}

// ---- what tests do with it ----

void SimulatedGpu::Enqueue(Stream stream, std::function<void()> work, const void* touches, uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  if (!Push(stream, {.run = std::move(work), .touches = {{static_cast<const uint8_t*>(touches), bytes}}}).ok())
    violations_.push_back("work on a stream that is none");
}

Stream SimulatedGpu::CreateForeignStream() {
  absl::MutexLock lock(&mutex_);
  streams_.insert(next_handle_);
  foreign_.insert(next_handle_);
  return next_handle_++;
}

void SimulatedGpu::Pause() {
  absl::MutexLock lock(&mutex_);
  ++paused_;
  while (running_) changed_.Wait(&mutex_);
}

void SimulatedGpu::Resume() {
  absl::MutexLock lock(&mutex_);
  --paused_;
  changed_.SignalAll();
}

void SimulatedGpu::Drain() {
  absl::MutexLock lock(&mutex_);
  std::vector<Fence> all;
  for (const auto& [key, queue] : queues_) all.push_back(queue.last);
  for (const Fence& fence : all) Await(fence);
}

void SimulatedGpu::LimitDevice(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  device_limit_ = bytes;
}

void SimulatedGpu::LimitPinned(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  pinned_limit_ = bytes;
}

void SimulatedGpu::FailCall(int64_t call) {
  absl::MutexLock lock(&mutex_);
  calls_ = 0, fail_call_ = call, fail_from_ = -1;
}

void SimulatedGpu::FailFrom(int64_t call) {
  absl::MutexLock lock(&mutex_);
  calls_ = 0, fail_call_ = -1, fail_from_ = call;
}

void SimulatedGpu::FailNone() { FailCall(-1); }

int64_t SimulatedGpu::calls() const {
  absl::MutexLock lock(&mutex_);
  return calls_;
}

std::vector<std::string> SimulatedGpu::violations() const {
  absl::MutexLock lock(&mutex_);
  return violations_;
}

std::string SimulatedGpu::Leaks() const {
  absl::MutexLock lock(&mutex_);
  if (device_.empty() && pinned_.empty() && streams_.empty() && events_.empty()) return "";
  return absl::StrCat(device_.size(), " pieces of device memory, ", pinned_.size(), " of pinned memory, ",
                      streams_.size(), " streams, ", events_.size(), " events");
}

int64_t SimulatedGpu::device_allocations() const {
  absl::MutexLock lock(&mutex_);
  return device_allocations_;
}

// ---- the interface ----

absl::StatusOr<uint8_t*> SimulatedGpu::Allocate(uint64_t bytes, uint64_t limit,
                                                std::map<const uint8_t*, Allocation>& all) {
  STOKER_RETURN_IF_ERROR(Count());
  uint64_t used = 0;
  for (const auto& [at, each] : all) used += each.bytes;
  if (used + bytes > limit) return absl::ResourceExhaustedError("cudaErrorMemoryAllocation: out of memory");
  Allocation allocation{std::make_unique<uint8_t[]>(bytes + 256), nullptr, bytes};
  const auto address = reinterpret_cast<uintptr_t>(allocation.memory.get());
  allocation.aligned = allocation.memory.get() + (256 - address % 256) % 256;
  std::memset(allocation.aligned, kUnused, bytes);
  uint8_t* memory = allocation.aligned;
  all[memory] = std::move(allocation);
  return memory;
}

absl::Status SimulatedGpu::Free(uint8_t* memory, std::map<const uint8_t*, Allocation>& all) {
  const absl::Status status = Count();
  const auto found = all.find(memory);
  if (found == all.end()) {
    violations_.push_back("memory freed that nobody has");
    return status;
  }
  while (running_) changed_.Wait(&mutex_);  // So that poison races with no work; order is what Check looks at.
  std::memset(memory, kFreed, found->second.bytes);
  freed_.push_back(std::move(found->second));
  all.erase(found);
  return status;
}

absl::StatusOr<uint8_t*> SimulatedGpu::AllocateDevice(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  ++device_allocations_;
  return Allocate(bytes, device_limit_, device_);
}

absl::Status SimulatedGpu::FreeDevice(uint8_t* memory) {
  absl::MutexLock lock(&mutex_);
  return Free(memory, device_);
}

absl::StatusOr<uint64_t> SimulatedGpu::FreeDeviceBytes() {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  uint64_t used = 0;
  for (const auto& [at, each] : device_) used += each.bytes;
  return device_limit_ - used;
}

absl::StatusOr<uint8_t*> SimulatedGpu::AllocatePinned(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  return Allocate(bytes, pinned_limit_, pinned_);
}

absl::Status SimulatedGpu::FreePinned(uint8_t* memory) {
  absl::MutexLock lock(&mutex_);
  return Free(memory, pinned_);
}

absl::StatusOr<Stream> SimulatedGpu::CreateStream() {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  streams_.insert(next_handle_);
  return next_handle_++;
}

absl::Status SimulatedGpu::DestroyStream(Stream stream) {
  absl::MutexLock lock(&mutex_);
  const absl::Status status = Count();
  if (streams_.erase(stream) == 0) violations_.push_back("a stream destroyed that is none");
  return status;
}

absl::Status SimulatedGpu::Synchronize(Stream stream) {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  Await(queues_[KeyOf(stream)].last);
  return absl::OkStatus();
}

absl::Status SimulatedGpu::WaitFor(Stream stream, Event event) {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  return Push(stream, {.after = {events_.at(event)}});
}

absl::StatusOr<CudaRuntime::Event> SimulatedGpu::CreateEvent() {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  const auto event = reinterpret_cast<Event>(next_handle_++);
  events_[event] = std::make_shared<bool>(true);
  return event;
}

absl::Status SimulatedGpu::DestroyEvent(Event event) {
  absl::MutexLock lock(&mutex_);
  const absl::Status status = Count();
  if (events_.erase(event) == 0) violations_.push_back("an event destroyed that is none");
  return status;
}

absl::Status SimulatedGpu::Record(Event event, Stream stream) {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  if (foreign_.contains(stream)) return absl::InternalError("cudaErrorInvalidResourceHandle: another GPU's stream");
  Work work;
  const Fence done = work.done;
  STOKER_RETURN_IF_ERROR(Push(stream, std::move(work)));
  events_.at(event) = done;
  return absl::OkStatus();
}

absl::StatusOr<bool> SimulatedGpu::IsDone(Event event) {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  return *events_.at(event);
}

absl::Status SimulatedGpu::Synchronize(Event event) {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  Await(events_.at(event));
  return absl::OkStatus();
}

absl::Status SimulatedGpu::CopyToDevice(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  return Push(stream, {.run = [=] { std::memcpy(to, from, bytes); }, .touches = {{to, bytes}}});
}

absl::Status SimulatedGpu::CopyOnDevice(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  return Push(stream, {.run = [=] { std::memcpy(to, from, bytes); }, .touches = {{to, bytes}, {from, bytes}}});
}

absl::Status SimulatedGpu::CopyToHost(uint8_t* to, const uint8_t* from, uint64_t bytes, Stream stream) {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  return Push(stream, {.run = [=] { std::memcpy(to, from, bytes); }, .touches = {{from, bytes}}});
}

absl::Status SimulatedGpu::Fill(uint8_t* memory, uint8_t value, uint64_t bytes, Stream stream) {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  return Push(stream, {.run = [=] { std::memset(memory, value, bytes); }, .touches = {{memory, bytes}}});
}

absl::Status SimulatedGpu::Launch(const KernelCall& call, Stream stream) {
  absl::MutexLock lock(&mutex_);
  STOKER_RETURN_IF_ERROR(Count());
  const uint64_t seed = random_();
  return Push(stream, {.run = [=] { RunOnCpu(call, seed); }});
}

}  // namespace stoker
