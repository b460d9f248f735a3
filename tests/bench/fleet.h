#ifndef STOKER_TESTS_BENCH_FLEET_H_
#define STOKER_TESTS_BENCH_FLEET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/loader/loader.h"
#include "tests/support/process.h"

namespace stoker {

// Ends the program: benchmark `program_invocation_short_name` cannot go on.
[[noreturn]] void Die(const std::string& reason);

// Writes a file, unless no path is given. Ends the program where it cannot be written.
void WriteFile(const std::string& path, const std::string& text);

// A text file that goes with this.
class TextFile {
 public:
  explicit TextFile(const std::string& text, const std::string& ending = "");
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A server's configuration: samples of [side, side, 3] bytes that a worker sleeps for, `sleep_us` each.
TextFile SleepingConfig(uint32_t sleep_us, int side, uint64_t samples = uint64_t{1} << 40);

// stokerd processes of equal flags, on free ports. Ends the program where one does not start.
class Fleet {
 public:
  Fleet(int servers, const std::vector<std::string>& flags);

  std::vector<std::string> addresses() const;
  Process& process(int server) { return servers_[server]->process(); }

  // Of all together.
  double CpuSeconds() const;
  uint64_t PeakMemory() const;

 private:
  std::vector<std::unique_ptr<StokerdProcess>> servers_;
};

// A loader of `servers`. Ends the program where there can be none.
std::unique_ptr<Loader> MakeLoader(LoaderOptions options);

// The next batch, over epochs' ends. Ends the program where there can be none.
Batch NextBatch(Loader& loader);

// Takes batches for so long. Samples per second.
double SamplesPerSecond(Loader& loader, double seconds);

// Seconds on cores of this process.
double OwnCpuSeconds();

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_FLEET_H_
