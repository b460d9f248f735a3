#ifndef STOKER_COMMON_IDENTITY_SUBSET_H_
#define STOKER_COMMON_IDENTITY_SUBSET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// What client and server must agree on about the parts of datasets. All functions are pure.

// OK if `subset` is within the bounds of data_service.proto and no range ends before it begins, whatever dataset it is
// of. InvalidArgument names the condition.
absl::Status ValidateSubset(const v1::Subset& subset);

// Returns the hash of a sample's name that HashRange speaks of: its XXH3-64 with `split_seed` as the seed.
uint64_t HashOfName(std::string_view name, uint64_t split_seed);

// Restricts `subset`, which has no slices yet, to what `split` says. That is a slice, or several joined by "+":
//
//   [:90%]  [90%:]  [12.5%:25%]  [:1/3]     parts by the hash of samples' names, as percentages or fractions
//   [:50000]  [-1000:]  [5:6]               ranges of ids, as Python has them
//
// Parts of equal size by different words, such as [:50%] and [:1/2], are the same samples. A percentage has up to 7
// digits behind the point, and a fraction's denominator is at most 10^9. InvalidArgument says what cannot be
// understood, what lies above 100%, and that percentages and ids cannot be mixed.
absl::Status ParseSplit(std::string_view split, v1::Subset& subset);

// Restricts `subset` to the samples with these ids. InvalidArgument names an id that stands there twice, or says that
// the subset has ids already.
absl::Status AddIds(std::vector<uint64_t> ids, v1::Subset& subset);

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_SUBSET_H_
