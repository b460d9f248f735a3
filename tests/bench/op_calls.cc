// time-op-calls PYTHON FILE OP SIDE COUNT: calls an op of a file in Python COUNT times, as a server's worker does, on
// eight images of SIDE × SIDE by turns, and prints the seconds of a call. bench-python-ops runs it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "common/check.h"
#include "server/plugin/op_library.h"

namespace {

constexpr int kImages = 8;

double SecondsOfACall(const stoker::LoadedOp& op, stoker::ImageSize size, uint64_t count) {
  const size_t bytes = static_cast<size_t>(size.height * size.width * 3);
  std::vector<stoker::OwnValue> values;
  for (const auto& argument : op.arguments()) values.push_back(argument.otherwise);
  std::vector<std::vector<uint8_t>> in(kImages, std::vector<uint8_t>(bytes, 128)), out = in;
  const auto begun = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < count; ++i) {
    const size_t image = i % kImages;
    STOKER_CHECK(op.Apply(values, {.seed = 1, .position = i}, in[image].data(), size, out[image].data(), size).ok());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() / static_cast<double>(count);
}

}  // namespace

int main(int argc, char** argv) {
  STOKER_CHECK(argc == 6);
  const auto ops = stoker::LoadOps({argv[2]}, {.python = argv[1]});
  if (!ops.ok()) {
    std::fprintf(stderr, "time-op-calls: %s\n", std::string(ops.status().message()).c_str());
    return 1;
  }
  const int64_t side = std::atoll(argv[4]);
  const uint64_t count = std::strtoull(argv[5], nullptr, 10);
  for (const auto& op : *ops) {
    if (op->name() != argv[3]) continue;
    SecondsOfACall(*op, {side, side}, count / 10 + 1);  // Warm.
    std::printf("%.9f\n", SecondsOfACall(*op, {side, side}, count));
  }
}
