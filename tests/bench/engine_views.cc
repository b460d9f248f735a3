#include <initializer_list>
#include <memory>
#include <utility>

#include "common/check.h"
#include "tests/bench/engine_costs.h"
#include "tests/bench/engine_ways.h"
#include "tests/bench/table.h"

namespace stoker {
namespace {

struct Group {
  const char* name;
  uint32_t count;
  int32_t size;
  double least_area, most_area;
};

void AddOps(const Group& group, google::protobuf::RepeatedPtrField<v1::Op>& ops) {
  v1::RandomResizedCrop& crop = *ops.Add()->mutable_random_resized_crop();
  crop.add_size(group.size);
  crop.add_scale(group.least_area);
  crop.add_scale(group.most_area);
  ops.Add()->mutable_random_horizontal_flip();
}

v1::Pipeline Together(const std::vector<Group>& groups) {
  v1::Pipeline pipeline;
  for (const Group& group : groups) {
    v1::Views& views = *pipeline.add_views();
    views.set_name(group.name);
    views.set_count(group.count);
    AddOps(group, *views.mutable_ops());
  }
  return pipeline;
}

// A way that makes `count` samples of each file with the pipeline of each group.
Way Apart(const std::vector<Group>& groups, const Photos& photos) {
  std::vector<std::pair<std::shared_ptr<Worker>, uint32_t>> workers;
  for (const Group& group : groups) {
    v1::Pipeline pipeline;
    AddOps(group, *pipeline.mutable_ops());
    workers.emplace_back(std::make_shared<Worker>(pipeline), group.count);
  }
  return OneByOne("", photos, [&photos, workers](size_t file, uint64_t pass) {
    for (const auto& [worker, count] : workers)
      for (uint32_t view = 0; view < count; ++view)
        worker->Make(photos.samples[file], pass, file + view * photos.samples.size());
  });
}

Way AllAtOnce(const std::vector<Group>& groups, const Photos& photos) {
  auto worker = std::make_shared<Worker>(Together(groups));
  return OneByOne("", photos,
                  [&photos, worker](size_t file, uint64_t pass) { worker->Make(photos.samples[file], pass, file); });
}

ViewsCost Measure(const char* name, const std::vector<Group>& groups, const Photos& photos, Turn turn, int rounds) {
  const Way together = AllAtOnce(groups, photos), apart = Apart(groups, photos);
  std::vector<double> together_us, apart_us;
  for (int round = 0; round < rounds; ++round) {
    turn.number = round;
    together_us.push_back(1e6 / *together.time(turn));
    apart_us.push_back(1e6 / *apart.time(turn));
  }
  return {name, Median(together_us), Median(apart_us)};
}

}  // namespace

std::vector<ViewsCost> ViewsCosts(const Photos& photos, Turn turn, int rounds) {
  return {Measure("SimCLR: 2 of 224x224", {{"view", 2, 224, 0.08, 1}}, photos, turn, rounds),
          Measure("DINO: 2 of 224x224, 6 of 96x96", {{"global", 2, 224, 0.4, 1}, {"local", 6, 96, 0.05, 0.4}}, photos,
                  turn, rounds)};
}

}  // namespace stoker
