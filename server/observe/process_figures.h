#ifndef STOKER_SERVER_OBSERVE_PROCESS_FIGURES_H_
#define STOKER_SERVER_OBSERVE_PROCESS_FIGURES_H_

#include <cstdint>
#include <vector>

#include "server/observe/metrics.h"

namespace stoker {

// Returns what Prometheus's own clients tell of their process, by the same names: processor time, memory, descriptors,
// threads and start. Of what /proc does not tell there is nothing.
std::vector<Figure> ProcessFigures();

// Returns how much memory of the process is resident; 0 where /proc does not tell.
uint64_t ResidentBytes();

}  // namespace stoker

#endif  // STOKER_SERVER_OBSERVE_PROCESS_FIGURES_H_
