// time-op-calls PYTHON FILE OP SIDE COUNT SPAN: has an op of a file in Python work COUNT times, as a server's worker
// does, on SPAN images of SIDE × SIDE at a time, and prints the seconds of an image. SPAN 0 asks for each image by
// itself.
//
// Both begin with images that a pass before the op writes and end with images in a span. What that pass takes to write
// them to memory of its own is not counted. bench-python-ops runs it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "common/check.h"
#include "common/ops/own_batch.h"
#include "server/plugin/op_library.h"

namespace {

using Clock = std::chrono::steady_clock;
using Images = std::vector<std::vector<uint8_t>>;

constexpr size_t kImages = 8;

double SecondsSince(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

struct Calls {
  const stoker::LoadedOp& op;
  stoker::ImageSize size;
  Images in, out;
  std::vector<uint8_t> between;  // what the pass before writes
  std::vector<stoker::OwnValue> values;

  Calls(const stoker::LoadedOp& the_op, int64_t side)
      : op(the_op), size{side, side}, in(kImages, std::vector<uint8_t>(side * side * 3, 128)), out(in), between(in[0]) {
    for (const auto& argument : op.arguments()) values.push_back(argument.otherwise);
  }

  // The seconds of `count` passes before the op, to memory of their own.
  double OfPasses(uint64_t count) {
    const auto begun = Clock::now();
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(between.data(), in[i % kImages].data(), between.size());
      STOKER_CHECK(between[i % between.size()] == 128);
    }
    return SecondsSince(begun);
  }

  void One(uint64_t i) {
    std::memcpy(between.data(), in[i % kImages].data(), between.size());
    uint8_t* const made = out[i % kImages].data();
    STOKER_CHECK(op.Apply(values, {.seed = 1, .position = i}, between.data(), size, made, size).ok());
  }

  void Span(uint64_t first, uint64_t count) {
    const auto batch = op.NewBatch();
    STOKER_CHECK(batch != nullptr);
    for (uint64_t i = first; i < first + count; ++i) {
      uint8_t* const room = batch->Add({&op, values, {.seed = 1, .position = i}, size}, size);
      STOKER_CHECK(room != nullptr);
      std::memcpy(room, in[i % kImages].data(), between.size());
    }
    batch->Run([] { return false; });
    for (uint64_t i = first; i < first + count; ++i) {
      const auto made = batch->Made(i - first);
      STOKER_CHECK(made.ok());
      std::memcpy(out[i % kImages].data(), *made, between.size());
    }
  }

  double SecondsOfACall(uint64_t count, uint64_t span) {
    const double passes = OfPasses(count);
    const auto begun = Clock::now();
    for (uint64_t i = 0; i < count; i += std::max<uint64_t>(span, 1))
      span == 0 ? One(i) : Span(i, std::min(span, count - i));
    return (SecondsSince(begun) - passes) / static_cast<double>(count);
  }
};

}  // namespace

int main(int argc, char** argv) {
  STOKER_CHECK(argc == 7);
  const auto ops = stoker::LoadOps({argv[2]}, {.python = argv[1]});
  if (!ops.ok()) {
    std::fprintf(stderr, "time-op-calls: %s\n", std::string(ops.status().message()).c_str());
    return 1;
  }
  const int64_t side = std::atoll(argv[4]);
  const uint64_t count = std::strtoull(argv[5], nullptr, 10), span = std::strtoull(argv[6], nullptr, 10);
  for (const auto& op : *ops) {
    if (op->name() != argv[3]) continue;
    Calls calls(*op, side);
    calls.SecondsOfACall(count / 10 + 1, span);  // Warm.
    std::printf("%.9f\n", calls.SecondsOfACall(count, span));
  }
}
