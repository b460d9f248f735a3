#ifndef STOKER_TESTS_INTEGRATION_TORCH_NUMBERS_OPTIONS_H_
#define STOKER_TESTS_INTEGRATION_TORCH_NUMBERS_OPTIONS_H_

#include <cstdlib>

#include "client/torch/torch_loader.h"

namespace stoker {

// The dataset of numbers.yaml, its samples as they are, from the server that NUMBERS_SERVER names.
inline TorchLoader::Options NumbersOptions(int64_t batch_size) {
  TorchLoader::Options options;
  options.servers = {std::getenv("NUMBERS_SERVER")};
  options.pipeline = R"({"ops": []})";
  options.batch_size = batch_size;
  return options;
}

constexpr uint64_t kNumbers = 960;

}  // namespace stoker

#endif  // STOKER_TESTS_INTEGRATION_TORCH_NUMBERS_OPTIONS_H_
