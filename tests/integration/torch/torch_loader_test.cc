// TorchLoader: batches as tensors, where a job goes on, errors by code and in words.

#include "client/torch/torch_loader.h"

#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "numbers_options.h"

namespace stoker {
namespace {

// The code and the words of what `call` throws.
template <typename Call>
std::pair<stoker_code, std::string> Thrown(Call call) {
  try {
    call();
  } catch (const LoaderError& error) {
    return {error.code(), error.what()};
  }
  return {STOKER_OK, "nothing was thrown"};
}

std::vector<uint64_t> PositionsOfEpoch(TorchLoader& loader) {
  std::vector<uint64_t> positions;
  while (const auto batch = loader.Next())
    positions.insert(positions.end(), batch->positions.begin(), batch->positions.end());
  return positions;
}

std::vector<uint64_t> From(uint64_t first, uint64_t last) {
  std::vector<uint64_t> numbers(last - first);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

TEST(TorchLoaderTest, EpochsComeAsTensorsInOrder) {
  TorchLoader loader(NumbersOptions(32));
  EXPECT_EQ(loader.samples(), static_cast<int64_t>(kNumbers));
  EXPECT_EQ(loader.batches_per_epoch(), 30);
  const auto batch = loader.Next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->epoch, 0);
  EXPECT_EQ(batch->size, 32);
  EXPECT_EQ(batch->real, 32);
  EXPECT_EQ((*batch)["image"].sizes(), at::IntArrayRef({32, 24, 20, 3}));
  EXPECT_EQ((*batch)["image"].scalar_type(), at::kByte);
  EXPECT_EQ((*batch)["number"].sizes(), at::IntArrayRef({32}));
  EXPECT_EQ((*batch)["number"].scalar_type(), at::kLong);
  EXPECT_EQ(batch->positions, From(0, 32));
  EXPECT_EQ(PositionsOfEpoch(loader), From(32, kNumbers));
  EXPECT_EQ(loader.Next()->epoch, 1);
}

TEST(TorchLoaderTest, DeviceOpsAreTheLoaders) {
  auto options = NumbersOptions(32);
  const auto raw = TorchLoader(options).Next();
  options.pipeline = "ops: [{ToDtype: {dtype: float32, scale: true}}, {ToMemoryFormat: {}}]";
  const auto floats = TorchLoader(options).Next();
  const at::Tensor expected = (*raw)["image"].permute({0, 3, 1, 2}).to(at::kFloat) / 255;
  EXPECT_TRUE(at::allclose((*floats)["image"], expected, 1e-6, 1e-7));
}

TEST(TorchLoaderTest, AStateIsGoneOnWithByAnotherBatchSize) {
  std::string state;
  {
    TorchLoader loader(NumbersOptions(32));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.Next());
    state = loader.State();
  }
  TorchLoader loader(NumbersOptions(48));
  loader.Restore(state);
  EXPECT_EQ(PositionsOfEpoch(loader), From(96, kNumbers));
  loader.SetEpoch(7);
  EXPECT_EQ(loader.Next()->epoch, 7);
}

TEST(TorchLoaderTest, ARankMayHaveAnEmptyBatch) {
  auto options = NumbersOptions(68);
  options.rank = 6;
  options.world_size = 7;
  options.last_batch = "partial";
  TorchLoader loader(options);
  std::vector<int64_t> sizes;
  while (const auto batch = loader.Next()) {
    sizes.push_back(batch->size);
    EXPECT_EQ((*batch)["image"].sizes(), at::IntArrayRef({batch->size, 24, 20, 3}));
  }
  EXPECT_EQ(sizes, (std::vector<int64_t>{68, 68, 0}));
}

TEST(TorchLoaderTest, NamesComeWithTheSamplesThatHaveThem) {
  auto options = NumbersOptions(4);
  EXPECT_TRUE(TorchLoader(options).Next()->names.empty());
  options.names = true;
  EXPECT_EQ(TorchLoader(options).Next()->names.size(), 4);
}

TEST(TorchLoaderTest, CancelEndsAWaitFromAnotherThread) {
  TorchLoader loader(NumbersOptions(32));
  std::thread canceller([&] { loader.Cancel(); });
  EXPECT_EQ(Thrown([&] {
              while (true) loader.Next();
            }).first,
            STOKER_CANCELLED);
  canceller.join();
}

TEST(TorchLoaderTest, ErrorsSayWhatIsWrong) {
  auto options = NumbersOptions(32);
  options.pipeline = "ops: [{Resize: {sise: 4}}]";
  auto [code, words] = Thrown([&] { TorchLoader loader(options); });
  EXPECT_EQ(code, STOKER_INVALID_ARGUMENT);
  EXPECT_NE(words.find("sise"), std::string::npos) << words;

  options = NumbersOptions(32);
  options.dataset = "a \"quoted\"\\\n name";
  std::tie(code, words) = Thrown([&] { TorchLoader loader(options); });
  EXPECT_EQ(code, STOKER_INVALID_ARGUMENT);
  EXPECT_NE(words.find(R"('a \"quoted\"\\\n name' is not a dataset's name)"), std::string::npos) << words;

  options = NumbersOptions(32);
  options.others = R"("colour": 1)";
  std::tie(code, words) = Thrown([&] { TorchLoader loader(options); });
  EXPECT_EQ(code, STOKER_INVALID_ARGUMENT);
  EXPECT_NE(words.find("colour"), std::string::npos) << words;

  const auto batch = TorchLoader(NumbersOptions(32)).Next();
  std::tie(code, words) = Thrown([&] { (*batch)["label"]; });
  EXPECT_EQ(code, STOKER_NOT_FOUND);
  EXPECT_EQ(words, "the batch has no field label; it has image, number");
}

TEST(TorchLoaderTest, OtherStreamsAreForItsOwnTensors) {
  const auto batch = TorchLoader(NumbersOptions(32)).Next();
  UseOn((*batch)["image"], CurrentStream(at::kCPU));
  UseOn((*batch)["image"].narrow(0, 3, 4).permute({0, 3, 1, 2}), CurrentStream(at::kCPU));
  EXPECT_EQ(Thrown([] { UseOn(at::ones({2}), CurrentStream(at::kCPU)); }).first, STOKER_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace stoker
