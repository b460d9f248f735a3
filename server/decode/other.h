#ifndef STOKER_SERVER_DECODE_OTHER_H_
#define STOKER_SERVER_DECODE_OTHER_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/decode/image.h"
#include "server/decode/options.h"

namespace stoker {

// BMP, PNM and TIFF files, the other formats of torchvision's image folders. They are decoded by OpenCV, with the
// contract of Decoder, always as whole images. A TIFF file of several images shows the first. The functions are
// thread-safe except where said.
//
// OpenCV brings 140 libraries and 50 MB along, so it is linked by a module of its own: lib/stoker/stoker-opencv.so
// beside bin/. The module is loaded when the first such file is decoded. Where it cannot be loaded, DecodeOther returns
// Unavailable, since the fault is this machine's and not the file's.

// Returns whether the file begins like one of these formats.
bool IsOther(absl::string_view file);

// Clears what OpenCV would read from the environment, which must not decide what decodes. Requires that the process has
// one thread.
void ForgetOtherEnvironment();

// Both functions require that IsOther is true of `file`.
absl::StatusOr<ImageSize> ReadOtherHeader(std::span<const uint8_t> file, const DecodeOptions& options);
absl::Status DecodeOther(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                         DecodedImage& image);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_OTHER_H_
