// bench-engine [--data DIR] [--peers] [--json FILE] …: images per second that one core makes of JPEG files in memory,
// for us, for the floor that libjpeg's entropy decoding sets, and for what users would take instead. All ways take
// turns, round by round, so that a machine's drift hits all alike; ratios are of runs side by side.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tests/bench/engine_costs.h"
#include "tests/bench/engine_ways.h"
#include "tests/bench/table.h"

namespace stoker {
namespace {

constexpr char kReencoded[] = " 500x375";  // What its rows' names end with.
constexpr char kOneWorker[] = "stoker k2", kTwoWorkers[] = "stoker k2, two workers";

const std::vector<Comparison> kComparisons = {{"exact is", "stoker exact"}, {"k2 is", kOneWorker}};

struct Options {
  std::string data, only, json;
  bool peers = false;
  size_t images = 1000;
  Turn turn = {.seconds = 2};
  int rounds = 3;
};

// Photographs in the layouts that are timed.
struct Input {
  Photos original, prepared, reencoded, prepared_reencoded;
};

// The ways whose name has `only` in it, and the floor.
std::vector<Way> Chosen(std::vector<Way> ways, const std::string& only) {
  std::vector<Way> chosen;
  for (Way& way : ways)
    if (chosen.empty() || absl::StrContains(way.name, only)) chosen.push_back(std::move(way));
  return chosen;
}

std::vector<Way> WaysFor(const Input& input, const Options& options, const std::vector<int>& cores) {
  const Photos& photos = input.original;
  std::vector<Way> ways = {
      EntropyFloor(photos),
      Stoker("stoker exact", photos, v1::JPEG_SCALING_EXACT),
      Stoker(kOneWorker, photos, v1::JPEG_SCALING_K2),
      Stoker("stoker k1", photos, v1::JPEG_SCALING_K1),
      Stoker("stoker prepared", input.prepared, v1::JPEG_SCALING_K2),
      TwoWorkers(kTwoWorkers, photos, v1::JPEG_SCALING_K2, cores),
  };
  for (Way& way : OpenCv(photos)) ways.push_back(std::move(way));
  Progress("starting the peers");
  for (Way& way : DebianPeers(photos, options.only)) ways.push_back(std::move(way));
  if (options.peers)
    for (Way& way : EnvironmentPeers(photos, options.only)) ways.push_back(std::move(way));
  return Chosen(std::move(ways), options.only);
}

std::vector<Way> WaysForReencoded(const Input& input, const Options& options) {
  return Chosen({EntropyFloor(input.reencoded), Stoker("stoker exact", input.reencoded, v1::JPEG_SCALING_EXACT),
                 Stoker("stoker k2", input.reencoded, v1::JPEG_SCALING_K2),
                 Stoker("stoker prepared", input.prepared_reencoded, v1::JPEG_SCALING_K2)},
                options.only);
}

std::string About(const Photos& photos) {
  return absl::StrFormat("%d JPEGs of %.0f KB and %.2f megapixels on average", photos.samples.size(),
                         photos.mean_bytes / 1e3, photos.mean_pixels / 1e6);
}

void PrintScaling(const std::vector<Row>& rows) {
  const auto rate = [&](absl::string_view name) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return each.name == name; });
    return row == rows.end() ? 0 : row->images_per_second;
  };
  const double one = rate(kOneWorker), two = rate(kTwoWorkers);
  if (one > 0 && two > 0) std::printf("\nTwo workers make %.2f times as many as one.\n", two / one);
}

void TimeStages(const Input& input, nlohmann::ordered_json& json) {
  const auto print = [&](const char* name, const Photos& photos, v1::JpegScaling scaling) {
    const StageCost cost = StageCosts(photos, scaling);
    std::printf("%s: decode %.0f us, augment %.0f us an image\n", name, cost.decode_us, cost.augment_us);
    json["stages"].push_back(
        {{"name", name}, {"decode_microseconds", cost.decode_us}, {"augment_microseconds", cost.augment_us}});
  };
  print("stoker exact", input.original, v1::JPEG_SCALING_EXACT);
  print("stoker k2", input.original, v1::JPEG_SCALING_K2);
  print("stoker prepared", input.prepared, v1::JPEG_SCALING_K2);
}

void TimeFiles(const Input& input, const Options& options, const std::vector<int>& cores,
               nlohmann::ordered_json& json) {
  const std::vector<Row> rows = TimeInTurns(WaysFor(input, options, cores), options.turn, options.rounds);
  std::printf(
      "%s; prepared %.0f KB\nRandomResizedCrop(224), RandomHorizontalFlip; core %d alone; %d rounds of %g s\n\n",
      About(input.original).c_str(), input.prepared.mean_bytes / 1e3, cores[0], options.rounds, options.turn.seconds);
  Print(rows, "floor", kComparisons);
  PrintScaling(rows);
  TimeStages(input, json);
  AddJson(rows, "", json);
  std::printf("\nThe same photographs, longer side 500, quality 90: %s; prepared %.0f KB\n\n",
              About(input.reencoded).c_str(), input.prepared_reencoded.mean_bytes / 1e3);
  const std::vector<Row> reencoded = TimeInTurns(WaysForReencoded(input, options), options.turn, options.rounds);
  Print(reencoded, "floor", kComparisons);
  AddJson(reencoded, kReencoded, json);
}

void TimeViews(const Input& input, const Options& options, nlohmann::ordered_json& json) {
  std::printf("\nViews of one sample             together, us   each alone, us   ratio\n");
  Progress("views");
  const std::vector<ViewsCost> costs = ViewsCosts(input.original, options.turn, options.rounds);
  Progress("");
  for (const ViewsCost& cost : costs) {
    const double ratio = cost.together_us / cost.apart_us;
    absl::PrintF("%-34s %11.1f %16.1f %7.2f\n", cost.name, cost.together_us, cost.apart_us, ratio);
    json["views"].push_back({{"name", cost.name},
                             {"together_microseconds", cost.together_us},
                             {"apart_microseconds", cost.apart_us},
                             {"ratio", ratio}});
  }
}

void TimeOps(const Input& input, const Options& options, nlohmann::ordered_json& json) {
  std::printf("\nOne op on 224x224                                     us\n");
  Progress("ops");
  Turn turn = options.turn;
  turn.seconds /= 20;  // There are many.
  const std::vector<OpCost> costs = OpCosts(input.original, turn, options.rounds);
  Progress("");
  for (const OpCost& cost : costs) {
    absl::PrintF("%-50s %6.1f\n", cost.name, cost.microseconds);
    json["ops"].push_back({{"name", cost.name}, {"microseconds", cost.microseconds}});
  }
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Times what one core makes of JPEG files in memory (RandomResizedCrop 224, flip, uint8): Stoker in each of its\n"
      "modes, libjpeg's entropy decoding as the floor, OpenCV and torchvision; then ops and views alone",
      "bench-engine");
  Options options;
  app.add_option("--data", options.data, "Folder whose JPEGs are read, at any depth (default: painted ones, made once)")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--peers", options.peers,
               "Also current torchvision, OpenCV, Albumentations, DALI and tf.data, from a Python environment that\n"
               "`./dev bench engine --peers` makes once (minutes, 8 GB)");
  app.add_option("--images", options.images, "Use at most so many, evenly spaced")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--seconds", options.turn.seconds,
                 "Of each way in each round, and on to the end of a pass over the files")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--rounds", options.rounds, "Turns that the ways take; medians are printed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_flag("--cpu-time", options.turn.cpu_time,
               "Count the time that the core spent on the process, not the wall's: for a machine that is not quiet");
  app.add_option("--only", options.only, "Only the floor and rows whose name has this in it; no ops, no views")
      ->type_name("TEXT");
  app.add_option("--json", options.json, "Write the figures as one JSON object")->type_name("FILE");
  app.footer(
      "Columns: `spread` is the rounds' range over their median; `of floor` the ratio to the floor; `exact is` and\n"
      "`k2 is` how many times as fast as the row Stoker is. A quiet machine shows spreads of 1 to 3 percent.");
  CLI11_PARSE(app, argc, argv);

  signal(SIGPIPE, SIG_IGN);  // A peer that ended is an answer that does not come.
  const std::vector<int> cores = PhysicalCores();
  PinTo(cores[0]);
  auto folder = options.data.empty() ? PaintedPhotos() : options.data;
  auto photos = folder.ok() ? LoadPhotos(*folder, options.images) : folder.status();
  if (!photos.ok()) {
    std::fprintf(stderr, "bench-engine: %s\n", std::string(photos.status().message()).c_str());
    return 1;
  }
  Input input = {.original = *std::move(photos)};
  input.prepared = Prepare(input.original);
  input.reencoded = Reencode(input.original);
  input.prepared_reencoded = Prepare(input.reencoded);

  nlohmann::ordered_json json = {{"bench", "engine"},
                                 {"images", input.original.samples.size()},
                                 {"rounds", options.rounds},
                                 {"seconds", options.turn.seconds},
                                 {"cpu_time", options.turn.cpu_time},
                                 {"rows", nlohmann::ordered_json::array()}};
  TimeFiles(input, options, cores, json);
  if (options.only.empty()) {
    TimeViews(input, options, json);
    TimeOps(input, options, json);
  }
  if (options.json.empty() || std::ofstream(options.json) << json.dump(2) << "\n") return 0;
  std::fprintf(stderr, "bench-engine: cannot write %s\n", options.json.c_str());
  return 1;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
