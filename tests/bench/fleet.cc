#include "tests/bench/fleet.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace stoker {

void Die(const std::string& reason) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, reason.c_str());
  std::exit(1);
}

void WriteFile(const std::string& path, const std::string& text) {
  if (!path.empty() && !(std::ofstream(path) << text)) Die("cannot write " + path);
}

TextFile::TextFile(const std::string& text, const std::string& ending) {
  path_ = std::filesystem::temp_directory_path() / ("stoker-bench-XXXXXX" + ending);
  const int file = mkstemps(path_.data(), static_cast<int>(ending.size()));
  if (file < 0) Die(absl::StrCat("cannot write ", path_));
  close(file);
  WriteFile(path_, text);
}

TextFile::~TextFile() { std::filesystem::remove(path_); }

TextFile SleepingConfig(uint32_t sleep_us, int side, uint64_t samples) {
  return TextFile(absl::StrCat(
      "{log: {level: error}, max_pixels: 1048576, datasets: [{name: sleeping, synthetic: {samples: ", samples,
      ", sleep_us: ", sleep_us, ", fields: [{name: image, dtype: uint8, shape: [", side, ", ", side, ", 3]}]}}]}"));
}

Fleet::Fleet(int servers, const std::vector<std::string>& flags) {
  for (int i = 0; i < servers; ++i) {
    servers_.push_back(std::make_unique<StokerdProcess>(flags));
    if (servers_.back()->address().empty()) Die("a stokerd did not start");
  }
}

std::vector<std::string> Fleet::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& server : servers_) addresses.push_back(server->address());
  return addresses;
}

double Fleet::CpuSeconds() const {
  return std::accumulate(servers_.begin(), servers_.end(), 0.0,
                         [](double sum, const auto& server) { return sum + server->process().CpuSeconds(); });
}

uint64_t Fleet::PeakMemory() const {
  return std::accumulate(servers_.begin(), servers_.end(), uint64_t{0},
                         [](uint64_t sum, const auto& server) { return sum + server->process().PeakMemory(); });
}

std::unique_ptr<Loader> MakeLoader(LoaderOptions options) {
  auto loader = Loader::Create(std::move(options));
  if (!loader.ok()) Die(loader.status().ToString());
  return *std::move(loader);
}

Batch NextBatch(Loader& loader) {
  for (;;) {
    auto batch = loader.Next();
    if (!batch.ok()) Die(batch.status().ToString());
    if (batch->has_value()) return **std::move(batch);
  }
}

double SamplesPerSecond(Loader& loader, double seconds) {
  const absl::Time begun = absl::Now();
  int64_t samples = 0;
  while (absl::Now() - begun < absl::Seconds(seconds)) samples += NextBatch(loader).real();
  return static_cast<double>(samples) / absl::ToDoubleSeconds(absl::Now() - begun);
}

double OwnCpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace stoker
