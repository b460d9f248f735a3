#ifndef STOKER_SERVER_WORK_FAIR_SHARES_H_
#define STOKER_SERVER_WORK_FAIR_SHARES_H_

#include <cstdint>
#include <vector>

namespace stoker {

// Divides a whole among parties: evenly, but to none more than its part of `most_percent` (0: no bound). What a bounded
// party leaves goes to the others (max-min fairness: Bertsekas and Gallager, Data Networks, section 6.5.2). Where the
// bounds leave something to nobody, the shares have a sum below 1. Each is above 0. Pure.
std::vector<double> FairShares(const std::vector<uint32_t>& most_percent);

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_FAIR_SHARES_H_
