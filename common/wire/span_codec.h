#ifndef STOKER_COMMON_WIRE_SPAN_CODEC_H_
#define STOKER_COMMON_WIRE_SPAN_CODEC_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Spans on the wire: the bytes of a StreamResponse that carries a Span, written and read by hand so that a
// payload is never copied on the server and copied once on the client. Any protobuf implementation reads what
// EncodeSpanPrefix begins, and ParseSpan reads what any writes.
//
// Pure functions: no gRPC, no I/O, thread-safe. Memory: the header's, however long the message claims to be.

// A longer header is refused by both sides: parsed, its smallest fields take some thirty times their bytes.
inline constexpr uint64_t kMaxSpanHeaderBytes = uint64_t{1} << 20;

// Protobuf's own bound of a message.
inline constexpr uint64_t kMaxMessageBytes = (uint64_t{1} << 31) - 1;

// XXH3-64 of a payload, for EncodeSpanPrefix.
uint64_t HashOfPayload(std::span<const uint8_t> payload);

// The bytes that precede the payload in the message: with the payload of `payload_bytes` bytes appended, a complete
// StreamResponse. The checksum is taken here, over the header as serialized and the payload's hash. InvalidArgument,
// with the figures, where header or message exceeds its bound: a span of fewer samples, or without names, fits. The
// header's strings are UTF-8, or no protobuf parser takes the message.
absl::StatusOr<std::string> EncodeSpanPrefix(const v1::SpanHeader& header, uint64_t payload_bytes,
                                             uint64_t payload_hash);

// A message as the slices that it arrived in, in order. Points into them. Any cut will do, empty slices too.
using Slices = std::span<const std::string_view>;

// A span found in a message. Points into the message's slices.
struct SpanMessage {
  v1::SpanHeader header;
  uint64_t checksum = 0;
  std::vector<std::string_view> header_bytes;  // As sent: the checksum covers these,
  std::vector<std::string_view> payload;       // then these.
  uint64_t payload_bytes = 0;
};

// True if the message is a StreamResponse whose first field is a span; otherwise parse it with the generated
// class. Never fails.
bool IsSpan(Slices message);

// Finds header and payload. Copies no payload. Accepts fields in any order, merges repeated ones and skips
// unknown ones, as protobuf does. DataLoss, with the offset, where the bytes are not a StreamResponse with a span
// or exceed kMaxMessageBytes.
//
// Stricter than protobuf in three cases that no encoder of this schema writes: a message with another response
// beside the span, groups outside of the header, a header above its bound. All three are DataLoss.
absl::StatusOr<SpanMessage> ParseSpan(Slices message);

// Copies the payload into `destinations`, in order, verifying the checksum as it goes: the one copy on the
// client. Their sizes add up to span.payload_bytes, or it is InvalidArgument and nothing is copied. DataLoss
// where the checksum differs; the destinations then hold garbage. With no payload it verifies the header.
absl::Status CopyPayload(const SpanMessage& span, std::span<const std::span<uint8_t>> destinations);

}  // namespace stoker

#endif  // STOKER_COMMON_WIRE_SPAN_CODEC_H_
