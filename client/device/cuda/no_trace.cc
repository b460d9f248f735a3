#include "client/device/trace.h"

namespace stoker {

TraceRange::TraceRange(const char*) {}

TraceRange::~TraceRange() {}

}  // namespace stoker
