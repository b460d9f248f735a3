#ifndef STOKER_SERVER_PLUGIN_TRIAL_H_
#define STOKER_SERVER_PLUGIN_TRIAL_H_

#include "common/fields/image_size.h"

namespace stoker {

// The size of the images that own ops are tried with, before a sample is there. docs/own-ops.md tells it.
inline constexpr ImageSize kTrialSize = {256, 256};

}  // namespace stoker

#endif  // STOKER_SERVER_PLUGIN_TRIAL_H_
