#ifndef STOKER_SERVER_DECODE_JPEG_SCANS_H_
#define STOKER_SERVER_DECODE_JPEG_SCANS_H_

#include <cstdint>
#include <span>

namespace stoker {

// Number of scans (SOS markers) in a JPEG file, found without decoding. Never less than libjpeg would read, in
// a damaged file either: it looks for markers where libjpeg does. A file of few bytes may hold thousands of
// scans, each of which costs a walk over all coefficients.
uint64_t CountJpegScans(std::span<const uint8_t> file);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_JPEG_SCANS_H_
