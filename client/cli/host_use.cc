#include "client/cli/host_use.h"

#include <dlfcn.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace stoker {
namespace {

std::optional<CpuTicks> ReadCpuTicks() {
  std::ifstream file("/proc/stat");
  return ParseCpuTicks({std::istreambuf_iterator<char>(file), {}});
}

}  // namespace

// The columns are user, nice, system, idle, iowait, irq, softirq and steal (see proc(5)). Guests' columns follow, but
// their time is counted in user and nice already.
std::optional<CpuTicks> ParseCpuTicks(const std::string& proc_stat) {
  std::istringstream text(proc_stat);
  std::string name;
  if (!(text >> name) || name != "cpu") return std::nullopt;
  CpuTicks ticks;
  for (int i = 0; i < 8; ++i) {
    uint64_t spent = 0;
    if (!(text >> spent)) return std::nullopt;
    ticks.all += spent;
    if (i != 3 && i != 4) ticks.busy += spent;
  }
  return ticks;
}

// Calls the few functions that are needed of NVML's C interface, as NVIDIA documents them, in a library loaded at run
// time.
class HostUse::Nvml {
 public:
  // Loads the library. Null if it is not there or finds no GPU.
  static std::unique_ptr<Nvml> Open(const std::string& path) {
    std::unique_ptr<Nvml> nvml(new Nvml(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)));
    if (nvml->library_ == nullptr || !nvml->Start()) return nullptr;
    return nvml;
  }

  ~Nvml() {
    if (shutdown_ != nullptr) shutdown_();
    if (library_ != nullptr) dlclose(library_);
  }

  // Returns how busy each GPU is, 0 to 1; empty if one of them does not say.
  std::vector<double> Shares() const {
    std::vector<double> shares;
    for (void* device : devices_) {
      Utilization use;
      if (utilization_(device, &use) != 0) return {};
      shares.push_back(use.gpu / 100.0);
    }
    return shares;
  }

 private:
  struct Utilization {
    unsigned int gpu = 0, memory = 0;  // percent
  };

  explicit Nvml(void* library) : library_(library) {}

  template <typename Function>
  Function Find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  bool Start() {
    const auto init = Find<int (*)()>("nvmlInit_v2");
    const auto count = Find<int (*)(unsigned int*)>("nvmlDeviceGetCount_v2");
    const auto handle = Find<int (*)(unsigned int, void**)>("nvmlDeviceGetHandleByIndex_v2");
    utilization_ = Find<int (*)(void*, Utilization*)>("nvmlDeviceGetUtilizationRates");
    if (init == nullptr || count == nullptr || handle == nullptr || utilization_ == nullptr || init() != 0)
      return false;
    shutdown_ = Find<int (*)()>("nvmlShutdown");
    unsigned int devices = 0;
    if (count(&devices) != 0) return false;
    devices_.resize(devices);
    for (unsigned int i = 0; i < devices; ++i)
      if (handle(i, &devices_[i]) != 0) return false;
    return devices > 0;
  }

  void* const library_;
  int (*shutdown_)() = nullptr;
  int (*utilization_)(void*, Utilization*) = nullptr;
  std::vector<void*> devices_;
};

HostUse::HostUse(const std::string& nvml) : begun_(ReadCpuTicks()), nvml_(Nvml::Open(nvml)) {}

HostUse::~HostUse() = default;

void HostUse::Look() {
  if (nvml_ == nullptr) return;
  const std::vector<double> shares = nvml_->Shares();
  if (shares.empty()) return;
  sums_.resize(shares.size());
  for (size_t i = 0; i < shares.size(); ++i) sums_[i] += shares[i];
  ++looks_;
}

double HostUse::cpu_share() const {
  const auto now = ReadCpuTicks();
  if (!begun_.has_value() || !now.has_value() || now->all <= begun_->all) return -1;
  return static_cast<double>(now->busy - begun_->busy) / static_cast<double>(now->all - begun_->all);
}

std::vector<double> HostUse::gpu_shares() const {
  std::vector<double> means = sums_;
  for (double& mean : means) mean /= looks_;
  return means;
}

}  // namespace stoker
