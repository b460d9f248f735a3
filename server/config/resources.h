#ifndef STOKER_SERVER_CONFIG_RESOURCES_H_
#define STOKER_SERVER_CONFIG_RESOURCES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace stoker {

// These functions say what this process may use of the machine. Each call reads it anew. Thread-safe. Limits are those
// of the process's cgroups, of version 2 or 1, and of all above them. `root` is the folder that has /proc and /sys, for
// tests.

// The number of CPUs that the affinity mask and the cgroups' quotas, rounded up, allow, at least 1.
int AvailableCpus(const std::string& root = "");

// Bytes of memory that the process may use: the machine's, or the cgroups' lowest limit if that is lower.
uint64_t AvailableMemory(const std::string& root = "");

// The number of files, connections among them, that the process may have open at once.
uint64_t AvailableFiles();

// Raises that number as far as the process may: many systems start it at 1024, for programs that use select().
void RaiseFileLimit();

// The CPUs of each NUMA node that has any which the calling thread may run on. Empty where the kernel tells of no
// nodes.
std::vector<std::vector<int>> NumaNodes(const std::string& root = "");

// The CPUs of a kernel's list: 0, 1, 2, 3, 8 for "0-3,8". Empty where it is none.
std::vector<int> CpusOfList(const std::string& list);

// The number of CPUs, rounded up, that the text of a cgroup v2 `cpu.max` allows: 2 for "200000 100000". Returns 0 if it
// sets no limit ("max 100000") or cannot be read.
int CpusOfQuota(const std::string& cpu_max);

}  // namespace stoker

#endif  // STOKER_SERVER_CONFIG_RESOURCES_H_
