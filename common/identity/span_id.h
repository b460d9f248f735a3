#ifndef STOKER_COMMON_IDENTITY_SPAN_ID_H_
#define STOKER_COMMON_IDENTITY_SPAN_ID_H_

#include <compare>
#include <cstdint>

namespace stoker {

// Names a span within a job: positions [start, start + count) of an epoch. A value, ordered as spans are needed.
struct SpanId {
  uint64_t epoch = 0;
  uint64_t start = 0;
  uint32_t count = 0;

  friend auto operator<=>(const SpanId&, const SpanId&) = default;
};

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_SPAN_ID_H_
