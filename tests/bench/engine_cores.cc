#include <sched.h>

#include <fstream>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "tests/bench/engine_ways.h"

namespace stoker {

std::vector<int> PhysicalCores() {
  cpu_set_t allowed;
  STOKER_CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  std::vector<int> cores;
  std::set<std::string> seen;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    std::ifstream file(absl::StrCat("/sys/devices/system/cpu/cpu", core, "/topology/thread_siblings_list"));
    std::string siblings;
    if (!std::getline(file, siblings)) siblings = absl::StrCat(core);
    if (seen.insert(siblings).second) cores.push_back(core);
  }
  return cores;
}

void PinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  STOKER_CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
}

}  // namespace stoker
