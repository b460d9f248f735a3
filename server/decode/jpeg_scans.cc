#include "server/decode/jpeg_scans.h"

#include <cstring>

namespace stoker {
namespace {

// Marker codes (ITU-T T.81, table B.1).
constexpr uint8_t kFirstSegment = 0xc0;  // Below are stuffed zeros, TEM and reserved codes, which libjpeg skips.
constexpr uint8_t kRestart0 = 0xd0, kStartOfImage = 0xd8, kEndOfImage = 0xd9, kScan = 0xda, kFill = 0xff;

// Returns whether a length and a segment of that many bytes follow the marker.
bool HasSegment(uint8_t code) {
  return code >= kFirstSegment && code != kFill && !(code >= kRestart0 && code <= kStartOfImage);
}

}  // namespace

uint64_t CountJpegScans(std::span<const uint8_t> file) {
  uint64_t scans = 0;
  size_t at = 0;
  while (at < file.size()) {
    const void* prefix = std::memchr(file.data() + at, 0xff, file.size() - at);
    if (prefix == nullptr) break;
    at = static_cast<const uint8_t*>(prefix) - file.data() + 1;
    if (at + 2 >= file.size()) break;
    const uint8_t code = file[at];
    if (code == kEndOfImage) break;
    if (code == kScan) ++scans;
    if (HasSegment(code)) at += 1 + (file[at + 1] << 8 | file[at + 2]);
  }
  return scans;
}

}  // namespace stoker
