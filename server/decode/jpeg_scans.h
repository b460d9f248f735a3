#ifndef STOKER_SERVER_DECODE_JPEG_SCANS_H_
#define STOKER_SERVER_DECODE_JPEG_SCANS_H_

#include <cstdint>
#include <span>

namespace stoker {

// Counts the scans (SOS markers) in a JPEG file without decoding it. A file of few bytes may hold thousands of scans,
// and each costs a walk over all coefficients.
//
// The count is never less than the number of scans that libjpeg would read, in a damaged file either, because it looks
// for markers where libjpeg does. Pure.
uint64_t CountJpegScans(std::span<const uint8_t> file);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_SCANS_H_
