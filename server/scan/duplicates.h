#ifndef STOKER_SERVER_SCAN_DUPLICATES_H_
#define STOKER_SERVER_SCAN_DUPLICATES_H_

#include <array>
#include <cstdint>
#include <vector>

#include "server/read/dataset.h"
#include "server/scan/finding.h"

namespace stoker {

// The first 16 bytes of the SHA-256 of a sample's bytes. All zero: they are not known.
using SampleDigest = std::array<uint64_t, 2>;

// Hashes the encoded images of `sample`, so that an image that stands twice with two labels is found. Where `schema`
// has none, hashes all fields. Of each it hashes the length (8 bytes, little-endian) and the bytes. Pure.
SampleDigest DigestOf(const SourceSchema& schema, const SampleBytes& sample);

// Returns a finding for each sample whose digest an earlier one has, in no order; `digests` has one for each of the
// dataset's samples. It takes 8 bytes of memory a sample beside the result.
std::vector<Finding> FindDuplicates(const std::vector<SampleDigest>& digests, const Dataset& dataset);

}  // namespace stoker

#endif  // STOKER_SERVER_SCAN_DUPLICATES_H_
