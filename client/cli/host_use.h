#ifndef STOKER_CLIENT_CLI_HOST_USE_H_
#define STOKER_CLIENT_CLI_HOST_USE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

// Time that all of a machine's CPUs together have spent, in the kernel's ticks.
struct CpuTicks {
  uint64_t busy = 0, all = 0;
};

// Reads the ticks from the text of /proc/stat. None if the text has another format.
std::optional<CpuTicks> ParseCpuTicks(const std::string& proc_stat);

// Measures how busy the machine is: its CPUs since construction, its GPUs at each call of Look. GPUs are asked through
// NVIDIA's management library (NVML), if there is one. One thread at a time.
class HostUse {
 public:
  // `nvml` is the library's name, for tests.
  explicit HostUse(const std::string& nvml = "libnvidia-ml.so.1");
  ~HostUse();

  // Asks how busy the GPUs are now. Does nothing without NVML.
  void Look();

  // The share of all CPUs' time, 0 to 1, that was busy since construction; negative if unknown.
  double cpu_share() const;

  // How busy each GPU was, 0 to 1, on average over all looks; empty if unknown.
  std::vector<double> gpu_shares() const;

 private:
  class Nvml;

  std::optional<CpuTicks> begun_;
  std::unique_ptr<Nvml> nvml_;  // null without NVML or GPUs
  std::vector<double> sums_;    // for each GPU the sum of its shares over all looks
  int looks_ = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_HOST_USE_H_
