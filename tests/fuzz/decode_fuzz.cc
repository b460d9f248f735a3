// Any file gives pixels or DataLoss, at each size that a JPEG can be reduced to, as an image and as a map; and a part
// of an image has the pixels of the whole. Input: the file; the corpora have one format each.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/check.h"
#include "server/decode/decoder.h"
#include "server/decode/libjpeg.h"
#include "server/decode/magic.h"

namespace stoker {
namespace {

constexpr v1::DecodeWarnings kPolicies[] = {v1::DECODE_WARNINGS_FAIL_TRUNCATED, v1::DECODE_WARNINGS_FAIL,
                                            v1::DECODE_WARNINGS_IGNORE};

// A rectangle that depends on the file alone.
Region SomeRegion(ImageSize size, size_t file_bytes) {
  const int64_t top = file_bytes % size.height, left = file_bytes % size.width;
  return {top, left, {(size.height - top + 1) / 2, (size.width - left + 1) / 2}};
}

void CheckSamePixels(const DecodedImage& part, const DecodedImage& whole, const Region& region) {
  STOKER_CHECK(part.region.Contains(region) && part.eighths == whole.eighths);
  for (int64_t y = region.top; y < region.bottom(); ++y)
    for (int64_t x = region.left; x < region.right(); ++x)
      STOKER_CHECK(std::memcmp(part.view().At(y - part.region.top, x - part.region.left), whole.view().At(y, x), 3) ==
                   0);
}

// Where libjpeg decodes the file as well, it gives the same pixels.
void CheckAgainstLibjpeg(std::span<const uint8_t> file, const DecodeOptions& options, ImageSize size,
                         const DecodedImage& whole) {
  static DecodedImage expected;
  LibjpegDecoder libjpeg;
  if (!libjpeg.Open(file, options).ok() || !libjpeg.Decode({WholeOf(size), whole.eighths}, expected).ok()) return;
  CheckSamePixels(expected, whole, Reduced(WholeOf(size), whole.eighths));
}

void Check(std::span<const uint8_t> file, const DecodeOptions& options) {
  static Decoder decoder;  // Reused: no file may spoil it for the next.
  static DecodedImage whole, part;
  const absl::StatusOr<ImageSize> size = decoder.Open(file, options);
  if (!size.ok()) return STOKER_CHECK(absl::IsDataLoss(size.status()));
  const int eighths = 1 << (file.size() / 3 % 4);
  const absl::Status status = decoder.Decode({WholeOf(*size), eighths}, whole);
  if (!status.ok()) return STOKER_CHECK(absl::IsDataLoss(status));
  if (IsJpeg(AsText(file))) CheckAgainstLibjpeg(file, options, *size, whole);
  const Region needed = SomeRegion(*size, file.size());
  STOKER_CHECK(decoder.Decode({needed, eighths}, part).ok());
  CheckSamePixels(part, whole, Reduced(needed, whole.eighths));
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (stoker::v1::DecodeWarnings policy : stoker::kPolicies)
    stoker::Check({data, size},
                  {.max_pixels = 1 << 16, .max_scans = 20, .warnings = policy, .time = absl::InfiniteDuration()});
  stoker::Check({data, size}, {.content = stoker::DecodeOptions::Content::kMap, .max_pixels = 1 << 16});
  return 0;
}
