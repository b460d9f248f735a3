#include "server/observe/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace stoker {
namespace {

// The fields of /proc/self/stat that follow the program's name, which ends at its last ')': proc(5) counts the first of
// them as 3.
std::vector<std::string> StatFields() {
  std::ifstream file("/proc/self/stat");
  const std::string line(std::istreambuf_iterator<char>(file), {});
  std::istringstream rest(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  return {std::istream_iterator<std::string>(rest), {}};
}

// The second since the epoch at which the machine started; 0 where it is not told.
double BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

// Returns the number in a line of /proc/self/status, such as "VmRSS:    1234 kB"; 0 where there is no such line.
double StatusNumber(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key + ":")) return std::strtod(line.c_str() + key.size() + 1, nullptr);
  return 0;
}

constexpr double kKilobyte = 1024;

double NumberOf(const std::vector<std::string>& fields, size_t number) {
  constexpr size_t kFirst = 3;
  return number - kFirst < fields.size() ? std::strtod(fields[number - kFirst].c_str(), nullptr) : 0;
}

}  // namespace

uint64_t ResidentBytes() { return static_cast<uint64_t>(StatusNumber("VmRSS") * kKilobyte); }

std::vector<Figure> ProcessFigures() {
  std::vector<Figure> figures;
  const auto gauge = [&](const char* name, const char* help, double value) {
    figures.push_back({name, help, false, {}, value});
  };
  const std::vector<std::string> stat = StatFields();
  if (!stat.empty()) {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    figures.push_back({"process_cpu_seconds_total",
                       "Time on processors, of the user and the system.",
                       true,
                       {},
                       (NumberOf(stat, 14) + NumberOf(stat, 15)) / ticks});
    if (const double boot = BootTime(); boot > 0)
      gauge("process_start_time_seconds", "When the process began, since 1970.", boot + NumberOf(stat, 22) / ticks);
  }
  gauge("process_threads", "Threads.", StatusNumber("Threads"));
  gauge("process_virtual_memory_bytes", "Virtual memory.", StatusNumber("VmSize") * kKilobyte);
  gauge("process_resident_memory_bytes", "Resident memory.", static_cast<double>(ResidentBytes()));
  std::error_code error;
  const std::filesystem::directory_iterator open("/proc/self/fd", error);
  // One of them is the folder's own.
  if (!error)
    gauge("process_open_fds", "Open descriptors.", static_cast<double>(std::distance(begin(open), end(open)) - 1));
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
    gauge("process_max_fds", "Descriptors that may be open.", static_cast<double>(limit.rlim_cur));
  return figures;
}

}  // namespace stoker
