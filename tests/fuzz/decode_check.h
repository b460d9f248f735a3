#ifndef STOKER_TESTS_FUZZ_DECODE_CHECK_H_
#define STOKER_TESTS_FUZZ_DECODE_CHECK_H_

#include <cstdint>
#include <span>

namespace stoker {

// Checks that any file gives pixels or DataLoss, at each size that a JPEG can be reduced to; and that a part of an
// image has the pixels of the whole.
void CheckDecoding(std::span<const uint8_t> file);

}  // namespace stoker

#endif  // STOKER_TESTS_FUZZ_DECODE_CHECK_H_
