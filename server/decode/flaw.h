#ifndef STOKER_SERVER_DECODE_FLAW_H_
#define STOKER_SERVER_DECODE_FLAW_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace stoker {

// What is wrong with an image file, for those who sort errors. People read the error's message. The functions are pure.
enum class Flaw {
  kDamaged,     // anything else
  kTruncated,   // The file ends before the image does.
  kNotAnImage,  // It is of no format that the decoder knows, or has no picture.
  kOverLimits,  // It is larger than DecodeOptions allow.
};

// Returns DataLoss with `message`, which FlawOf gives `flaw` for.
absl::Status FlawError(Flaw flaw, absl::string_view message);

// Returns the flaw that `status` was made with, and kDamaged for any other error.
Flaw FlawOf(const absl::Status& status);

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_FLAW_H_
