#ifndef STOKER_TESTS_UNIT_SERVER_READ_STAGED_COMPRESSED_H_
#define STOKER_TESTS_UNIT_SERVER_READ_STAGED_COMPRESSED_H_

#include <string>

namespace stoker {

// One gzip member, and one zstd frame with a checksum, that hold `plain`.
std::string Gzipped(const std::string& plain);
std::string Zstandard(const std::string& plain);

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_READ_STAGED_COMPRESSED_H_
