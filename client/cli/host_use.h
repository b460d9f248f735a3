#ifndef STOKER_CLIENT_CLI_HOST_USE_H_
#define STOKER_CLIENT_CLI_HOST_USE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

// Time that all of a machine's CPUs spent, in the kernel's ticks.
struct CpuTicks {
  uint64_t busy = 0, all = 0;
};

// Of the text of /proc/stat; nothing if it is another.
std::optional<CpuTicks> ParseCpuTicks(const std::string& proc_stat);

// How busy the machine's CPUs are, since it was made, and its GPUs, whenever they were looked at. GPUs are asked by
// NVIDIA's management library, where there is one. One thread at a time.
class HostUse {
 public:
  explicit HostUse(const std::string& nvml = "libnvidia-ml.so.1");
  ~HostUse();

  // Looks at the GPUs.
  void Look();

  // 0 to 1; negative if unknown.
  double cpu_share() const;

  // Of each GPU, 0 to 1; empty if unknown.
  std::vector<double> gpu_shares() const;

 private:
  class Nvml;

  std::optional<CpuTicks> begun_;
  std::unique_ptr<Nvml> nvml_;  // Null where there is none.
  std::vector<double> sums_;
  int looks_ = 0;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_CLI_HOST_USE_H_
