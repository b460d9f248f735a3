#ifndef STOKER_SERVER_AUGMENT_PLAN_WORDS_H_
#define STOKER_SERVER_AUGMENT_PLAN_WORDS_H_

#include <string>

#include "server/augment/image_plan.h"

namespace stoker {

// What a step does, for people: "crop, resize to 224×224 (bilinear, antialiased) and flip, in one pass".
std::string WordsOf(const PlannedStep& planned);

// What of an encoded image is decoded, and when at a reduced size.
std::string DecodeWords(const ImagePlan& plan, v1::JpegScaling scaling);

// "224×224", the width first.
std::string SizeWords(ImageSize size);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_PLAN_WORDS_H_
