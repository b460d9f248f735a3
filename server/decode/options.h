#ifndef STOKER_SERVER_DECODE_OPTIONS_H_
#define STOKER_SERVER_DECODE_OPTIONS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "common/fields/schema.h"
#include "server/decode/interrupt.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// What every codec needs to know of the pipeline that an image is decoded for.
struct DecodeOptions {
  // What the file holds: colors, or the values of a label map or a binary map. See DecodePngMap for their pixels.
  enum class Content { kColors, kMap };
  Content content = Content::kColors;

  uint64_t max_pixels = uint64_t{1} << 26;  // the largest width × height of an image
  uint32_t max_scans = 100;                 // the most scans of a progressive JPEG

  // Which of libjpeg's warnings make an image bad. The other codecs have no warnings: they decode or fail.
  v1::DecodeWarnings warnings = v1::DECODE_WARNINGS_FAIL_TRUNCATED;

  // Judges all of the file where the whole image is asked for. A JPEG is then read by libjpeg alone, up to its end
  // marker, so that what is missing or left over after the last pixel counts too.
  bool to_end = false;

  // How long libjpeg may take for one image. The clock is looked at after every few rows, so that some milliseconds
  // more may pass.
  absl::Duration time = absl::Seconds(10);

  // Ends decoding early, with its status, where it is given. It must outlive the decoding.
  const Interrupt* interrupt = nullptr;
};

// Returns what the files of an encoded field hold.
inline DecodeOptions::Content ContentOf(const SourceField& field) {
  return IsMap(field.meaning) ? DecodeOptions::Content::kMap : DecodeOptions::Content::kColors;
}

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_OPTIONS_H_
