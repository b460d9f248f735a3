#include "server/config/resources.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace stoker {
namespace {

constexpr char kCgroupRoot[] = "/sys/fs/cgroup";

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The folders of the process's cgroup v2 and its ancestors, innermost first. Each of them may set a limit.
std::vector<std::string> CgroupFolders() {
  std::string path;
  for (absl::string_view line : absl::StrSplit(ReadText("/proc/self/cgroup"), '\n'))
    if (absl::ConsumePrefix(&line, "0::")) path = std::string(line);
  std::vector<std::string> folders;
  while (!path.empty() && path != "/") {
    folders.push_back(kCgroupRoot + path);
    path.resize(path.rfind('/'));
  }
  folders.push_back(kCgroupRoot);
  return folders;
}

}  // namespace

int CpusOfQuota(const std::string& cpu_max) {
  std::istringstream text(cpu_max);
  int64_t quota = 0, period = 0;
  if (!(text >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

int AvailableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cpus =
      sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  for (const std::string& folder : CgroupFolders())
    if (int quota = CpusOfQuota(ReadText(folder + "/cpu.max")); quota > 0) cpus = std::min(cpus, quota);
  const std::string v1 = absl::StrCat(ReadText(absl::StrCat(kCgroupRoot, "/cpu/cpu.cfs_quota_us")), " ",
                                      ReadText(absl::StrCat(kCgroupRoot, "/cpu/cpu.cfs_period_us")));
  if (int quota = CpusOfQuota(v1); quota > 0) cpus = std::min(cpus, quota);
  return std::max(cpus, 1);
}

uint64_t AvailableMemory() {
  uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  auto limit = [&](const std::string& file) {
    uint64_t most = 0;
    if (absl::SimpleAtoi(ReadText(file), &most) && most > 0) bytes = std::min(bytes, most);
  };
  for (const std::string& folder : CgroupFolders()) limit(folder + "/memory.max");
  limit(absl::StrCat(kCgroupRoot, "/memory/memory.limit_in_bytes"));
  return bytes;
}

}  // namespace stoker
