// The stage over a GPU that is simulated, with work that is really done later and in any order.

#include "client/device/cuda/cuda_device.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/support/simulated_gpu.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kSeed = 5, kEpoch = 2;

constexpr char kNormalize[] = R"pb(
  ops {
    placement: PLACEMENT_DEVICE
    random_horizontal_flip { p: 0.5 }
  }
  ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } }
  ops {
    normalize {
      mean: [ 0.485, 0.456, 0.406 ]
      std: [ 0.229, 0.224, 0.225 ]
    }
  }
  ops { to_memory_format { memory_format: MEMORY_FORMAT_CHANNELS_FIRST } })pb";
constexpr char kNothing[] = "";

std::vector<v1::Field> Fields(int64_t height, int64_t width) {
  v1::Field image, label;
  image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
  for (int64_t extent : {height, width, int64_t{3}}) image.add_shape(extent);
  label.set_name("label"), label.set_dtype(v1::DTYPE_INT64);
  return {image, label};
}

DevicePipeline Pipeline(const std::string& text, int64_t height, int64_t width) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  auto device = DevicePipeline::Create(pipeline, Fields(height, width));
  EXPECT_TRUE(device.ok()) << device.status();
  return *device;
}

using Contents = std::vector<std::vector<uint8_t>>;  // Of each tensor.

// A batch in a slab, field by field and back to back as the loader lays them out, and what must become of it.
struct Made {
  std::vector<uint64_t> positions;
  HostBatch batch;
  Contents expected;
};

Made Fill(std::shared_ptr<HostSlab> slab, const DevicePipeline& pipeline, int64_t rows, int64_t sample_bytes,
          uint64_t seed) {
  Made made;
  std::mt19937_64 random(seed);
  made.positions.resize(rows);
  std::iota(made.positions.begin(), made.positions.end(), random() % 1000);
  const auto bytes = slab->bytes().first(rows * (sample_bytes + 8));
  for (uint8_t& value : bytes) value = static_cast<uint8_t>(random());
  made.batch = {
      kSeed, kEpoch, made.positions, {bytes.first(rows * sample_bytes), bytes.subspan(rows * sample_bytes)}, slab};
  HostBatch copy = made.batch;
  copy.slab = nullptr;
  auto expected = HostDevice()->Submit(pipeline, copy);
  EXPECT_TRUE(expected.ok()) << expected.status();
  for (const Tensor& tensor : *expected) {
    const auto* data = static_cast<const uint8_t*>(tensor.data);
    made.expected.emplace_back(data, data + tensor.bytes);
  }
  return made;
}

// Slabs that go round, as a loader's do.
class Ring : public std::enable_shared_from_this<Ring> {
 public:
  Ring(std::shared_ptr<Device> device, int slabs, uint64_t bytes) : device_(std::move(device)) {
    for (int i = 0; i < slabs; ++i) {
      auto slab = device_->AllocateSlab(bytes, true);
      if (!slab.ok()) status_ = slab.status();
      if (slab.ok()) idle_.push_back(*std::move(slab));
    }
  }

  absl::Status status() const { return status_; }

  // Null if all are out and the device lets go of none.
  std::shared_ptr<HostSlab> Take() {
    while (true) {
      {
        absl::MutexLock lock(&mutex_);
        if (!idle_.empty()) {
          auto slab = std::move(idle_.back());
          idle_.pop_back();
          return {slab.release(), [ring = shared_from_this()](HostSlab* returned) {
                    absl::MutexLock relock(&ring->mutex_);
                    ring->idle_.emplace_back(returned);
                  }};
        }
      }
      if (!device_->Reclaim()) return nullptr;
    }
  }

 private:
  const std::shared_ptr<Device> device_;
  absl::Status status_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<HostSlab>> idle_;
};

class CudaDeviceTest : public testing::Test {
 protected:
  explicit CudaDeviceTest(const DeviceOptions& options = {}) {
    auto device = OpenCudaDevice(gpu_, options);
    EXPECT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }
  ~CudaDeviceTest() override {
    while (device_ != nullptr && device_->Reclaim()) {
    }
    device_.reset();
    EXPECT_EQ(gpu_->Leaks(), "");
    EXPECT_THAT(gpu_->violations(), IsEmpty());
  }

  Made MakeBatch(const DevicePipeline& pipeline, int64_t rows, int64_t sample_bytes, uint64_t seed) {
    auto slab = device_->AllocateSlab(rows * (sample_bytes + 8), true);
    EXPECT_TRUE(slab.ok()) << slab.status();
    return Fill(*std::move(slab), pipeline, rows, sample_bytes, seed);
  }

  std::vector<Tensor> Submit(const DevicePipeline& pipeline, const HostBatch& batch) {
    auto tensors = device_->Submit(pipeline, batch);
    EXPECT_TRUE(tensors.ok()) << tensors.status();
    return *std::move(tensors);
  }

  // Queues a look at the tensors on `stream`; what it saw is there after Drain().
  std::shared_ptr<Contents> Look(const std::vector<Tensor>& tensors, Stream stream) {
    auto seen = std::make_shared<Contents>(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_TRUE(tensors[i].memory->UseOn(stream).ok());
      const auto* data = static_cast<const uint8_t*>(tensors[i].data);
      const uint64_t bytes = tensors[i].bytes;
      gpu_->Enqueue(
          stream, [=] { (*seen)[i].assign(data, data + bytes); }, data, bytes);
    }
    return seen;
  }

  const std::shared_ptr<SimulatedGpu> gpu_ = std::make_shared<SimulatedGpu>(11);
  std::shared_ptr<Device> device_;
};

TEST_F(CudaDeviceTest, MakesWhatTheHostMakes) {
  std::mt19937 random(3);
  const Stream stream = *gpu_->CreateStream();
  for (int i = 0; i < 60; ++i) {
    const int64_t height = 1 + random() % 24, width = 1 + random() % 24, rows = random() % 5;
    const DevicePipeline pipeline = Pipeline(i % 3 == 0 ? kNothing : kNormalize, height, width);
    const Made made = MakeBatch(pipeline, rows, height * width * 3, i);
    const auto tensors = Submit(pipeline, made.batch);
    ASSERT_EQ(tensors.size(), 2);
    for (const Tensor& tensor : tensors) {
      EXPECT_EQ(tensor.device, (DeviceId{DeviceId::Kind::kCuda, 3}));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data) % 256, 0);
      EXPECT_EQ(tensor.shape[0], rows);
    }
    EXPECT_EQ(tensors[0].dtype, i % 3 == 0 ? v1::DTYPE_UINT8 : v1::DTYPE_FLOAT32);
    const auto seen = Look(tensors, stream);
    gpu_->Drain();
    EXPECT_EQ(*seen, made.expected);
  }
  EXPECT_TRUE(gpu_->DestroyStream(stream).ok());
}

TEST_F(CudaDeviceTest, SubmitQueuesOnly) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  gpu_->Pause();
  const Made first = MakeBatch(pipeline, 4, 192, 1), second = MakeBatch(pipeline, 4, 192, 2);
  const auto one = Submit(pipeline, first.batch), two = Submit(pipeline, second.batch);
  const auto seen_one = Look(one, 0), seen_two = Look(two, 0);
  gpu_->Resume();
  gpu_->Drain();
  EXPECT_TRUE(device_->asynchronous());
  EXPECT_EQ(*seen_one, first.expected);
  EXPECT_EQ(*seen_two, second.expected);
}

TEST_F(CudaDeviceTest, ASlabIsKeptUntilItIsCopied) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  Made made = MakeBatch(pipeline, 4, 192, 1);
  const std::weak_ptr<HostSlab> slab = made.batch.slab;
  gpu_->Pause();
  const auto tensors = Submit(pipeline, made.batch);
  made.batch.slab = nullptr;
  const Made other = MakeBatch(pipeline, 4, 192, 2);
  Submit(pipeline, other.batch);
  EXPECT_FALSE(slab.expired());
  gpu_->Resume();
  EXPECT_TRUE(device_->Reclaim());
  EXPECT_TRUE(slab.expired());
  EXPECT_TRUE(device_->Reclaim());
  EXPECT_FALSE(device_->Reclaim());
  EXPECT_TRUE(tensors[0].memory->Wait().ok());
  EXPECT_EQ(std::memcmp(tensors[0].data, made.expected[0].data(), tensors[0].bytes), 0);
}

TEST_F(CudaDeviceTest, SubmitLetsGoOfSlabsThatAreCopied) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  Made made = MakeBatch(pipeline, 4, 192, 1);
  const std::weak_ptr<HostSlab> slab = made.batch.slab;
  Submit(pipeline, made.batch);
  made.batch.slab = nullptr;
  gpu_->Drain();
  const Made other = MakeBatch(pipeline, 4, 192, 2);
  Submit(pipeline, other.batch);
  EXPECT_TRUE(slab.expired());
}

// The trap: a tensor is let go of while a consumer's stream has still to read it, and another batch comes.
TEST_F(CudaDeviceTest, ASlotServesAgainOnlyWhenItsConsumersAreDone) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  const Stream consumer = *gpu_->CreateStream();
  const Made first = MakeBatch(pipeline, 4, 192, 1);
  gpu_->Pause();
  auto tensors = Submit(pipeline, first.batch);
  const void* data = tensors[0].data;
  const auto seen = Look(tensors, consumer);
  tensors.clear();
  std::vector<std::shared_ptr<Contents>> others;
  std::vector<Made> made;
  for (int i = 0; i < 5; ++i) {
    made.push_back(MakeBatch(pipeline, 4, 192, 10 + i));
    tensors.clear();
    tensors = Submit(pipeline, made.back().batch);
    EXPECT_EQ(tensors[0].data, data) << "the only slot";
    others.push_back(Look(tensors, i % 2 == 0 ? consumer : 0));
  }
  gpu_->Resume();
  gpu_->Drain();
  EXPECT_EQ(*seen, first.expected);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*others[i], made[i].expected);
  tensors.clear();
  EXPECT_TRUE(gpu_->DestroyStream(consumer).ok());
}

// A thread's default stream, by its number, is another stream on the thread that lets the tensor go.
TEST_F(CudaDeviceTest, APerThreadDefaultStreamIsThatOfWhoUsedIt) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  for (int i = 0; i < 20; ++i) {
    const Made first = MakeBatch(pipeline, 4, 192, 2 * i), second = MakeBatch(pipeline, 4, 192, 2 * i + 1);
    gpu_->Pause();
    auto tensors = Submit(pipeline, first.batch);
    std::shared_ptr<Contents> seen;
    std::thread([&] { seen = Look(tensors, 2); }).join();
    tensors.clear();
    const auto others = Submit(pipeline, second.batch);
    const auto seen_others = Look(others, 0);
    gpu_->Resume();
    gpu_->Drain();
    EXPECT_EQ(*seen, first.expected);
    EXPECT_EQ(*seen_others, second.expected);
  }
}

// Threads may have the id of one that ended, as all but the first here.
TEST_F(CudaDeviceTest, EveryThreadThatUsesItsDefaultStreamIsWaitedFor) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  for (int i = 0; i < 20; ++i) {
    const Made first = MakeBatch(pipeline, 4, 192, 2 * i), second = MakeBatch(pipeline, 4, 192, 2 * i + 1);
    gpu_->Pause();
    auto tensors = Submit(pipeline, first.batch);
    std::vector<std::shared_ptr<Contents>> seen(3);
    for (auto& each : seen)
      std::thread([&] {
        each = Look(tensors, 2);
        if (&each == &seen.back()) tensors.clear();
      }).join();
    const auto others = Submit(pipeline, second.batch);
    const auto seen_others = Look(others, 0);
    gpu_->Resume();
    gpu_->Drain();
    for (const auto& each : seen) EXPECT_EQ(*each, first.expected);
    EXPECT_EQ(*seen_others, second.expected);
  }
}

TEST_F(CudaDeviceTest, AStreamThatCannotBeUsedIsRefusedAndNothingElse) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  const Made made = MakeBatch(pipeline, 4, 192, 1);
  const Stream foreign = gpu_->CreateForeignStream(), gone = *gpu_->CreateStream();
  ASSERT_TRUE(gpu_->DestroyStream(gone).ok());
  auto tensors = Submit(pipeline, made.batch);
  for (Stream stream : {foreign, gone})
    EXPECT_THAT(std::string(tensors[0].memory->UseOn(stream).message()), HasSubstr("cudaErrorInvalidResourceHandle"));
  const auto seen = Look(tensors, 0);
  gpu_->Drain();
  EXPECT_EQ(*seen, made.expected);
  const void* data = tensors[0].data;
  tensors.clear();
  tensors = Submit(pipeline, made.batch);
  EXPECT_EQ(tensors[0].data, data) << "its memory serves again";
  EXPECT_THAT(device_->Warnings(), IsEmpty());
  EXPECT_TRUE(gpu_->DestroyStream(foreign).ok());
}

TEST_F(CudaDeviceTest, AStreamDestroyedBeforeTheTensorsGoCostsTheirMemoryOnly) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  const Made made = MakeBatch(pipeline, 4, 192, 1);
  const Stream consumer = *gpu_->CreateStream();
  auto tensors = Submit(pipeline, made.batch);
  const void* data = tensors[0].data;
  gpu_->Pause();
  const auto seen = Look(tensors, consumer);
  ASSERT_TRUE(gpu_->DestroyStream(consumer).ok());
  tensors.clear();
  tensors = Submit(pipeline, made.batch);
  EXPECT_NE(tensors[0].data, data) << "it may still be read";
  const auto seen_others = Look(tensors, 0);
  gpu_->Resume();
  gpu_->Drain();
  EXPECT_EQ(*seen, made.expected);
  EXPECT_EQ(*seen_others, made.expected);
  EXPECT_THAT(device_->Warnings(), testing::ElementsAre(HasSubstr("cudaErrorInvalidResourceHandle")));
}

TEST_F(CudaDeviceTest, TensorsOutliveTheDevice) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  const Made made = MakeBatch(pipeline, 4, 192, 1);
  auto tensors = Submit(pipeline, made.batch);
  device_.reset();
  const auto seen = Look({tensors[1]}, 0);
  tensors.erase(tensors.begin());
  gpu_->Drain();
  EXPECT_EQ((*seen)[0], made.expected[1]);
}

TEST_F(CudaDeviceTest, SlotsGrowOnlyWhenAllAreInUse) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 4, 4);
  const Made made = MakeBatch(pipeline, 2, 48, 1);
  std::deque<std::vector<Tensor>> held;
  int64_t allocations = 0;
  for (int i = 0; i < 10000; ++i) {
    held.push_back(Submit(pipeline, made.batch));
    if (held.size() > 3) held.pop_front();
    if (i == 100) allocations = gpu_->device_allocations();
  }
  EXPECT_EQ(gpu_->device_allocations(), allocations);
  held.push_back(Submit(pipeline, made.batch));
  EXPECT_EQ(gpu_->device_allocations(), allocations);
  held.push_back(Submit(pipeline, made.batch));
  EXPECT_EQ(gpu_->device_allocations(), allocations + 1);
  const auto seen = Look(held.back(), 0);
  gpu_->Drain();
  EXPECT_EQ(*seen, made.expected);
}

TEST_F(CudaDeviceTest, WithoutDeviceMemoryTheErrorSaysSoAndPasses) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  const Made made = MakeBatch(pipeline, 4, 192, 1);
  Submit(pipeline, made.batch);
  auto tensors = Submit(pipeline, made.batch);
  gpu_->LimitDevice(1);
  const auto more = device_->Submit(pipeline, made.batch);
  EXPECT_TRUE(absl::IsResourceExhausted(more.status())) << more.status();
  EXPECT_THAT(std::string(more.status().message()), HasSubstr("cudaErrorMemoryAllocation"));
  tensors.clear();
  EXPECT_TRUE(device_->Submit(pipeline, made.batch).ok());
}

TEST_F(CudaDeviceTest, IdleSlotsGiveWayToALargeBatch) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  const Made small = MakeBatch(pipeline, 4, 192, 1), large = MakeBatch(pipeline, 16, 192, 2);
  std::vector<std::vector<Tensor>> held;
  for (int i = 0; i < 8; ++i) held.push_back(Submit(pipeline, small.batch));
  gpu_->LimitDevice((uint64_t{1} << 30) - *gpu_->FreeDeviceBytes());
  EXPECT_TRUE(absl::IsResourceExhausted(device_->Submit(pipeline, large.batch).status()));
  held.resize(1);
  const auto tensors = Submit(pipeline, large.batch);
  const auto seen_large = Look(tensors, 0), seen_small = Look(held[0], 0);
  gpu_->Drain();
  EXPECT_EQ(*seen_large, large.expected);
  EXPECT_EQ(*seen_small, small.expected);
}

// Consumers keep, drop and share tensors across streams and threads in random order, while slabs are overwritten as
// soon as they come back. Whatever is looked at is right when it is looked at.
TEST_F(CudaDeviceTest, LifetimesHoldUnderStress) {
  constexpr int kBatches = 400, kConsumers = 3, kSlabs = 3, kMostRows = 6;
  constexpr int64_t kHeight = 8, kWidth = 12, kBytes = kHeight * kWidth * 3;
  const DevicePipeline pipelines[] = {Pipeline(kNormalize, kHeight, kWidth), Pipeline(kNothing, kHeight, kWidth)};
  auto ring = std::make_shared<Ring>(device_, kSlabs, kMostRows * (kBytes + 8));
  std::vector<Stream> streams = {0, 1, 2};
  for (int i = 0; i < 3; ++i) streams.push_back(*gpu_->CreateStream());

  struct Shared {
    Tensor tensor;
    std::shared_ptr<const std::vector<uint8_t>> expected;
  };
  absl::Mutex mutex;
  std::vector<Shared> pool;
  bool ended = false;
  std::atomic<int> looked = 0, wrong = 0;

  std::vector<std::thread> consumers;
  for (int c = 0; c < kConsumers; ++c)
    consumers.emplace_back([&, c] {
      std::mt19937 random(c);
      std::vector<Shared> kept;
      while (true) {
        Shared taken;
        {
          absl::MutexLock lock(&mutex);
          if (pool.empty() && ended) break;
          if (!pool.empty()) {
            const size_t at = random() % pool.size();
            taken = pool[at];
            if (random() % 3 > 0) pool.erase(pool.begin() + at);  // Else another takes it too.
          }
        }
        if (taken.tensor.memory == nullptr) {
          std::this_thread::yield();
          continue;
        }
        kept.push_back(std::move(taken));
        const Shared& used = kept[random() % kept.size()];
        const Stream stream = streams[random() % streams.size()];
        if (!used.tensor.memory->UseOn(stream).ok()) ++wrong;
        const auto* data = static_cast<const uint8_t*>(used.tensor.data);
        gpu_->Enqueue(
            stream,
            [data, expected = used.expected, &looked, &wrong] {
              ++looked;
              if (std::memcmp(data, expected->data(), expected->size()) != 0) ++wrong;
            },
            data, used.tensor.bytes);
        while (kept.size() > random() % 4) kept.erase(kept.begin() + random() % kept.size());
      }
    });

  std::mt19937 random(99);
  for (int i = 0; i < kBatches; ++i) {
    auto slab = ring->Take();
    ASSERT_NE(slab, nullptr);
    const DevicePipeline& pipeline = pipelines[random() % 4 == 0];
    const Made made = Fill(slab, pipeline, 1 + random() % kMostRows, kBytes, random());
    const auto tensors = Submit(pipeline, made.batch);
    absl::MutexLock lock(&mutex);
    for (size_t t = 0; t < tensors.size(); ++t)
      pool.push_back({tensors[t], std::make_shared<std::vector<uint8_t>>(made.expected[t])});
    while (pool.size() > 24) pool.erase(pool.begin() + random() % pool.size());  // Dropped without any use.
  }
  {
    absl::MutexLock lock(&mutex);
    ended = true;
  }
  for (std::thread& consumer : consumers) consumer.join();
  while (device_->Reclaim()) {
  }
  gpu_->Drain();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(looked, kBatches / 4);
  for (size_t i = 3; i < streams.size(); ++i) EXPECT_TRUE(gpu_->DestroyStream(streams[i]).ok());
}

// ---- errors ----

// A loader's life with one GPU: gives every error that anyone was told.
std::vector<std::string> Live(const std::shared_ptr<SimulatedGpu>& gpu, const DevicePipeline& pipeline,
                              int64_t* calls_before_the_end) {
  std::vector<std::string> told;
  const auto note = [&](const absl::Status& status) {
    if (!status.ok()) told.emplace_back(status.message());
  };
  auto opened = OpenCudaDevice(gpu, {});
  note(opened.status());
  if (!opened.ok()) return told;
  const std::shared_ptr<Device> device = *opened;
  {
    auto ring = std::make_shared<Ring>(device, 2, 4 * 200);
    note(ring->status());
    std::deque<std::vector<Tensor>> held;
    for (int i = 0; i < 5; ++i) {
      const auto slab = ring->Take();
      if (slab == nullptr) break;
      const Made made = Fill(slab, pipeline, 1 + i % 4, 192, i);
      auto tensors = device->Submit(pipeline, made.batch);
      note(tensors.status());
      if (!tensors.ok()) continue;
      for (const Tensor& tensor : *tensors) note(tensor.memory->UseOn(i % 2));
      const absl::Status waited = (*tensors)[0].memory->Wait();
      note(waited);
      if (waited.ok()) {
        EXPECT_EQ(std::memcmp((*tensors)[0].data, made.expected[0].data(), (*tensors)[0].bytes), 0);
      }
      held.push_back(*std::move(tensors));
      if (held.size() > 2) held.pop_front();
    }
    held.clear();
  }
  {
    auto slab = HostDevice()->AllocateSlab(4 * 200, true);
    note(device->Submit(pipeline, Fill(*std::move(slab), pipeline, 1, 192, 9).batch).status());
  }
  if (calls_before_the_end != nullptr) *calls_before_the_end = gpu->calls();
  while (device->Reclaim()) {
  }
  for (const std::string& warning : device->Warnings()) told.push_back(warning);
  return told;
}

void ExpectEveryErrorTold(bool from_then_on) {
  const DevicePipeline pipeline = Pipeline(kNormalize, 8, 8);
  int64_t calls = 0;
  EXPECT_THAT(Live(std::make_shared<SimulatedGpu>(1), pipeline, &calls), IsEmpty());
  for (int64_t call = 0; call < calls; ++call) {
    SCOPED_TRACE(absl::StrCat("call ", call));
    const auto gpu = std::make_shared<SimulatedGpu>(call);
    from_then_on ? gpu->FailFrom(call) : gpu->FailCall(call);
    int64_t told_by = 0;
    const auto told = Live(gpu, pipeline, &told_by);
    if (call < told_by || told_by == 0) {
      EXPECT_FALSE(told.empty());
    }
    for (const std::string& error : told) EXPECT_THAT(error, HasSubstr("cudaErrorUnknown"));
    EXPECT_EQ(gpu->Leaks(), "");
    EXPECT_THAT(gpu->violations(), IsEmpty());
  }
  EXPECT_GT(calls, 50);
}

TEST(CudaDeviceErrorTest, ACallThatFailsIsToldByNameAndLeaksNothing) { ExpectEveryErrorTold(false); }

TEST(CudaDeviceErrorTest, AGpuThatIsLostIsToldByNameAndLeaksNothing) { ExpectEveryErrorTold(true); }

}  // namespace
}  // namespace stoker
