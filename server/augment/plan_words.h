#ifndef STOKER_SERVER_AUGMENT_PLAN_WORDS_H_
#define STOKER_SERVER_AUGMENT_PLAN_WORDS_H_

#include <string>

#include "server/augment/image_plan.h"

namespace stoker {

// Plans in words for people. All functions are pure.

// Tells what a step does, like "crop, resize to 224×224 (bilinear, antialiased) and flip left and right, in one pass".
std::string WordsOf(const PlannedStep& planned);

// Tells which part of an encoded image is decoded, and from which size of that part on a JPEG is decoded at a reduced
// one.
std::string DecodeWords(const ImagePlan& plan, v1::JpegScaling scaling);

// Writes a size as "640×480", the width first.
std::string SizeWords(ImageSize size);

}  // namespace stoker

#endif  // STOKER_SERVER_AUGMENT_PLAN_WORDS_H_
