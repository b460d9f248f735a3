#include "client/loader/batch.h"

#include <cstring>
#include <numeric>
#include <set>
#include <thread>

#include "client/capi/dlpack.h"
#include "client/capi/stoker.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/cluster.h"
#include "tests/unit/client/capi/job.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using Json = nlohmann::json;

class CapiBatchTest : public testing::Test {
 protected:
  void SetUp() override {
    job_ = Job(cluster_);
    loader_ = MakeLoader(job_);
    ASSERT_NE(loader_, nullptr) << stoker_error();
    batch_ = Next(loader_);
    ASSERT_NE(batch_, nullptr) << stoker_error();
  }

  stoker_tensor TensorAt(int32_t index) {
    stoker_tensor tensor = {};
    EXPECT_EQ(stoker_batch_get_tensor(batch_.get(), index, &tensor), STOKER_OK) << stoker_error();
    return tensor;
  }

  Cluster cluster_{1, SyntheticConfig(100)};
  Json job_;
  LoaderPtr loader_;
  BatchPtr batch_;
};

TEST_F(CapiBatchTest, SaysWhatIsInIt) {
  const stoker_batch_info info = InfoOf(batch_);
  EXPECT_EQ(info.epoch, 0u);
  EXPECT_EQ(info.size, 16);
  EXPECT_EQ(info.real, 16);
  EXPECT_EQ(info.tensors, 2);
  std::vector<uint64_t> positions(16);
  std::iota(positions.begin(), positions.end(), 0);
  EXPECT_EQ(std::vector<uint64_t>(info.positions, info.positions + info.size), positions);
  EXPECT_EQ(std::set<uint64_t>(info.sample_ids, info.sample_ids + info.size).size(), 16u);
}

TEST_F(CapiBatchTest, ShowsItsTensors) {
  const stoker_tensor image = TensorAt(0), number = TensorAt(1);
  EXPECT_STREQ(image.name, "image");
  EXPECT_THAT(std::vector<int64_t>(image.shape, image.shape + image.ndim), ElementsAre(16, 16, 12, 3));
  EXPECT_EQ(image.bytes, 16u * 16 * 12 * 3);
  EXPECT_EQ(image.device_type, 1);
  EXPECT_EQ(image.dtype_code, 1);
  EXPECT_EQ(image.dtype_bits, 8);
  EXPECT_STREQ(number.name, "number");
  EXPECT_THAT(std::vector<int64_t>(number.shape, number.shape + number.ndim), ElementsAre(16));
  EXPECT_EQ(number.dtype_code, 0);
  EXPECT_EQ(number.dtype_bits, 32);
}

TEST_F(CapiBatchTest, HasNoTensorOutsideOfItsRange) {
  stoker_tensor tensor;
  DLManagedTensor* managed = nullptr;
  for (int32_t index : {-1, 2}) {
    EXPECT_EQ(stoker_batch_get_tensor(batch_.get(), index, &tensor), STOKER_OUT_OF_RANGE);
    EXPECT_EQ(stoker_batch_dlpack(batch_.get(), index, &managed), STOKER_OUT_OF_RANGE);
  }
  EXPECT_EQ(managed, nullptr);
}

TEST_F(CapiBatchTest, HasNamesWhereTheyWereAskedFor) {
  EXPECT_STREQ(stoker_batch_name(batch_.get(), 0), "");
  job_["names"] = true;
  const LoaderPtr loader = MakeLoader(job_);
  const BatchPtr batch = Next(loader);
  ASSERT_NE(batch, nullptr) << stoker_error();
  std::set<std::string> names;
  for (int64_t row = 0; row < 16; ++row) names.insert(stoker_batch_name(batch.get(), row));
  EXPECT_EQ(names.size(), 16u);
  EXPECT_FALSE(names.contains(""));
  for (int64_t row : {-1, 16}) EXPECT_STREQ(stoker_batch_name(batch.get(), row), "");
}

TEST_F(CapiBatchTest, HasNoSubstitutesWhereNoSampleIsBad) {
  char* text = nullptr;
  ASSERT_EQ(stoker_batch_substituted(batch_.get(), &text), STOKER_OK);
  EXPECT_EQ(Taken(text), "[]");
}

TEST_F(CapiBatchTest, HasNoPartsWhereTheDatasetIsNoMix) {
  int64_t count = 7;
  EXPECT_EQ(stoker_batch_part_counts(batch_.get(), nullptr, 0), STOKER_OK) << stoker_error();
  EXPECT_EQ(stoker_batch_part_counts(batch_.get(), &count, 1), STOKER_INVALID_ARGUMENT);
  EXPECT_STREQ(stoker_error(), "parts: there is room for 1, and the dataset is mixed of 0");
  EXPECT_EQ(stoker_batch_part_counts(batch_.get(), &count, -1), STOKER_INVALID_ARGUMENT);
  EXPECT_EQ(count, 7);
}

TEST_F(CapiBatchTest, NeedsNoStreamOnTheCpu) {
  EXPECT_EQ(stoker_batch_use_on(batch_.get(), 0), STOKER_OK);
  EXPECT_EQ(stoker_batch_wait(batch_.get()), STOKER_OK);
}

TEST_F(CapiBatchTest, GivesItsTensorsAsDlpack) {
  for (int32_t index : {0, 1}) {
    const stoker_tensor tensor = TensorAt(index);
    DLManagedTensor* managed = nullptr;
    ASSERT_EQ(stoker_batch_dlpack(batch_.get(), index, &managed), STOKER_OK) << stoker_error();
    const DLTensor& dl = managed->dl_tensor;
    EXPECT_EQ(static_cast<const uint8_t*>(dl.data) + dl.byte_offset, tensor.data);
    EXPECT_EQ(dl.device.device_type, tensor.device_type);
    EXPECT_EQ(dl.dtype.code, tensor.dtype_code);
    EXPECT_EQ(dl.dtype.bits, tensor.dtype_bits);
    EXPECT_EQ(dl.dtype.lanes, 1);
    ASSERT_EQ(dl.ndim, tensor.ndim);
    int64_t stride = 1;
    for (int i = dl.ndim - 1; i >= 0; --i) {
      EXPECT_EQ(dl.shape[i], tensor.shape[i]);
      EXPECT_EQ(dl.strides[i], stride);
      stride *= dl.shape[i];
    }
    EXPECT_EQ(stoker_dlpack_use_on(managed, 0), STOKER_OK);
    managed->deleter(managed);
  }
}

TEST_F(CapiBatchTest, KnowsItsOwnDlpackTensorsOnly) {
  DLManagedTensor other = {};
  EXPECT_EQ(stoker_dlpack_use_on(&other, 0), STOKER_INVALID_ARGUMENT);
  EXPECT_EQ(stoker_dlpack_use_on(nullptr, 0), STOKER_INVALID_ARGUMENT);
}

TEST_F(CapiBatchTest, TensorsOutliveBatchLoaderAndServers) {
  const stoker_tensor tensor = TensorAt(0);
  const std::vector<uint8_t> bytes(static_cast<const uint8_t*>(tensor.data),
                                   static_cast<const uint8_t*>(tensor.data) + tensor.bytes);
  DLManagedTensor* managed = nullptr;
  ASSERT_EQ(stoker_batch_dlpack(batch_.get(), 0, &managed), STOKER_OK);
  batch_.reset();
  while (Next(loader_) != nullptr) continue;  // Its memory would be used again, were it free.
  loader_.reset();
  cluster_.Stop(0);
  EXPECT_EQ(std::memcmp(managed->dl_tensor.data, bytes.data(), bytes.size()), 0);
  std::thread([&] { managed->deleter(managed); }).join();
}

TEST_F(CapiBatchTest, BatchesOutliveTheirLoader) {
  DigestPtr digest(stoker_digest_create());
  loader_.reset();
  EXPECT_EQ(TensorAt(1).bytes, 64u);
  EXPECT_EQ(stoker_digest_add(digest.get(), batch_.get()), STOKER_OK) << stoker_error();
}

TEST(CapiMixTest, CountsABatchesSamplesByPart) {
  v1::ServerConfig config = SyntheticConfig(100);
  v1::DatasetConfig& second = *config.add_datasets() = config.datasets(0);
  second.set_name("second"), second.mutable_synthetic()->set_samples(50);
  v1::DatasetConfig& mixed = *config.add_datasets();
  mixed.set_name("mixed");
  for (const char* name : {"synthetic", "second"}) mixed.mutable_mix()->add_parts()->set_dataset(name);
  mixed.mutable_mix()->mutable_parts(0)->set_weight(3);
  mixed.mutable_mix()->mutable_parts(1)->set_weight(1);
  Cluster cluster(1, config);
  Json job = Job(cluster);
  job["dataset"] = "mixed";
  const LoaderPtr loader = MakeLoader(job);
  ASSERT_NE(loader, nullptr) << stoker_error();
  char* text = nullptr;
  ASSERT_EQ(stoker_loader_describe(loader.get(), &text), STOKER_OK);
  EXPECT_EQ(Json::parse(Taken(text))["parts"], Json::parse(R"([{"name": "synthetic", "end": 100, "weight": 3},
                                                               {"name": "second", "end": 150, "weight": 1}])"));
  const BatchPtr batch = Next(loader);
  int64_t counts[2] = {};
  EXPECT_EQ(stoker_batch_part_counts(batch.get(), nullptr, 2), STOKER_INVALID_ARGUMENT);
  ASSERT_EQ(stoker_batch_part_counts(batch.get(), counts, 2), STOKER_OK) << stoker_error();
  EXPECT_THAT(counts, ElementsAre(12, 4));
}

TEST(CapiBatchNullTest, NullIsAnErrorAndNoCrash) {
  stoker_tensor tensor;
  EXPECT_EQ(stoker_batch_get_tensor(nullptr, 0, &tensor), STOKER_INVALID_ARGUMENT);
  EXPECT_EQ(stoker_batch_wait(nullptr), STOKER_INVALID_ARGUMENT);
  EXPECT_EQ(stoker_batch_part_counts(nullptr, nullptr, 0), STOKER_INVALID_ARGUMENT);
  EXPECT_STREQ(stoker_batch_name(nullptr, 0), "");
  stoker_batch_release(nullptr);
}

TEST(CapiEmptyBatchTest, IsGivenToRanksThatTheTailDoesNotReach) {
  Cluster cluster(1, SyntheticConfig(1));
  Json job = Job(cluster);
  job["rank"] = 1;
  job["world_size"] = 2;
  const LoaderPtr loader = MakeLoader(job);
  const BatchPtr batch = Next(loader);
  ASSERT_NE(batch, nullptr) << stoker_error();
  EXPECT_EQ(InfoOf(batch).size, 0);
  stoker_tensor tensor;
  ASSERT_EQ(stoker_batch_get_tensor(batch.get(), 0, &tensor), STOKER_OK);
  EXPECT_EQ(tensor.data, nullptr);
  EXPECT_EQ(tensor.bytes, 0u);
  EXPECT_EQ(tensor.shape[0], 0);
  DLManagedTensor* managed = nullptr;
  ASSERT_EQ(stoker_batch_dlpack(batch.get(), 0, &managed), STOKER_OK);
  EXPECT_EQ(managed->dl_tensor.data, nullptr);
  managed->deleter(managed);
}

}  // namespace
}  // namespace stoker
