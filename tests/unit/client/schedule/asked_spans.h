#ifndef STOKER_TESTS_UNIT_CLIENT_SCHEDULE_ASKED_SPANS_H_
#define STOKER_TESTS_UNIT_CLIENT_SCHEDULE_ASKED_SPANS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "common/identity/span_id.h"

namespace stoker {

// When the first span is asked for, and of how many bytes each is.
inline constexpr absl::Time kStart = absl::UnixEpoch();
inline constexpr uint64_t kBytes = 1 << 20;

inline SpanId Span(uint64_t start) { return {0, start, 1}; }

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_CLIENT_SCHEDULE_ASKED_SPANS_H_
