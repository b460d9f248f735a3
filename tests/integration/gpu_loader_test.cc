// The loader on a GPU that is simulated: whole epochs, with what callers do to batches on the way.

#include <cstring>
#include <random>
#include <vector>

#include "client/device/cuda/cuda_device.h"
#include "client/loader/epoch_digest.h"
#include "client/loader/loader.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"
#include "tests/support/simulated_gpu.h"

namespace stoker {
namespace {

using Contents = std::vector<std::vector<uint8_t>>;  // Of each tensor.

constexpr char kOps[] =
    "ops { center_crop { size: 8 } } ops { placement: PLACEMENT_DEVICE random_horizontal_flip {} } "
    "ops { to_dtype { dtype: DTYPE_FLOAT16 scale: true } } ops { to_memory_format {} }";

class GpuLoaderTest : public testing::Test {
 protected:
  ~GpuLoaderTest() override {
    EXPECT_EQ(gpu_->Leaks(), "");
    EXPECT_THAT(gpu_->violations(), testing::IsEmpty());
  }

  LoaderOptions Job() const {
    LoaderOptions options;
    options.servers = cluster_.addresses();
    options.batch_size = 16;
    options.pipeline.emplace();
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kOps, &*options.pipeline));
    return options;
  }

  std::unique_ptr<Loader> OnGpu(LoaderOptions job, const DeviceOptions& options = {}) {
    auto device = OpenCudaDevice(gpu_, options);
    EXPECT_TRUE(device.ok()) << device.status();
    job.device = *std::move(device);
    auto loader = Loader::Create(std::move(job));
    EXPECT_TRUE(loader.ok()) << loader.status();
    return *std::move(loader);
  }

  // What the epoch's batches hold, on the CPU.
  std::vector<Contents> Expected() const {
    auto loader = Loader::Create(Job());
    EXPECT_TRUE(loader.ok()) << loader.status();
    std::vector<Contents> expected;
    for (auto batch = (*loader)->Next(); batch.ok() && *batch; batch = (*loader)->Next()) {
      Contents& contents = expected.emplace_back();
      for (const Tensor& tensor : (*batch)->tensors()) {
        const auto* data = static_cast<const uint8_t*>(tensor.data);
        contents.emplace_back(data, data + tensor.bytes);
      }
    }
    return expected;
  }

  // Queues a look at the tensors on the legacy default stream; what it saw is there after Drain().
  void Look(const std::vector<Tensor>& tensors, Contents& seen) {
    seen.resize(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      ASSERT_TRUE(tensors[i].memory->UseOn(0).ok());
      const auto* data = static_cast<const uint8_t*>(tensors[i].data);
      gpu_->Enqueue(
          0, [&to = seen[i], data, bytes = tensors[i].bytes] { to.assign(data, data + bytes); }, data,
          tensors[i].bytes);
    }
  }

  const Cluster cluster_{2, SyntheticConfig(400)};
  const std::shared_ptr<SimulatedGpu> gpu_ = std::make_shared<SimulatedGpu>(5);
};

TEST_F(GpuLoaderTest, AnEpochIsTheCpusWhateverIsKept) {
  const std::vector<Contents> expected = Expected();
  ASSERT_EQ(expected.size(), 25);
  LoaderOptions job = Job();
  job.prefetch = 2;
  auto loader = OnGpu(job, {.pinned_bytes = 2 * 16 * 200});  // Room for two slabs.
  std::vector<Contents> seen(expected.size());
  std::vector<Batch> kept;
  std::mt19937 random(1);
  EpochDigest digest;
  for (size_t i = 0; i < expected.size(); ++i) {
    auto batch = loader->Next();
    ASSERT_TRUE(batch.ok() && *batch) << batch.status();
    Look((*batch)->tensors(), seen[i]);
    ASSERT_TRUE(digest.Add(**batch).ok());
    if (random() % 3 == 0) kept.push_back(**batch);
    if (random() % 7 == 0) kept.clear();
  }
  gpu_->Drain();
  EXPECT_EQ(seen, expected);
  LoaderOptions on_cpu = Job();
  EXPECT_EQ(digest.Hex(), RunEpoch(on_cpu).digest);
  EXPECT_THAT(loader->stats().warnings, testing::Not(testing::IsEmpty())) << "two slabs are pinned, others are not";
}

TEST_F(GpuLoaderTest, MovesAndEndsWhileBatchesAreOnTheirWay) {
  const std::vector<Contents> expected = Expected();
  auto loader = OnGpu(Job());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(loader->Next().ok());
  loader->SetEpoch(0);
  auto batch = loader->Next();
  ASSERT_TRUE(batch.ok() && *batch) << batch.status();
  const std::vector<Tensor> tensors = (*batch)->tensors();
  batch = loader->Next();
  loader.reset();
  Contents seen;
  Look(tensors, seen);
  gpu_->Drain();
  EXPECT_EQ(seen, expected[0]) << "tensors outlive batch, loader and device";
}

TEST_F(GpuLoaderTest, AnErrorOfTheGpuEndsTheEpochByItsName) {
  auto loader = OnGpu(Job());
  ASSERT_TRUE(loader->Next().ok());
  gpu_->FailFrom(0);
  absl::Status status;
  for (int i = 0; i < 25 && status.ok(); ++i) status = loader->Next().status();
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("cudaErrorUnknown"));
  gpu_->FailNone();
}

}  // namespace
}  // namespace stoker
