#ifndef STOKER_SERVER_READ_FORMATS_MAPPING_IMAGE_MAGIC_H_
#define STOKER_SERVER_READ_FORMATS_MAPPING_IMAGE_MAGIC_H_

#include <cstdint>
#include <span>

namespace stoker {

// Whether `bytes` begin as an image file does: JPEG, PNG, WebP, GIF, BMP, TIFF, or pixels that
// `stokerd prepare` packed. It tells images from other bytes
// where a format does not; whether they decode, decoders say. Pure; any bytes are safe.
bool BeginsAsImage(std::span<const uint8_t> bytes);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_MAPPING_IMAGE_MAGIC_H_
