#ifndef STOKER_TESTS_UNIT_SERVER_AUGMENT_REFERENCE_H_
#define STOKER_TESTS_UNIT_SERVER_AUGMENT_REFERENCE_H_

#include <span>
#include <vector>

#include "common/ops/parameters.h"
#include "server/decode/image.h"

namespace stoker {

// A whole image, packed RGB.
struct ReferenceImage {
  ImageSize size;
  std::vector<uint8_t> pixels;

  const uint8_t* At(int64_t y, int64_t x) const { return &pixels[(y * size.width + x) * 3]; }
  ImageView view() const { return {pixels.data(), size, static_cast<ptrdiff_t>(size.width * 3)}; }
};

// Applies each of `ops` to the whole image that the op before it made. No op is merged, moved or left out. Geometry is
// written out pixel by pixel. The other ops are those of the server, which have their own tests.
ReferenceImage ApplyOneByOne(ReferenceImage image, std::span<const OpParameters> ops);

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_AUGMENT_REFERENCE_H_
