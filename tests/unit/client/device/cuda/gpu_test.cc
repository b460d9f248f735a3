// The kernels and the stage on the machine's first GPU. Skipped where there is none.

#include <dlfcn.h>

#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "client/device/cuda/cuda_device.h"
#include "client/device/cuda/runtime.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/support/simulated_gpu.h"
#include "tests/unit/client/device/cuda/ops_against_host.h"

namespace stoker {
namespace {

// A batch of images and labels in a slab of the device.
struct Labeled {
  std::vector<uint64_t> positions;
  HostBatch batch;
};

Labeled MakeBatch(Device& device, int64_t rows, int64_t sample_bytes, uint64_t seed) {
  Labeled made;
  std::mt19937_64 random(seed);
  auto slab = device.AllocateSlab(rows * (sample_bytes + 8), true);
  EXPECT_TRUE(slab.ok()) << slab.status();
  const std::shared_ptr<HostSlab> kept = *std::move(slab);
  const auto bytes = kept->bytes();
  for (uint8_t& value : bytes) value = static_cast<uint8_t>(random());
  made.positions.resize(rows);
  std::iota(made.positions.begin(), made.positions.end(), seed * 100);
  made.batch = {1, 2, made.positions, {bytes.first(rows * sample_bytes), bytes.subspan(rows * sample_bytes)}, kept};
  return made;
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    auto runtime = OpenCudaRuntime(0);
    if (!runtime.ok()) GTEST_SKIP() << runtime.status().message();
    gpu_ = *std::move(runtime);
    auto device = OpenCudaDevice(gpu_, {});
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }

  void TearDown() override {
    while (device_ != nullptr && device_->Reclaim()) {
    }
  }

  std::vector<uint8_t> ToHost(const void* data, uint64_t bytes) {
    std::vector<uint8_t> seen(bytes);
    EXPECT_TRUE(gpu_->CopyToHost(seen.data(), static_cast<const uint8_t*>(data), bytes, 0).ok());
    EXPECT_TRUE(gpu_->Synchronize(Stream{0}).ok());
    return seen;
  }

  uint8_t* ToDevice(const std::vector<uint8_t>& bytes) {
    auto memory = gpu_->AllocateDevice(bytes.size());
    EXPECT_TRUE(memory.ok()) << memory.status();
    EXPECT_TRUE(gpu_->CopyToDevice(*memory, bytes.data(), bytes.size(), 0).ok());
    EXPECT_TRUE(gpu_->Synchronize(Stream{0}).ok());
    return *memory;
  }

  DevicePipeline Normalize(int64_t height, int64_t width) {
    v1::Pipeline spec;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        "ops { placement: PLACEMENT_DEVICE random_horizontal_flip { p: 0.5 } } "
        "ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } } "
        "ops { normalize { mean: [ 0.485, 0.456, 0.406 ] std: [ 0.229, 0.224, 0.225 ] } } ops { to_memory_format {} }",
        &spec));
    v1::Field image, label;
    image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
    for (int64_t extent : {height, width, int64_t{3}}) image.add_shape(extent);
    label.set_name("label"), label.set_dtype(v1::DTYPE_INT64);
    auto pipeline = DevicePipeline::Create(spec, {image, label});
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return *pipeline;
  }

  std::shared_ptr<CudaRuntime> gpu_;
  std::shared_ptr<Device> device_;
};

TEST_F(GpuTest, EveryOpMakesTheHostsBytes) {
  std::mt19937_64 random(1);
  for (const OpPipelines& pipelines : AllOpPipelines())
    for (const std::string& text : pipelines.texts)
      for (int i = 0; i < 6; ++i) ExpectTheHosts(*gpu_, *device_, text, i % 2 == 0 ? 40 : 260, random());
}

TEST_F(GpuTest, AThreadWithoutAContextHasNoneAfterwards) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  ASSERT_NE(driver, nullptr);
  const auto get = reinterpret_cast<int (*)(void**)>(dlsym(driver, "cuCtxGetCurrent"));
  ASSERT_NE(get, nullptr);
  std::thread([&] {
    void* context = driver;
    ASSERT_EQ(get(&context), 0);
    ASSERT_EQ(context, nullptr);
    const auto memory = gpu_->AllocateDevice(1);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_TRUE(gpu_->FreeDevice(*memory).ok());
    EXPECT_EQ(get(&context), 0);
    EXPECT_EQ(context, nullptr);
  }).join();
}

// Against the same kernels run on the CPU, into poisoned memory with a guard behind it.
TEST_F(GpuTest, TheTransformIsRightForRandomShapesAndWritesNothingElse) {
  constexpr Element kElements[] = {Element::kUint8, Element::kFloat16, Element::kBfloat16, Element::kFloat32};
  constexpr uint64_t kBytes[] = {1, 2, 2, 4};
  std::mt19937 random(2);
  for (int i = 0; i < 400; ++i) {
    TransformArguments a;
    const bool tile = i % 2 == 0;
    a.element = kElements[random() % 4];
    a.channels_first = random() % 2;
    a.samples = 1 + random() % 6;
    a.height = tile ? 4 * (1 + random() % 60) : 1 + random() % 200;
    a.width = tile ? 4 * (1 + random() % 60) : 1 + random() % 200;
    a.channels = tile ? 3 : 1 + random() % 6;
    for (int c = 0; c < a.channels; ++c) a.scale[c] = 1.0f / (20 + random() % 90), a.bias[c] = -2.0f + random() % 4;
    std::vector<uint8_t> in(a.samples * a.height * a.width * a.channels + 16), flips(a.samples);
    for (uint8_t& value : in) value = static_cast<uint8_t>(random());
    for (uint8_t& value : flips) value = random() % 4;
    std::vector<uint8_t> expected((in.size() - 16) * kBytes[static_cast<int>(a.element)] + 256, 0xA5);
    uint8_t *device_in = ToDevice(in), *device_out = ToDevice(expected), *device_flips = ToDevice(flips);

    TransformArguments on_gpu = a;
    on_gpu.in = device_in, on_gpu.out = device_out, on_gpu.flips = device_flips;
    ASSERT_TRUE(gpu_->Launch(on_gpu, 0).ok());
    a.in = in.data(), a.out = expected.data(), a.flips = flips.data();
    RunOnCpu(a, i);
    EXPECT_EQ(ToHost(device_out, expected.size()), expected)
        << a.samples << "×" << a.height << "×" << a.width << "×" << a.channels;
    for (uint8_t* memory : {device_in, device_out, device_flips}) ASSERT_TRUE(gpu_->FreeDevice(memory).ok());
  }
}

TEST_F(GpuTest, TensorsAreRightOnSeveralStreamsThoughTheyAreLetGoOfAtOnce) {
  constexpr int kBatches = 200, kStreams = 4;
  const DevicePipeline pipeline = Normalize(64, 48);
  std::vector<Stream> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(*gpu_->CreateStream());
  std::vector<std::vector<uint8_t>> expected, seen(kBatches);
  for (int i = 0; i < kBatches; ++i) {
    const Labeled made = MakeBatch(*device_, 8, 64 * 48 * 3, i);
    HostBatch copy = made.batch;
    copy.slab = nullptr;
    const auto host = HostDevice()->Submit(pipeline, copy);
    ASSERT_TRUE(host.ok());
    const auto* data = static_cast<const uint8_t*>((*host)[0].data);
    expected.emplace_back(data, data + (*host)[0].bytes);
    auto tensors = device_->Submit(pipeline, made.batch);
    ASSERT_TRUE(tensors.ok()) << tensors.status();
    seen[i].resize(expected[i].size());
    const Stream stream = streams[i % kStreams];
    ASSERT_TRUE((*tensors)[0].memory->UseOn(stream).ok());
    ASSERT_TRUE(
        gpu_->CopyToHost(seen[i].data(), static_cast<const uint8_t*>((*tensors)[0].data), seen[i].size(), stream).ok());
    std::thread([moved = *std::move(tensors)] {}).join();
  }
  for (Stream stream : streams) ASSERT_TRUE(gpu_->Synchronize(stream).ok());
  for (int i = 0; i < kBatches; ++i) EXPECT_EQ(seen[i], expected[i]) << "batch " << i;
  for (Stream stream : streams) EXPECT_TRUE(gpu_->DestroyStream(stream).ok());
}

TEST_F(GpuTest, TenThousandBatchesLeakNothing) {
  const DevicePipeline pipeline = Normalize(32, 32);
  const Labeled made = MakeBatch(*device_, 16, 32 * 32 * 3, 1);
  uint64_t free = 0;
  std::vector<std::vector<Tensor>> held(3);
  for (int i = 0; i < 10000; ++i) {
    auto tensors = device_->Submit(pipeline, made.batch);
    ASSERT_TRUE(tensors.ok()) << tensors.status();
    ASSERT_TRUE((*tensors)[0].memory->UseOn(0).ok());
    held[i % held.size()] = *std::move(tensors);
    if (i == 100) free = *gpu_->FreeDeviceBytes();
  }
  ASSERT_TRUE(gpu_->Synchronize(Stream{0}).ok());
  EXPECT_EQ(*gpu_->FreeDeviceBytes(), free);
}

}  // namespace
}  // namespace stoker
