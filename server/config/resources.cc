#include "server/config/resources.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace stoker {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder and those above it, innermost first: `path` below `hierarchy`, and `hierarchy` itself.
std::vector<std::string> WithAncestors(const std::string& hierarchy, std::string path) {
  std::vector<std::string> folders;
  while (!path.empty() && path != "/") {
    folders.push_back(hierarchy + path);
    path.resize(path.rfind('/'));
  }
  folders.push_back(hierarchy);
  return folders;
}

// The folders of the process's cgroups that may limit what `controller` ("cpu" or "memory") controls, each of them: of
// version 2, whose line is 0::PATH, and of version 1, where each hierarchy has a line N:CONTROLLER,…:PATH, and a folder
// that is named like one of its controllers or like all. In a container the path may be the host's, and the folder is
// mounted without it.
std::vector<std::string> CgroupFolders(const std::string& root, absl::string_view controller) {
  const std::string all = root + "/sys/fs/cgroup";
  std::vector<std::string> folders = {all, absl::StrCat(all, "/", controller)};
  const auto add = [&](const std::string& hierarchy, absl::string_view path) {
    for (std::string& folder : WithAncestors(hierarchy, std::string(path))) folders.push_back(std::move(folder));
  };
  const std::string cgroups = ReadText(root + "/proc/self/cgroup");
  for (const absl::string_view line : absl::StrSplit(cgroups, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    if (parts[1].empty()) add(all, parts[2]);
    const std::vector<absl::string_view> controllers = absl::StrSplit(parts[1], ',');
    if (std::find(controllers.begin(), controllers.end(), controller) == controllers.end()) continue;
    add(absl::StrCat(all, "/", controller), parts[2]);
    if (controllers.size() > 1) add(absl::StrCat(all, "/", parts[1]), parts[2]);
  }
  return folders;
}

}  // namespace

int CpusOfQuota(const std::string& cpu_max) {
  std::istringstream text(cpu_max);
  int64_t quota = 0, period = 0;
  if (!(text >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

int AvailableCpus(const std::string& root) {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cpus =
      sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  for (const std::string& folder : CgroupFolders(root, "cpu")) {
    const std::string v1 =
        absl::StrCat(ReadText(folder + "/cpu.cfs_quota_us"), " ", ReadText(folder + "/cpu.cfs_period_us"));
    for (const std::string& limit : {ReadText(folder + "/cpu.max"), v1})
      if (int quota = CpusOfQuota(limit); quota > 0) cpus = std::min(cpus, quota);
  }
  return std::max(cpus, 1);
}

std::vector<int> CpusOfList(const std::string& list) {
  std::vector<int> cpus;
  for (absl::string_view range : absl::StrSplit(absl::StripAsciiWhitespace(list), ',')) {
    const std::vector<absl::string_view> ends = absl::StrSplit(range, absl::MaxSplits('-', 1));
    int first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last)) return {};
    if (first < 0 || last >= CPU_SETSIZE) return {};
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<std::vector<int>> NumaNodes(const std::string& root) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  std::map<int, std::vector<int>> nodes;  // in order
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/sys/devices/system/node", error)) {
    const std::string name = entry.path().filename().string();
    int node = 0;
    if (!absl::StartsWith(name, "node") || !absl::SimpleAtoi(name.substr(4), &node)) continue;
    for (int cpu : CpusOfList(ReadText(entry.path().string() + "/cpulist")))
      if (CPU_ISSET(cpu, &allowed)) nodes[node].push_back(cpu);
  }
  std::vector<std::vector<int>> all;
  all.reserve(nodes.size());
  for (auto& [node, cpus] : nodes) all.push_back(std::move(cpus));
  return all;
}

uint64_t AvailableMemory(const std::string& root) {
  uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const std::string& folder : CgroupFolders(root, "memory"))
    for (const char* file : {"/memory.max", "/memory.limit_in_bytes"}) {
      uint64_t most = 0;
      if (absl::SimpleAtoi(ReadText(folder + file), &most) && most > 0) bytes = std::min(bytes, most);
    }
  return bytes;
}

uint64_t AvailableFiles() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

void RaiseFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace stoker
