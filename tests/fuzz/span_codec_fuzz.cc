// ParseSpan against the class that protobuf generates: the same verdict and content for every message and slicing,
// but for the three restrictions that span_codec.h names; and CopyPayload against XXH3 in one call.
//
// Input: four bytes that cut the message into slices, four that cut the destination, then the message.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "common/wire/span_codec.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/unknown_field_set.h"
#include "xxhash.h"

namespace stoker {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

constexpr size_t kCuts = 4;

// Sizes that add up to `total`: those of `cuts` in turn, zeros included, unless all are zero.
std::vector<size_t> CutSizes(std::string_view cuts, size_t total) {
  if (cuts.find_first_not_of('\0') == cuts.npos) return {total};
  std::vector<size_t> sizes;
  for (size_t i = 0; total > 0; total -= sizes.back(), ++i)
    sizes.push_back(std::min<size_t>(static_cast<uint8_t>(cuts[i % kCuts]), total));
  return sizes;
}

// Memory blocks of their own, so that a sanitizer sees a step beyond any of them.
struct Blocks {
  explicit Blocks(const std::vector<size_t>& sizes) {
    for (size_t size : sizes) {
      memory.push_back(std::make_unique<uint8_t[]>(size));
      spans.emplace_back(memory.back().get(), size);
    }
  }

  std::vector<std::unique_ptr<uint8_t[]>> memory;
  std::vector<std::span<uint8_t>> spans;
};

struct Message {
  Message(std::string_view cuts, std::string_view bytes) : blocks(CutSizes(cuts, bytes.size())) {
    for (std::span<uint8_t> block : blocks.spans) {
      std::memcpy(block.data(), bytes.data(), block.size());
      bytes.remove_prefix(block.size());
      slices.emplace_back(reinterpret_cast<const char*>(block.data()), block.size());
    }
  }

  Blocks blocks;
  std::vector<std::string_view> slices;
};

std::string Join(const std::vector<std::string_view>& pieces) {
  std::string joined;
  for (std::string_view piece : pieces) joined += piece;
  return joined;
}

// The fields of a message that parses, as they lie in it.
struct FieldsOf : UnknownFieldSet {
  explicit FieldsOf(std::string_view message) {
    STOKER_CHECK(ParseFromArray(message.data(), static_cast<int>(message.size())));
  }
};

bool IsMessage(const UnknownField& field, int number) {
  return field.type() == UnknownField::TYPE_LENGTH_DELIMITED && field.number() == number;
}

bool HasGroup(const UnknownFieldSet& fields) {
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).type() == UnknownField::TYPE_GROUP) return true;
  return false;
}

// True if `message`, which protobuf takes, is one that ParseSpan may refuse.
bool IsRestricted(std::string_view message) {
  const FieldsOf fields(message);
  bool restricted = HasGroup(fields);
  size_t header_bytes = 0;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    restricted |= IsMessage(field, v1::StreamResponse::kOpenedFieldNumber);
    restricted |= IsMessage(field, v1::StreamResponse::kDrainFieldNumber);
    if (!IsMessage(field, v1::StreamResponse::kSpanFieldNumber)) continue;
    const FieldsOf span_fields(field.length_delimited());
    restricted |= HasGroup(span_fields);
    for (int j = 0; j < span_fields.field_count(); ++j)
      if (IsMessage(span_fields.field(j), v1::Span::kHeaderFieldNumber))
        header_bytes += span_fields.field(j).length_delimited().size();
  }
  return restricted || header_bytes > kMaxSpanHeaderBytes;
}

void CheckIsSpan(std::string_view bytes, const Message& message) {
  const FieldsOf fields(bytes);
  const bool begins_with_span = !fields.empty() && IsMessage(fields.field(0), v1::StreamResponse::kSpanFieldNumber);
  STOKER_CHECK(IsSpan(message.slices) == begins_with_span);
}

void CheckCopy(const SpanMessage& span, std::string_view cuts) {
  const Blocks destination(CutSizes(cuts, span.payload_bytes));
  const absl::Status status = CopyPayload(span, destination.spans);
  const std::string payload = Join(span.payload), header = Join(span.header_bytes);
  const uint64_t hash = XXH3_64bits(payload.data(), payload.size());
  STOKER_CHECK(status.ok() == (XXH3_64bits_withSeed(header.data(), header.size(), hash) == span.checksum));
  std::string copied;
  for (std::span<uint8_t> block : destination.spans) copied.append(block.begin(), block.end());
  STOKER_CHECK(copied == payload);
}

void CheckEncode(const v1::Span& span, std::string_view cuts) {
  const std::string& payload = span.payload();
  const uint64_t hash = HashOfPayload({reinterpret_cast<const uint8_t*>(payload.data()), payload.size()});
  const absl::StatusOr<std::string> prefix = EncodeSpanPrefix(span.header(), payload.size(), hash);
  STOKER_CHECK(prefix.ok());
  const Message message(cuts, *prefix + payload);
  const absl::StatusOr<SpanMessage> again = ParseSpan(message.slices);
  STOKER_CHECK(again.ok());
  STOKER_CHECK(again->header.SerializeAsString() == span.header().SerializeAsString());
  STOKER_CHECK(Join(again->payload) == payload);
  const Blocks destination({again->payload_bytes});
  STOKER_CHECK(CopyPayload(*again, destination.spans).ok());
}

void CheckMessage(std::string_view cuts, std::string_view destination_cuts, std::string_view bytes) {
  const Message message(cuts, bytes);
  const absl::StatusOr<SpanMessage> span = ParseSpan(message.slices);
  v1::StreamResponse generated;
  const bool parses = generated.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (parses) CheckIsSpan(bytes, message);
  if (!span.ok()) {
    STOKER_CHECK(!parses || !generated.has_span() || IsRestricted(bytes));
    return;
  }
  STOKER_CHECK(parses && generated.has_span());
  STOKER_CHECK(span->header.SerializeAsString() == generated.span().header().SerializeAsString());
  STOKER_CHECK(span->checksum == generated.span().checksum());
  STOKER_CHECK(Join(span->payload) == generated.span().payload());
  STOKER_CHECK(span->payload_bytes == generated.span().payload().size());
  CheckCopy(*span, destination_cuts);
  CheckEncode(generated.span(), cuts);
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static google::protobuf::LogSilencer silence;  // Protobuf logs every string that is not UTF-8.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (size < 2 * stoker::kCuts) return 0;
  stoker::CheckMessage(input.substr(0, stoker::kCuts), input.substr(stoker::kCuts, stoker::kCuts),
                       input.substr(2 * stoker::kCuts));
  return 0;
}
