// Any file gives pixels or DataLoss, the same from Decode as from ReadHeader; and a part of an image has the pixels
// of the whole.
//
// Input: the file.

#include <algorithm>
#include <cstring>

#include "common/check.h"
#include "server/decode/decoder.h"

namespace stoker {
namespace {

constexpr v1::DecodeWarnings kPolicies[] = {v1::DECODE_WARNINGS_FAIL_TRUNCATED, v1::DECODE_WARNINGS_FAIL,
                                            v1::DECODE_WARNINGS_IGNORE};

// A rectangle that depends on the file alone.
Region SomeRegion(ImageSize size, size_t file_bytes) {
  const int64_t top = file_bytes % size.height, left = file_bytes % size.width;
  return {top, left, {(size.height - top + 1) / 2, (size.width - left + 1) / 2}};
}

void CheckSamePixels(const DecodedImage& part, const DecodedImage& whole) {
  for (int64_t y = 0; y < part.region.size.height; ++y)
    STOKER_CHECK(std::memcmp(part.view().Row(y), whole.view().Row(part.region.top + y) + part.region.left * 3,
                             part.region.size.width * 3) == 0);
}

void Decode(std::span<const uint8_t> file, const Decoder::Options& options) {
  static Decoder decoder;  // Reused: no file may spoil it for the next.
  static DecodedImage whole, part;
  const absl::StatusOr<ImageSize> size = decoder.ReadHeader(file, options);
  if (!size.ok()) {
    STOKER_CHECK(absl::IsDataLoss(size.status()));
    STOKER_CHECK(decoder.Decode(file, options, {0, 0, {1, 1}}, whole) == size.status());
    return;
  }
  const absl::Status status = decoder.Decode(file, options, WholeOf(*size), whole);
  if (!status.ok()) return STOKER_CHECK(absl::IsDataLoss(status));
  const Region needed = SomeRegion(*size, file.size());
  STOKER_CHECK(decoder.Decode(file, options, needed, part).ok());
  STOKER_CHECK(part.region.Contains(needed));
  CheckSamePixels(part, whole);
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (stoker::v1::DecodeWarnings policy : stoker::kPolicies)
    stoker::Decode({data, size}, {.max_pixels = 1 << 16, .max_scans = 20, .warnings = policy});
  return 0;
}
