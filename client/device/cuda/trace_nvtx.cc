#include <nvtx3/nvToolsExt.h>

#include "client/device/trace.h"

namespace stoker {
namespace {

// NVTX makes itself ready in the first call of any of its functions, and other threads read what that writes without a
// lock. The first range of the process does it here, and all others wait for that.
void MakeReady() {
  static const bool ready = [] {
    nvtxInitialize(nullptr);
    return true;
  }();
  static_cast<void>(ready);
}

}  // namespace

TraceRange::TraceRange(const char* name) {
  MakeReady();
  nvtxRangePushA(name);
}

TraceRange::~TraceRange() { nvtxRangePop(); }

}  // namespace stoker
