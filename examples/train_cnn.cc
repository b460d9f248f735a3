// train_cnn SERVER [--steps N] [--classes N] [--seed N]: trains a small convolutional network on the photographs that a
// stokerd serves, and prints the loss as it goes. train_cnn.py is the same in Python.
//
//   make-photo-folder photos --classes 4 && stokerd serve --data photos &
//   train_cnn 127.0.0.1:7077 --classes 4

#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>

#include "client/torch/torch_loader.h"

namespace {

constexpr const char* kPipeline = R"(
ops:
  - RandomResizedCrop: {size: 64, scale: [0.4, 1]}
  - RandomHorizontalFlip:
  - ToDtype: {dtype: float32, scale: true}
  - Normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
  - ToMemoryFormat: {memory_format: channels_first}
)";

torch::nn::Sequential MakeNetwork(int64_t classes) {
  namespace nn = torch::nn;
  nn::Sequential network;
  int64_t channels = 3;
  for (const int64_t wider : {16, 32, 64}) {
    network->push_back(nn::Conv2d(nn::Conv2dOptions(channels, wider, 3).stride(2).padding(1).bias(false)));
    network->push_back(nn::BatchNorm2d(wider));
    network->push_back(nn::ReLU());
    channels = wider;
  }
  network->push_back(nn::AdaptiveAvgPool2d(1));
  network->push_back(nn::Flatten());
  network->push_back(nn::Linear(channels, classes));
  return network;
}

void Train(const std::string& server, int64_t steps, int64_t classes, uint64_t seed) {
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  stoker::TorchLoader::Options options;
  options.servers = {server};
  options.pipeline = kPipeline;
  options.batch_size = 32;
  options.device = device;
  options.seed = seed;
  stoker::TorchLoader loader(options);
  if (loader.batches_per_epoch() == 0) throw std::invalid_argument("the dataset has less than a batch of images");

  torch::manual_seed(seed);
  auto network = MakeNetwork(classes);
  network->to(device);
  torch::optim::SGD optimizer(network->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  torch::Tensor sum = torch::zeros({}, device);  // Stays on the device: reading it waits.
  for (int64_t step = 0; step < steps;) {
    const auto batch = loader.Next();
    if (!batch) continue;  // The epoch's end; then comes the next.
    const auto loss = torch::nn::functional::cross_entropy(network->forward((*batch)["image"]), (*batch)["label"]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.detach();
    if (++step % 10 != 0) continue;
    std::printf("epoch %lu step %ld loss %.4f\n", batch->epoch, step, sum.item<double>() / 10);
    std::fflush(stdout);
    sum.zero_();
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> flags = {{"--steps", "200"}, {"--classes", "10"}, {"--seed", "1"}};
  bool known = argc >= 2 && argc % 2 == 0;
  for (int i = 2; known && i < argc; i += 2) {
    known = flags.count(argv[i]) != 0;
    flags[argv[i]] = argv[i + 1];
  }
  if (!known) return std::fputs("usage: train_cnn SERVER [--steps N] [--classes N] [--seed N]\n", stderr), 2;
  try {
    Train(argv[1], std::stoll(flags["--steps"]), std::stoll(flags["--classes"]), std::stoull(flags["--seed"]));
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "train_cnn: %s\n", error.what()), 1;
  }
}
