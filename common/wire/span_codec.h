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

// Writes and reads spans on the wire: StreamResponse messages that carry a Span. This is done by hand, so that a
// payload is never copied on the server and copied once on the client. Any protobuf implementation can read what is
// written here, and ParseSpan reads what any of them writes. The writer lays a message out as below, where
// the header has H bytes and the payload P. Sizes in bytes stand above; a varint has 1 to 5. An empty payload and its
// tag are left out.
//
//     1   varint    1 varint     H        1       8       1 varint     P
//   ┌────┬────────┬────┬───┬────────────┬────┬──────────┬────┬───┬───────────┐
//   │0x12│ length │0x0a│ H │ SpanHeader │0x11│ checksum │0x1a│ P │  payload  │
//   └────┴────────┴────┴───┴────────────┴────┴──────────┴────┴───┴───────────┘
//   span          header                checksum        payload
//   └───────────────────── EncodeSpanPrefix ─────────────────────┘
//                 └───────────────────────── length ─────────────────────────┘
//
//   checksum  fixed64, low byte first: XXH3-64 of the H bytes of the header, its seed the XXH3-64 of the payload
//   payload   field by field: see SpanWriter in server/pack
//
// Pure functions, thread-safe, without gRPC or I/O. They allocate memory for the header only, at most some thirty times
// kMaxSpanHeaderBytes, whatever lengths the message claims; their time is in proportion to the message and its slices.

// Both sides refuse a longer header: once parsed, its smallest fields take some thirty times their bytes.
inline constexpr uint64_t kMaxSpanHeaderBytes = uint64_t{1} << 20;

// This is protobuf's own bound of a message.
inline constexpr uint64_t kMaxMessageBytes = (uint64_t{1} << 31) - 1;

// Returns the XXH3-64 of a payload, for EncodeSpanPrefix.
uint64_t HashOfPayload(std::span<const uint8_t> payload);

// Returns the bytes that precede the payload in the message. With a payload of `payload_bytes` bytes appended they are
// a complete StreamResponse. The checksum is computed here, from the serialized header and `payload_hash`.
//
// InvalidArgument, with the figures, if header or message exceeds its bound; fewer samples or no names make it fit.
// Requires that the header's strings are UTF-8, since protobuf parsers refuse others.
absl::StatusOr<std::string> EncodeSpanPrefix(const v1::SpanHeader& header, uint64_t payload_bytes,
                                             uint64_t payload_hash);

// A message as the slices that it arrived in, in order. It may be cut anywhere, and slices may be empty.
using Slices = std::span<const std::string_view>;

// A span found in a message. Points into the message's bytes, which must outlive it.
struct SpanMessage {
  v1::SpanHeader header;
  uint64_t checksum = 0;
  std::vector<std::string_view> header_bytes;  // the serialized header, over which the checksum was taken
  std::vector<std::string_view> payload;       // the payload's pieces, in order
  uint64_t payload_bytes = 0;                  // sum of the pieces' sizes
};

// True if the message's first field is a span. Parse other messages with the generated class. Never fails.
bool IsSpan(Slices message);

// Finds header and payload in a message. Copies no payload. As in protobuf, fields may come in any order, repeated ones
// are merged and unknown ones skipped. DataLoss, with the offset, if the bytes are not a StreamResponse with a span or
// exceed kMaxMessageBytes.
//
// It is stricter than protobuf in three cases that no encoder of this schema writes: another response beside the span,
// groups outside of the header, and a header above its bound. All three are DataLoss.
absl::StatusOr<SpanMessage> ParseSpan(Slices message);

// Copies the payload into `destinations`, one after the other, and verifies the checksum. This is the client's one
// copy.
//
// InvalidArgument if the destinations' sizes do not add up to span.payload_bytes; nothing is copied then. DataLoss if
// the checksum differs; the destinations then hold garbage. If there is no payload, it verifies the header alone.
absl::Status CopyPayload(const SpanMessage& span, std::span<const std::span<uint8_t>> destinations);

}  // namespace stoker

#endif  // STOKER_COMMON_WIRE_SPAN_CODEC_H_
