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

// As Decoder, for BMP, PNM and TIFF files, the other ones that torchvision's image folders hold, by OpenCV. Always
// decodes the whole image. TIFF files of several images show the first.
//
// OpenCV brings 140 libraries and 50 MB along, so it is linked by a module of its own, lib/stoker/stoker-opencv.so
// beside bin/, which is loaded when the first such file comes. Without it they are Unavailable: this machine's fault.
bool IsOther(absl::string_view file);

// Clears what OpenCV would read from the environment: it must not decide what decodes. To be called while the process
// has one thread.
void ForgetOtherEnvironment();

absl::StatusOr<ImageSize> ReadOtherHeader(std::span<const uint8_t> file, const DecodeOptions& options);
absl::Status DecodeOther(std::span<const uint8_t> file, const DecodeOptions& options, const DecodeTarget& target,
                         DecodedImage& image);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_OTHER_H_
