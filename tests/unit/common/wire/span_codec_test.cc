#include "common/wire/span_codec.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/unknown_field_set.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "xxhash.h"

namespace stoker {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::SpanHeader Header() {
  v1::SpanHeader header;
  header.set_stream_key(0x0123456789abcdef);
  header.set_epoch(3);
  header.set_start(4096);
  header.set_count(4);
  for (uint64_t id : {77, 1, 300'000, 5}) header.add_sample_ids(id);
  header.mutable_times()->set_decode(123'456);
  header.add_names("n01440764/10026.JPEG");
  v1::Substitution& substitution = *header.add_substitutions();
  substitution.set_offset(2);
  substitution.set_reason("ends early");
  return header;
}

std::vector<uint8_t> Payload(size_t bytes) {
  std::vector<uint8_t> payload(bytes);
  std::mt19937 random(static_cast<uint32_t>(bytes));
  std::generate(payload.begin(), payload.end(), [&] { return static_cast<uint8_t>(random()); });
  return payload;
}

std::string AsString(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

std::string Encode(const v1::SpanHeader& header, const std::vector<uint8_t>& payload) {
  return EncodeSpanPrefix(header, payload.size(), HashOfPayload(payload)).value() + AsString(payload);
}

uint64_t Checksum(const std::string& header, const std::string& payload) {
  return XXH3_64bits_withSeed(header.data(), header.size(), XXH3_64bits(payload.data(), payload.size()));
}

// A StreamResponse as a stock server makes it.
v1::StreamResponse Generated(const v1::SpanHeader& header, const std::vector<uint8_t>& payload) {
  v1::StreamResponse response;
  *response.mutable_span()->mutable_header() = header;
  response.mutable_span()->set_checksum(Checksum(header.SerializeAsString(), AsString(payload)));
  response.mutable_span()->set_payload(AsString(payload));
  return response;
}

// A field of fewer than 128 bytes.
std::string Field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

std::string ChecksumField(uint64_t checksum) {
  return '\x11' + std::string(reinterpret_cast<const char*>(&checksum), sizeof checksum);
}

// `bytes` cut at up to `cuts` random places, some of them the same.
template <typename Bytes, typename Piece>
std::vector<Piece> Cut(Bytes& bytes, size_t cuts, std::mt19937& random) {
  std::vector<size_t> at = {0, bytes.size()};
  for (size_t i = 0; i < cuts; ++i) at.push_back(random() % (bytes.size() + 1));
  std::sort(at.begin(), at.end());
  std::vector<Piece> pieces;
  for (size_t i = 1; i < at.size(); ++i) pieces.emplace_back(bytes.data() + at[i - 1], at[i] - at[i - 1]);
  return pieces;
}

std::vector<std::string_view> Slice(const std::string& message, size_t cuts, std::mt19937& random) {
  return Cut<const std::string, std::string_view>(message, cuts, random);
}

absl::StatusOr<SpanMessage> ParseWhole(std::string_view message) { return ParseSpan({&message, 1}); }

// The payload, if the message parses and its checksum holds.
absl::StatusOr<std::string> PayloadOf(std::string_view message) {
  const absl::StatusOr<SpanMessage> span = ParseWhole(message);
  if (!span.ok()) return span.status();
  std::vector<uint8_t> copy(span->payload_bytes);
  const std::span<uint8_t> destination(copy);
  if (absl::Status status = CopyPayload(*span, {&destination, 1}); !status.ok()) return status;
  return AsString(copy);
}

TEST(SpanCodecTest, RoundTripsThroughAnySlicesIntoAnyDestinations) {
  std::mt19937 random(1);
  for (size_t bytes : {0, 1, 127, 128, 1000, 16 << 10, (16 << 10) + 1, 100'000}) {
    const std::vector<uint8_t> payload = Payload(bytes);
    const std::string message = Encode(Header(), payload);
    for (size_t cuts : {0, 1, 2, 5, 40, 300}) {
      const absl::StatusOr<SpanMessage> span = ParseSpan(Slice(message, cuts, random));
      ASSERT_TRUE(span.ok()) << span.status();
      EXPECT_TRUE(MessageDifferencer::Equals(span->header, Header()));
      ASSERT_EQ(span->payload_bytes, bytes);
      std::vector<uint8_t> copy(bytes);
      const auto destinations = Cut<std::vector<uint8_t>, std::span<uint8_t>>(copy, cuts, random);
      EXPECT_EQ(CopyPayload(*span, destinations), absl::OkStatus());
      EXPECT_EQ(copy, payload);
    }
  }
}

TEST(SpanCodecTest, RoundTripsByteByByte) {
  const std::string message = Encode(Header(), Payload(300));
  std::vector<std::string_view> slices;
  for (const char& byte : message) slices.emplace_back(&byte, 1);
  const absl::StatusOr<SpanMessage> span = ParseSpan(slices);
  ASSERT_TRUE(span.ok()) << span.status();
  std::vector<uint8_t> copy(300);
  std::vector<std::span<uint8_t>> destinations;
  for (uint8_t& byte : copy) destinations.emplace_back(&byte, 1);
  EXPECT_EQ(CopyPayload(*span, destinations), absl::OkStatus());
  EXPECT_EQ(copy, Payload(300));
}

TEST(SpanCodecTest, WritesTheBytesThatTheGeneratedClassWrites) {
  for (size_t bytes : {0, 1, 127, 128, 20'000, 3'000'000})
    EXPECT_EQ(Encode(Header(), Payload(bytes)), Generated(Header(), Payload(bytes)).SerializeAsString()) << bytes;
  v1::StreamResponse no_header;
  ASSERT_TRUE(no_header.ParseFromString(Encode({}, {})));
  EXPECT_TRUE(no_header.span().has_header());
}

TEST(SpanCodecTest, ReadsWhatTheGeneratedClassWrites) {
  for (size_t bytes : {0, 1, 127, 128, 20'000}) {
    const v1::StreamResponse response = Generated(Header(), Payload(bytes));
    const absl::StatusOr<std::string> payload = PayloadOf(response.SerializeAsString());
    ASSERT_TRUE(payload.ok()) << payload.status();
    EXPECT_EQ(*payload, response.span().payload());
  }
}

TEST(SpanCodecTest, AnErrorIsASpanWithoutPayload) {
  v1::SpanHeader header;
  header.mutable_error()->set_kind(v1::ERROR_KIND_SAMPLE);
  const std::string message = Encode(header, {});
  EXPECT_EQ(ParseWhole(message)->header.error().kind(), v1::ERROR_KIND_SAMPLE);
  EXPECT_THAT(ParseWhole(message)->payload, IsEmpty());
  EXPECT_EQ(*PayloadOf(message), "");
}

TEST(SpanCodecTest, TakesFieldsInAnyOrderAmongUnknownOnes) {
  v1::SpanHeader header;
  header.set_epoch(9);
  const std::string header_bytes = header.SerializeAsString();
  google::protobuf::UnknownFieldSet fields;
  fields.AddVarint(20, 1);
  fields.AddFixed32(21, 2);
  fields.AddFixed64(536870911, 3);
  fields.AddLengthDelimited(22, "unknown");
  fields.AddVarint(v1::Span::kPayloadFieldNumber, 4);  // A known number, another wire type.
  std::string unknown;
  ASSERT_TRUE(fields.SerializeToString(&unknown));

  const std::string span = unknown + Field(3, "payload") + ChecksumField(Checksum(header_bytes, "payload")) + unknown +
                           Field(1, header_bytes) + unknown;
  const std::string message = unknown + Field(2, span) + unknown;
  ASSERT_LT(span.size(), 128);
  EXPECT_EQ(*PayloadOf(message), "payload");
  EXPECT_EQ(ParseWhole(message)->header.epoch(), 9);
  v1::StreamResponse response;
  EXPECT_TRUE(response.ParseFromString(message));
  EXPECT_EQ(response.span().payload(), "payload");
}

TEST(SpanCodecTest, MergesRepeatedFieldsAsProtobufDoes) {
  v1::SpanHeader first, second;
  first.set_epoch(1);
  first.set_start(5);
  second.set_epoch(2);
  const std::string a = first.SerializeAsString(), b = second.SerializeAsString();
  const std::string message =
      Field(2, Field(1, a) + Field(3, "the first payload") + ChecksumField(1)) +
      Field(2, Field(1, b) + Field(3, "the second") + ChecksumField(Checksum(a + b, "the second")));
  EXPECT_EQ(*PayloadOf(message), "the second");
  v1::StreamResponse response;
  ASSERT_TRUE(response.ParseFromString(message));
  EXPECT_TRUE(MessageDifferencer::Equals(ParseWhole(message)->header, response.span().header()));
}

TEST(SpanCodecTest, TellsSpansFromOtherResponses) {
  const auto is_span = [](std::string_view message) { return IsSpan({&message, 1}); };
  v1::StreamResponse opened, drain;
  opened.mutable_opened()->set_parallelism(2);
  drain.mutable_drain();
  EXPECT_TRUE(is_span(Encode(Header(), {})));
  EXPECT_FALSE(is_span(opened.SerializeAsString()));
  EXPECT_FALSE(is_span(drain.SerializeAsString()));
  EXPECT_FALSE(is_span(""));
  EXPECT_FALSE(is_span("\x92"));
  EXPECT_FALSE(IsSpan({}));
}

TEST(SpanCodecTest, RefusesAMessageWithoutASpanOrWithAnotherResponse) {
  v1::StreamResponse opened;
  opened.mutable_opened()->set_parallelism(2);
  const std::string span = Encode(Header(), {});
  EXPECT_EQ(ParseWhole("").status(), absl::DataLossError("malformed message at byte 0: no span"));
  EXPECT_EQ(ParseWhole(opened.SerializeAsString() + span).status(),
            absl::DataLossError("malformed message at byte 1: a response beside the span"));
  EXPECT_EQ(ParseWhole(span + Field(3, "")).status().code(), absl::StatusCode::kDataLoss);
}

TEST(SpanCodecTest, RefusesGroupsOutsideOfTheHeader) {
  const std::string group = "\x2b\x2c", header_with_group = "\x10\x07" + group;
  EXPECT_EQ(ParseWhole(group + Field(2, "")).status(),
            absl::DataLossError("malformed message at byte 1: field 5 has wire type 3"));
  EXPECT_EQ(ParseWhole(Field(2, group)).status(),
            absl::DataLossError("malformed message at byte 3: field 5 has wire type 3"));
  EXPECT_EQ(ParseWhole(Field(2, Field(1, header_with_group)))->header.epoch(), 7);
}

TEST(SpanCodecTest, NestsUnknownGroupsInTheHeaderAsDeepAsProtobufDoes) {
  for (int levels : {1, 97, 98, 99, 100}) {
    v1::StreamResponse response;
    v1::SpanHeader& header = *response.mutable_span()->mutable_header();
    google::protobuf::UnknownFieldSet* fields = header.GetReflection()->MutableUnknownFields(&header);
    for (int i = 0; i < levels; ++i) fields = fields->AddGroup(5);
    const std::string message = response.SerializeAsString();
    EXPECT_EQ(ParseWhole(message).ok(), levels <= 98) << levels;
    EXPECT_EQ(response.ParseFromString(message), levels <= 98) << levels;
  }
}

TEST(SpanCodecTest, RefusesAHeaderThatDoesNotParse) {
  for (const char* header : {"\x10", "\x10\x07\x2c", "\x2b"})
    EXPECT_EQ(ParseWhole(Field(2, Field(1, header))).status(),
              absl::DataLossError("malformed message at byte " + std::to_string(4 + std::strlen(header)) +
                                  ": the span's header does not parse"));
}

TEST(SpanCodecTest, NamesTheOffsetInTheWholeMessage) {
  EXPECT_EQ(ParseWhole(Field(15, "abc") + Field(2, Field(3, "ok") + '\x11' + "1234567")).status(),
            absl::DataLossError("malformed message at byte 12: the message ends within a fixed64"));
}

TEST(SpanCodecTest, EveryByteChangedToAnyOtherIsNoticed) {
  const google::protobuf::LogSilencer silence;  // Protobuf logs strings that are not UTF-8.
  const std::string message = Encode(Header(), Payload(40));
  ASSERT_TRUE(PayloadOf(message).ok());
  for (size_t i = 0; i < message.size(); ++i) {
    for (int change = 1; change < 256; ++change) {
      std::string damaged = message;
      damaged[i] ^= static_cast<char>(change);
      ASSERT_EQ(PayloadOf(damaged).status().code(), absl::StatusCode::kDataLoss)
          << "byte " << i << " changed by " << change;
    }
  }
}

TEST(SpanCodecTest, EveryTruncationIsNoticed) {
  const std::string message = Encode(Header(), Payload(300));
  for (size_t bytes = 0; bytes < message.size(); ++bytes)
    EXPECT_EQ(ParseWhole(message.substr(0, bytes)).status().code(), absl::StatusCode::kDataLoss) << bytes << " bytes";
}

TEST(SpanCodecTest, RefusesDestinationsOfAnotherSizeAndCopiesNothing) {
  const std::string message = Encode(Header(), Payload(100));
  const SpanMessage span = ParseWhole(message).value();
  for (size_t bytes : {99, 101}) {
    std::vector<uint8_t> copy(bytes, 0xee);
    const std::span<uint8_t> destination(copy);
    EXPECT_EQ(CopyPayload(span, {&destination, 1}).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(copy, std::vector<uint8_t>(bytes, 0xee));
  }
}

TEST(SpanCodecTest, BothSidesRefuseAHeaderAboveItsBound) {
  v1::SpanHeader header;
  header.add_names()->assign(kMaxSpanHeaderBytes - 4, 'x');  // A tag and a length of three bytes come on top.
  const std::string largest = Encode(header, {});
  EXPECT_TRUE(ParseWhole(largest).ok());
  EXPECT_THAT(ParseWhole(largest + Field(2, Field(1, "\x10\x01"))).status().message(), HasSubstr("exceeds 1 MiB"));

  header.mutable_names(0)->push_back('x');
  EXPECT_EQ(EncodeSpanPrefix(header, 0, 0).status(),
            absl::InvalidArgumentError("a span's header of 1048577 bytes exceeds 1048576: ask for fewer samples, or "
                                       "without names"));
  EXPECT_THAT(ParseWhole(Generated(header, {}).SerializeAsString()).status().message(), HasSubstr("exceeds 1 MiB"));
}

TEST(SpanCodecTest, BothSidesRefuseAMessageAboveTwoGibibytes) {
  // Address space that may not even be read.
  void* space = mmap(nullptr, kMaxMessageBytes + 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(space, MAP_FAILED);
  EXPECT_EQ(EncodeSpanPrefix({}, kMaxMessageBytes, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseWhole({static_cast<const char*>(space), kMaxMessageBytes + 1}).status(),
            absl::DataLossError("malformed message at byte 0: it exceeds 2 GiB"));
  munmap(space, kMaxMessageBytes + 1);
}

// The processor time of parsing a span whose header comes in `parts` parts of four bytes each.
double SecondsToParse(size_t parts) {
  const std::string part = Field(1, std::string{0x20, 0x01});  // It sets the field `count` to 1.
  std::string header;
  for (size_t i = 0; i < parts; ++i) header += part;
  std::string message = {0x12};
  for (uint64_t size = header.size(); size > 0; size >>= 7)
    message.push_back(static_cast<char>(size < 0x80 ? size : size | 0x80));
  message += header;
  const std::string_view whole = message;
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begun = std::clock();
    const auto span = ParseSpan({&whole, 1});
    best = std::min(best, static_cast<double>(std::clock() - begun));
    EXPECT_TRUE(span.ok()) << span.status();
    EXPECT_EQ(span->header_bytes.size(), parts);
  }
  return best / CLOCKS_PER_SEC;
}

TEST(SpanCodecTest, AHeaderInManyPartsTakesTimeInProportion) {
  const double few = SecondsToParse(20'000), many = SecondsToParse(320'000);
  EXPECT_LT(many, 64 * few) << "16 times the parts; it was 256 times the time";
}

}  // namespace
}  // namespace stoker
