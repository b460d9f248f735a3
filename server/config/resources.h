#ifndef STOKER_SERVER_CONFIG_RESOURCES_H_
#define STOKER_SERVER_CONFIG_RESOURCES_H_

#include <cstdint>
#include <string>

namespace stoker {

// What this process may use of the machine. Read anew at each call; thread-safe.

// CPUs that affinity and the cgroup's quota (v2 or v1, rounded up) allow, at least 1.
int AvailableCpus();

// Bytes of memory: the machine's, or the cgroup's limit if that is lower.
uint64_t AvailableMemory();

// The CPUs that a cgroup v2 `cpu.max` ("200000 100000", "max 100000") allows; 0 for no limit or nonsense.
int CpusOfQuota(const std::string& cpu_max);

}  // namespace stoker

#endif  // STOKER_SERVER_CONFIG_RESOURCES_H_
