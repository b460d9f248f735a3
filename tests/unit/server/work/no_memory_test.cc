// Replaces the allocator of this program: on threads that are told to, a large allocation fails. Small ones are left
// alone: protobuf does not survive it when one of its own fails, and Linux lets none fail before it kills the process.

#include <atomic>
#include <cstdlib>
#include <new>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/work/worker_pool.h"

namespace stoker {
namespace {

thread_local bool may_fail = false;     // whether this thread's allocations count
std::atomic<int64_t> left = INT64_MAX;  // so many more succeed, then one fails

constexpr size_t kLarge = 4096;

bool Fails(size_t size) { return may_fail && size >= kLarge && left.fetch_sub(1) == 0; }

}  // namespace
}  // namespace stoker

// Not inlined, or GCC takes the pairs for mismatched.
[[gnu::noinline]] void* operator new(size_t size) {
  void* memory = stoker::Fails(size) ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace stoker {
namespace {

// Samples of one byte. The thread that reads one is a worker, whose allocations may fail from then on.
class Bytes : public Dataset {
 public:
  uint64_t size() const override { return 1 << 24; }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return "bytes"; }
  std::string SampleName(uint64_t id) const override { return std::to_string(id); }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override {
    may_fail = true;
    sample.fields.assign(1, {static_cast<uint8_t>(id)});
    return absl::OkStatus();
  }

 private:
  const SourceSchema schema_ = {{.name = "byte", .dtype = v1::DTYPE_UINT8}};
  const std::string fingerprint_ = std::string(32, 'f');
};

StreamPlan Plan(const Dataset& dataset) {
  v1::Identity identity;
  identity.set_samples(dataset.size());
  v1::Shuffle none;
  none.set_mode(v1::SHUFFLE_MODE_NONE);
  return *StreamPlan::Create("synthetic", *ServerPipeline::Create({}, dataset.schema()), identity, 1, none,
                             /*names=*/true);
}

// What a stream was delivered last. Delivering itself may fail, too.
class Mailbox {
 public:
  void Put(FinishedSpan span) {
    delivered.reset(new char[kLarge]);  // As the transport does.
    auto kept = std::make_unique<FinishedSpan>(std::move(span));
    absl::MutexLock lock(&mutex_);
    last_ = std::move(kept);
    ++count_;
  }

  // Waits for the next span.
  FinishedSpan Take() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](int* count) { return *count > 0; }, &count_));
    --count_;
    return std::move(*last_);
  }

 private:
  std::unique_ptr<char[]> delivered;

  absl::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<FinishedSpan> last_ ABSL_GUARDED_BY(mutex_);
};

// Lets each allocation on the way of a span fail in turn. Each time the span comes, whole or as an error, and the
// spans after it come whole.
TEST(NoMemoryTest, AnAllocationThatFailsIsItsSpansFailure) {
  for (const uint64_t cache_bytes : {0, 1 << 20}) {
    auto dataset = std::make_shared<Bytes>();
    Mailbox mailbox;
    WorkerPool pool({.workers = 1, .slab_bytes = uint64_t{256} << 20, .cache_bytes = cache_bytes});
    auto stream = *pool.AddStream(dataset, Plan(*dataset), [&](FinishedSpan span) { mailbox.Put(std::move(span)); });
    uint64_t start = 0;
    const auto make = [&] {
      EXPECT_TRUE(stream->Want({0, start, 4096}).ok());
      FinishedSpan span = mailbox.Take();
      EXPECT_EQ(span.header.start(), start);
      start += 4096;
      return span;
    };
    make();
    int failures = 0;
    for (int64_t nth = 0; nth < 1000; ++nth) {
      left = nth;
      const FinishedSpan span = make();
      const bool came_to_it = left.exchange(INT64_MAX) < 0;
      if (span.header.has_error()) {
        ++failures;
        EXPECT_EQ(span.header.error().kind(), v1::ERROR_KIND_MACHINE);
        EXPECT_THAT(span.header.error().message(), testing::HasSubstr("memory"));
      } else {
        EXPECT_EQ(span.payload().size(), 4096);
      }
      if (!came_to_it) break;
      EXPECT_FALSE(make().header.has_error());
    }
    EXPECT_GT(failures, 5);
  }
}

}  // namespace
}  // namespace stoker
