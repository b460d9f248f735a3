#ifndef STOKER_COMMON_IDENTITY_SPAN_ID_H_
#define STOKER_COMMON_IDENTITY_SPAN_ID_H_

#include <compare>
#include <cstdint>
#include <utility>

namespace stoker {

// Names a span within a job: positions [start, start + count) of an epoch. A value; orders by need.
struct SpanId {
  uint64_t epoch = 0;
  uint64_t start = 0;
  uint32_t count = 0;

  friend auto operator<=>(const SpanId&, const SpanId&) = default;

  template <typename H>
  friend H AbslHashValue(H hash, const SpanId& span) {
    return H::combine(std::move(hash), span.epoch, span.start, span.count);
  }
};

}  // namespace stoker

#endif  // STOKER_COMMON_IDENTITY_SPAN_ID_H_
