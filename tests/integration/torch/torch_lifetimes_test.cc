// Tensors that consumers keep, drop, share and cut, in many threads and in random order, beyond the loader's own life:
// what they hold stays right, and what all let go of serves again.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/torch/torch_loader.h"
#include "gtest/gtest.h"
#include "numbers_options.h"

namespace stoker {
namespace {

constexpr int kThreads = 4;
constexpr size_t kShared = 24;

uint64_t HashOf(const at::Tensor& image) {
  const at::Tensor bytes = image.contiguous();
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (int64_t i = 0; i < bytes.numel(); ++i) hash = (hash ^ bytes.data_ptr<uint8_t>()[i]) * 1099511628211u;
  return hash;
}

// A batch's images, or a view of some rows of them.
struct Held {
  at::Tensor images;
  std::vector<uint64_t> sample_ids;
};

// The hash of each sample's image, from batches that are dropped at once.
std::map<uint64_t, uint64_t> Reference() {
  std::map<uint64_t, uint64_t> hashes;
  TorchLoader loader(NumbersOptions(64));
  while (const auto batch = loader.Next())
    for (int64_t row = 0; row < batch->size; ++row) hashes[batch->sample_ids[row]] = HashOf((*batch)["image"][row]);
  return hashes;
}

// What all threads may take from and give to.
class Shared {
 public:
  // Drops another where there are many.
  void Give(Held held, std::mt19937& random) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (held_.size() < kShared) return held_.push_back(std::move(held));
    std::swap(held_[random() % held_.size()], held);
  }

  std::vector<Held> Take(std::mt19937& random) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Held> taken;
    if (held_.empty()) return taken;
    std::swap(held_[random() % held_.size()], held_.back());
    taken.push_back(std::move(held_.back()));
    held_.pop_back();
    return taken;
  }

 private:
  std::mutex mutex_;
  std::vector<Held> held_;
};

class Consumer {
 public:
  Consumer(const std::map<uint64_t, uint64_t>& reference, unsigned seed) : reference_(reference), random_(seed) {}

  void Step(Shared& shared) {
    if (mine_.empty() || random_() % 4 == 0) {
      for (Held& held : shared.Take(random_)) mine_.push_back(std::move(held));
      return;
    }
    Held& held = mine_[random_() % mine_.size()];
    switch (random_() % 4) {
      case 0: return shared.Give(held, random_);  // Now two have it.
      case 1: return Cut(held);
      case 2: return Check(held);
      default: std::swap(held, mine_.back()); mine_.pop_back();
    }
  }

  void CheckAll() {
    for (const Held& held : mine_) Check(held);
  }

  size_t checked = 0, wrong = 0;

 private:
  void Check(const Held& held) {
    for (size_t row = 0; row < held.sample_ids.size(); ++row, ++checked)
      wrong += HashOf(held.images[static_cast<int64_t>(row)]) != reference_.at(held.sample_ids[row]);
  }

  void Cut(Held& held) {
    const int64_t rows = held.images.size(0), first = random_() % rows, kept = 1 + random_() % (rows - first);
    held.images = held.images.narrow(0, first, kept);
    held.sample_ids = {held.sample_ids.begin() + first, held.sample_ids.begin() + first + kept};
  }

  const std::map<uint64_t, uint64_t>& reference_;
  std::mt19937 random_;
  std::vector<Held> mine_;
};

TEST(TorchLifetimesTest, TensorsStayRightWhoeverKeepsThem) {
  const auto reference = Reference();
  ASSERT_EQ(reference.size(), kNumbers);
  Shared shared;
  std::atomic<bool> done{false};
  std::vector<Consumer> consumers;
  for (unsigned i = 0; i < kThreads; ++i) consumers.emplace_back(reference, i);
  std::vector<std::thread> threads;
  for (Consumer& consumer : consumers)
    threads.emplace_back([&] {
      while (!done) consumer.Step(shared);
    });

  std::set<const void*> memory;
  size_t batches = 0;
  {
    std::mt19937 random(100);
    auto options = NumbersOptions(16);
    options.others = R"("prefetch": 2)";
    auto loader = std::make_unique<TorchLoader>(options);
    for (int epoch = 0; epoch < 8; ++epoch)
      while (auto batch = loader->Next()) {
        memory.insert((*batch)["image"].data_ptr());
        ++batches;
        shared.Give({(*batch)["image"], batch->sample_ids}, random);
      }
  }
  done = true;
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(batches, 8 * kNumbers / 16);
  EXPECT_LT(memory.size(), batches / 2) << "hardly any memory was used twice, so this has shown nothing";
  for (Consumer& consumer : consumers) {
    consumer.CheckAll();  // The loader is gone.
    EXPECT_GT(consumer.checked, 0);
    EXPECT_EQ(consumer.wrong, 0);
  }
}

}  // namespace
}  // namespace stoker
