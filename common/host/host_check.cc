#include "common/host/host_check.h"

#include <sys/resource.h>
#include <sys/timex.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/config/byte_size.h"

namespace stoker {
namespace {

constexpr uint64_t kLeastFiles = 65536;
constexpr uint64_t kKilobyte = 1024;
constexpr double kMostPressure = 10;  // percent of a minute in which something waited
constexpr uint64_t kLeastSocketBytes = uint64_t{4}
                                       << 20;  // what Linux gives since 2.6.17, and less is somebody's doing
constexpr uint64_t kFastMegabits = 10'000, kJumbo = 8'900;

// Returns the text of a file; "" where there is none, or it cannot be read, as the speed of a network that is down.
std::string Read(const Host& host, const std::string& path) {
  std::ifstream file(host.root + path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::string(absl::StripAsciiWhitespace(text.str()));
}

std::optional<uint64_t> Number(const std::string& text) {
  uint64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) return std::nullopt;
  return number;
}

// The names in a folder, in order; none where there is none.
std::vector<std::string> NamesIn(const Host& host, const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(host.root + path, error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The numbers of files such as /proc/meminfo, whose lines are "SwapTotal:   8388604 kB".
std::map<std::string, uint64_t> NumbersOf(const std::string& text) {
  std::map<std::string, uint64_t> numbers;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    std::istringstream words{std::string(line)};
    std::string key;
    uint64_t number = 0;
    if (words >> key >> number) numbers[std::string(absl::StripSuffix(key, ":"))] = number;
  }
  return numbers;
}

// The one of several words that stands in brackets: "always [madvise] never".
std::string Chosen(const std::string& text) {
  const size_t open = text.find('['), close = text.find(']');
  return open == std::string::npos || close == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
}

std::string LimitText(uint64_t limit) { return limit == UINT64_MAX ? "no limit" : absl::StrCat(limit); }

using Findings = std::vector<HostFinding>;

void CheckLimits(const Host& host, Findings& findings) {
  HostFinding files = {"open files", LimitText(host.open_files)};
  if (host.open_files < kLeastFiles) {
    files.why = "connections and shards take a file each";
    files.remedy = absl::StrCat("LimitNOFILE=", kLeastFiles, " in the unit, or ulimit -n ", kLeastFiles);
  }
  findings.push_back(files);
  findings.push_back(
      {"locked memory", host.locked_bytes == UINT64_MAX ? "no limit" : FormatByteSize(host.locked_bytes)});
}

void CheckMemory(const Host& host, Findings& findings) {
  auto memory = NumbersOf(Read(host, "/proc/meminfo"));
  if (memory.contains("SwapTotal")) {
    const uint64_t total = memory["SwapTotal"] * kKilobyte, used = total - memory["SwapFree"] * kKilobyte;
    HostFinding swap = {"swap", absl::StrCat(FormatByteSize(used), " of ", FormatByteSize(total), " in use")};
    if (used > total / 20) {
      swap.why = "memory that is swapped out comes back page by page, in the middle of a batch";
      swap.remedy = "swapoff -a, or MemorySwapMax=0 in the unit; else lower memory_limit or prefetch_bytes";
    }
    findings.push_back(swap);
  }
  if (const std::string defrag = Chosen(Read(host, "/sys/kernel/mm/transparent_hugepage/defrag")); !defrag.empty()) {
    HostFinding pages = {
        "transparent huge pages",
        absl::StrCat(Chosen(Read(host, "/sys/kernel/mm/transparent_hugepage/enabled")), ", defrag ", defrag)};
    if (defrag == "always") {
      pages.why = "threads stop while the kernel makes room for a large page";
      pages.remedy = "echo defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag";
    }
    findings.push_back(pages);
  }
  if (const auto reclaim = Number(Read(host, "/proc/sys/vm/zone_reclaim_mode")); reclaim.value_or(0) != 0)
    findings.push_back({"zone_reclaim_mode", absl::StrCat(*reclaim),
                        "files leave the page cache although other nodes have memory",
                        "sysctl vm.zone_reclaim_mode=0"});
}

void CheckPressure(const Host& host, Findings& findings) {
  const std::map<std::string, std::string> remedies = {
      {"cpu", "nothing, where stokerd alone is busy; else fewer processes beside it"},
      {"memory", "lower memory_limit, or more memory"},
      {"io", "raw_cache on a faster disk, or more of the set in memory"}};
  for (const auto& [resource, remedy] : remedies) {
    const std::string text = Read(host, "/proc/pressure/" + resource);
    const size_t at = text.find("avg60=");
    double percent = 0;
    if (at == std::string::npos || !absl::SimpleAtod(text.substr(at + 6, text.find(' ', at) - at - 6), &percent))
      continue;
    HostFinding pressure = {resource + " pressure", absl::StrCat(percent, " % of the last minute")};
    if (percent > kMostPressure) {
      pressure.why = "something waited for it";
      pressure.remedy = remedy;
    }
    findings.push_back(pressure);
  }
  const auto throttled = NumbersOf(Read(host, "/sys/fs/cgroup/cpu.stat"));
  if (const auto times = throttled.find("nr_throttled"); times != throttled.end() && times->second > 0)
    findings.push_back({"cgroup", absl::StrCat("throttled ", times->second, " times"),
                        "all threads stop when the group's time is used up",
                        "raise the limit on CPUs, or give fewer workers"});
}

void CheckProcessors(const Host& host, HostRole role, Findings& findings) {
  std::vector<std::string> nodes;
  for (const std::string& name : NamesIn(host, "/sys/devices/system/node"))
    if (name.size() > 4 && name.starts_with("node") && Number(name.substr(4)).has_value()) nodes.push_back(name);
  if (!nodes.empty()) {
    HostFinding numa = {"NUMA nodes", absl::StrCat(nodes.size())};
    if (nodes.size() > 1 && role == HostRole::kTrainer) {  // A server binds its workers itself.
      numa.why = "batches may lie in memory of another node than the GPU's";
      numa.remedy = "numactl --cpunodebind=N --membind=N for each process, with its GPU's node: nvidia-smi topo -m";
    }
    findings.push_back(numa);
  }
  std::set<std::string> governors;
  for (const std::string& name : NamesIn(host, "/sys/devices/system/cpu")) {
    const std::string governor =
        Read(host, absl::StrCat("/sys/devices/system/cpu/", name, "/cpufreq/scaling_governor"));
    if (!governor.empty()) governors.insert(governor);
  }
  if (!governors.empty()) {
    HostFinding governor = {"CPU governor", absl::StrJoin(governors, ", ")};
    if (governors != std::set<std::string>{"performance"}) {
      governor.why = "processors start slowly after a pause";
      governor.remedy = "cpupower frequency-set -g performance";
    }
    findings.push_back(governor);
  }
}

void CheckNetwork(const Host& host, Findings& findings) {
  for (const char* name : {"tcp_rmem", "tcp_wmem"}) {
    const std::string text = Read(host, absl::StrCat("/proc/sys/net/ipv4/", name));
    const std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    const auto most = words.size() == 3 ? Number(words[2]) : std::nullopt;
    if (!most.has_value()) continue;
    HostFinding buffer = {name, absl::StrCat("up to ", FormatByteSize(*most))};
    if (*most < kLeastSocketBytes) {
      buffer.why = "a connection over a long way cannot be filled";
      buffer.remedy = absl::StrCat("sysctl net.ipv4.", name, "=\"", words[0], " ", words[1], " 16777216\"");
    }
    findings.push_back(buffer);
  }
  for (const std::string& name : NamesIn(host, "/sys/class/net")) {
    const std::string folder = absl::StrCat("/sys/class/net/", name);
    const auto mtu = Number(Read(host, folder + "/mtu")), speed = Number(Read(host, folder + "/speed"));
    if (name == "lo" || !mtu.has_value() || Read(host, folder + "/operstate") == "down") continue;
    HostFinding link = {"network " + name,
                        absl::StrCat("MTU ", *mtu, speed.has_value() ? absl::StrCat(", ", *speed, " Mbit/s") : "")};
    if (speed.value_or(0) >= kFastMegabits && *mtu < kJumbo) {
      link.why = "small packets cost processor time at this speed";
      link.remedy = absl::StrCat("ip link set ", name, " mtu 9000, if every switch and host on the way takes that");
    }
    findings.push_back(link);
  }
}

void CheckClock(const Host& host, Findings& findings) {
  HostFinding clock = {"clock", host.clock_is_synchronized ? "synchronized" : "not synchronized"};
  if (!host.clock_is_synchronized) {
    clock.why = "certificates and tokens are valid for a time, and logs of several machines are read together";
    clock.remedy = "timedatectl set-ntp true, or chrony";
  }
  findings.push_back(clock);
  const std::string source = Read(host, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (source.empty()) return;
  HostFinding found = {"clock source", source};
  if (source == "hpet" || source == "acpi_pm" || source == "jiffies") {
    found.why = "reading the time takes a microsecond and more, and stages are timed";
    found.remedy = "find out from the kernel's log why tsc was given up";
  }
  findings.push_back(found);
}

// What else the training process starts: libraries that take all processors in each of several ranks.
void CheckLibraries(const Host& host, Findings& findings) {
  const std::string threads = host.environment("OMP_NUM_THREADS");
  const auto ranks = Number(host.environment("LOCAL_WORLD_SIZE"));
  HostFinding found = {"OMP_NUM_THREADS", threads.empty() ? "not set" : threads};
  if (threads.empty() && ranks.value_or(1) > 1) {
    found.why = absl::StrCat("each of ", *ranks, " ranks starts as many threads as there are processors");
    found.remedy = "OMP_NUM_THREADS=1, or processors by ranks";
  }
  findings.push_back(found);
}

}  // namespace

Host Host::This(HostRole role) {
  const auto limit_of = [role](auto resource) {
    rlimit limit = {};
    if (getrlimit(resource, &limit) != 0) return UINT64_MAX;
    const rlim_t holds = role == HostRole::kServer ? limit.rlim_max : limit.rlim_cur;
    return holds == RLIM_INFINITY ? UINT64_MAX : static_cast<uint64_t>(holds);
  };
  timex clock = {};
  return {.open_files = limit_of(RLIMIT_NOFILE),
          .locked_bytes = limit_of(RLIMIT_MEMLOCK),
          .clock_is_synchronized = adjtimex(&clock) != TIME_ERROR,
          .environment = [](const char* name) {
            const char* const value = std::getenv(name);
            return std::string(value == nullptr ? "" : value);
          }};
}

std::vector<HostFinding> CheckHost(const Host& host, HostRole role) {
  Findings findings;
  CheckLimits(host, findings);
  CheckMemory(host, findings);
  CheckPressure(host, findings);
  CheckProcessors(host, role, findings);
  CheckNetwork(host, findings);
  CheckClock(host, findings);
  if (role == HostRole::kTrainer) CheckLibraries(host, findings);
  return findings;
}

std::string HostReport(const std::vector<HostFinding>& findings) {
  std::string report;
  size_t bad = 0;
  for (const HostFinding& finding : findings) {
    const bool is_good = finding.why.empty();
    bad += is_good ? 0 : 1;
    absl::StrAppend(&report, is_good ? "ok    " : "look  ", finding.what, ": ", finding.value, "\n");
    if (!is_good) absl::StrAppend(&report, "        ", finding.why, "\n        → ", finding.remedy, "\n");
  }
  return absl::StrCat(report, bad, " of ", findings.size(), " findings deserve a look\n");
}

}  // namespace stoker
