#ifndef STOKER_TESTS_BENCH_ENGINE_WAYS_H_
#define STOKER_TESTS_BENCH_ENGINE_WAYS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/pipeline/server_pipeline.h"
#include "tests/bench/engine_photos.h"
#include "tests/bench/way.h"

namespace stoker {

// Ways of one core, on the one that they are called on. `photos` must outlive them.

// Makes file `file` with the draws of `pass`.
using MakeOne = std::function<void(size_t file, uint64_t pass)>;

// A way of this process that makes one image after the other.
Way OneByOne(std::string name, const Photos& photos, MakeOne make);

// That pipeline, and the dataset's schema: the file alone.
v1::Pipeline TrainingPipeline(v1::JpegScaling scaling);
const SourceSchema& FileSchema();

// What a worker does with a sample that is read, in one worker's memory. Pins nothing.
class Worker {
 public:
  explicit Worker(const v1::Pipeline& pipeline);
  ~Worker();

  void Make(const SampleBytes& sample, uint64_t pass, uint64_t position);

  // Where the time of all calls went, in nanoseconds.
  const v1::StageTimes& times() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// libjpeg-turbo reads entropy codes down to the crop's last row and makes no pixel.
Way EntropyFloor(const Photos& photos);

Way Stoker(std::string name, const Photos& photos, v1::JpegScaling scaling);

// Where the time of one pass over the files goes, in microseconds an image.
struct StageCost {
  double decode_us, augment_us;
};
StageCost StageCosts(const Photos& photos, v1::JpegScaling scaling);

// Two threads on two cores; images per second of both together.
Way TwoWorkers(std::string name, const Photos& photos, v1::JpegScaling scaling, const std::vector<int>& cores);

// The same images, laid out as `stokerd prepare` does by default.
Photos Prepare(const Photos& photos);

// The OpenCV that this program is linked to: cv::imdecode, crop, cv::resize (linear, or area where that is smaller).
std::vector<Way> OpenCv(const Photos& photos);

// Starts the one that Debian's Python runs, or those that the environment of `./dev bench engine --peers` does, if
// their names have `only` in them: a process each, which holds the files in memory and inherits the core, and ends
// with the way.
std::vector<Way> DebianPeers(const Photos& photos, const std::string& only);
std::vector<Way> EnvironmentPeers(const Photos& photos, const std::string& only);

// Logical cores that this process may run on, one of each physical core.
std::vector<int> PhysicalCores();
void PinTo(int core);

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_ENGINE_WAYS_H_
