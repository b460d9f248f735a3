#include <nvtx3/nvToolsExt.h>

#include "client/device/trace.h"

namespace stoker {

TraceRange::TraceRange(const char* name) { nvtxRangePushA(name); }

TraceRange::~TraceRange() { nvtxRangePop(); }

}  // namespace stoker
