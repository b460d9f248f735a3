#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "common/check.h"
#include "server/pack/span_writer.h"
#include "server/prepare/jpeg_writer.h"
#include "server/work/sample_maker.h"
#include "tests/bench/engine_stopwatch.h"
#include "tests/bench/engine_ways.h"

namespace stoker {
namespace {

constexpr uint64_t kPassesOfATurn = 1 << 20;  // Turns do not share draws.

}  // namespace

v1::Pipeline TrainingPipeline(v1::JpegScaling scaling) {
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_random_resized_crop()->add_size(224);
  pipeline.add_ops()->mutable_random_horizontal_flip();
  pipeline.set_jpeg_scaling(scaling);
  return pipeline;
}

const SourceSchema& FileSchema() {
  static const auto& schema = *new SourceSchema{{.name = "image", .kind = SourceField::Kind::kEncodedImage}};
  return schema;
}

Way OneByOne(std::string name, const Photos& photos, MakeOne make) {
  const size_t files = photos.samples.size();
  auto time = [files, make = std::move(make)](const Turn& turn) -> absl::StatusOr<double> {
    uint64_t pass = turn.number * kPassesOfATurn, made = 0;
    for (size_t file = 0; file < std::min<size_t>(files, 20); ++file) make(file, pass);  // Warm.
    const Stopwatch watch;
    while (watch.WallSeconds() < turn.seconds) {
      for (size_t file = 0; file < files; ++file) make(file, pass);
      made += files;
      ++pass;
    }
    return static_cast<double>(made) / watch.Seconds(turn);
  };
  return {std::move(name), std::move(time)};
}

struct Worker::State {
  explicit State(const v1::Pipeline& description) : pipeline(*ServerPipeline::Create(description, FileSchema())) {}

  const ServerPipeline pipeline;
  std::vector<uint8_t> slab = std::vector<uint8_t>(pipeline.span_samples() * pipeline.sample_bytes());
  SpanWriter writer{pipeline, pipeline.span_samples(), slab};
  SampleMaker maker{SampleLimits{}};
  Interrupt never;
  v1::StageTimes times;
  uint32_t index = 0;
};

Worker::Worker(const v1::Pipeline& pipeline) : state_(std::make_unique<State>(pipeline)) {}
Worker::~Worker() = default;

void Worker::Make(const SampleBytes& sample, uint64_t pass, uint64_t position) {
  State& state = *state_;
  const SampleMaker::Task task = {state.pipeline, FileSchema(), 0, pass, position, state.never};
  const absl::Status status = state.maker.Make(task, sample, state.writer, state.index, state.times);
  STOKER_CHECK(status.ok());
  state.index = (state.index + 1) % state.pipeline.span_samples();
}

const v1::StageTimes& Worker::times() const { return state_->times; }

StageCost StageCosts(const Photos& photos, v1::JpegScaling scaling) {
  Worker worker(TrainingPipeline(scaling));
  for (size_t file = 0; file < photos.samples.size(); ++file) worker.Make(photos.samples[file], 0, file);
  const double images_ns = 1e3 * static_cast<double>(photos.samples.size());
  return {static_cast<double>(worker.times().decode()) / images_ns,
          static_cast<double>(worker.times().augment()) / images_ns};
}

Way Stoker(std::string name, const Photos& photos, v1::JpegScaling scaling) {
  auto worker = std::make_shared<Worker>(TrainingPipeline(scaling));
  return OneByOne(std::move(name), photos,
                  [&photos, worker](size_t file, uint64_t pass) { worker->Make(photos.samples[file], pass, file); });
}

Way TwoWorkers(std::string name, const Photos& photos, v1::JpegScaling scaling, const std::vector<int>& cores) {
  if (cores.size() < 2) return {.name = std::move(name), .skipped = "this process may use one core only"};
  auto time = [&photos, scaling, cores](const Turn& turn) -> absl::StatusOr<double> {
    const size_t files = photos.samples.size();
    std::atomic<uint64_t> next = 0;
    std::atomic<bool> stop = false;
    const Stopwatch watch;
    const auto work = [&](int core) {
      PinTo(core);
      Worker worker(TrainingPipeline(scaling));
      for (;;) {
        const uint64_t task = next++;
        if (task % files == 0 && watch.WallSeconds() >= turn.seconds) stop = true;
        if (stop) return;
        worker.Make(photos.samples[task % files], turn.number * kPassesOfATurn + task / files, task % files);
      }
    };
    std::thread first(work, cores[0]), second(work, cores[1]);
    first.join();
    second.join();
    const double seconds = turn.cpu_time ? watch.Seconds(turn) / 2 : watch.Seconds(turn);
    return static_cast<double>(next - 2) / seconds;  // Each thread took one task that it did not do.
  };
  return {std::move(name), std::move(time)};
}

Photos Prepare(const Photos& photos) {
  Photos prepared = {.mean_pixels = photos.mean_pixels};
  for (const SampleBytes& sample : photos.samples) {
    auto file = TranscodeJpeg(sample.fields[0], {});
    prepared.samples.push_back({{file.ok() ? *std::move(file) : sample.fields[0]}});
    prepared.mean_bytes += static_cast<double>(prepared.samples.back().fields[0].size()) / photos.samples.size();
  }
  return prepared;
}

}  // namespace stoker
