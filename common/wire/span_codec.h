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
// EncodeSpan writes, and ParseSpan reads what any writes.
//
// Pure functions: no gRPC, no I/O, thread-safe.

// The bytes that precede the payload in the message: with `payload` appended, a complete StreamResponse.
// The checksum is taken here, over the header as serialized and the payload.
std::string EncodeSpanPrefix(const v1::SpanHeader& header, std::span<const uint8_t> payload);

// A message as the slices that it arrived in, in order. Points into them.
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

// Finds header and payload. Copies no payload. Accepts fields in any order and skips unknown ones, as
// protobuf does. DataLoss, with the offset, where the bytes are not a StreamResponse with one span.
absl::StatusOr<SpanMessage> ParseSpan(Slices message);

// Copies the payload into `destinations`, in order, verifying the checksum as it goes: the one copy on the
// client. Their sizes add up to span.payload_bytes, or it is InvalidArgument and nothing is copied. DataLoss
// where the checksum differs; the destinations then hold garbage.
absl::Status CopyPayload(const SpanMessage& span, std::span<const std::span<uint8_t>> destinations);

}  // namespace stoker

#endif  // STOKER_COMMON_WIRE_SPAN_CODEC_H_
