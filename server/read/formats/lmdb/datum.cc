#include "absl/strings/str_cat.h"
#include "common/fields/schema.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "server/read/formats/lmdb/value.h"

namespace stoker {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr uint32_t TagOf(int field, WireFormatLite::WireType type) { return WireFormatLite::MakeTag(field, type); }

bool ReadBytes(CodedInputStream& in, std::span<const uint8_t> message, std::span<const uint8_t>& bytes) {
  uint32_t size = 0;
  if (!in.ReadVarint32(&size) || size > message.size() - in.CurrentPosition()) return false;
  bytes = message.subspan(in.CurrentPosition(), size);
  return in.Skip(static_cast<int>(size));
}

}  // namespace

absl::StatusOr<LmdbValue> ParseDatum(std::span<const uint8_t> value) {
  if (value.size() > kMaxSampleBytes) return absl::DataLossError("is too large for a Datum");
  CodedInputStream in(value.data(), static_cast<int>(value.size()));
  LmdbValue datum;
  uint64_t sizes[3] = {0, 0, 0};  // channels, height, width
  uint64_t label = 0, is_encoded = 0;
  bool ok = true;
  for (uint32_t tag; ok && (tag = in.ReadTag()) != 0;) {
    switch (tag) {
      case TagOf(1, WireFormatLite::WIRETYPE_VARINT): ok = in.ReadVarint64(&sizes[0]); break;
      case TagOf(2, WireFormatLite::WIRETYPE_VARINT): ok = in.ReadVarint64(&sizes[1]); break;
      case TagOf(3, WireFormatLite::WIRETYPE_VARINT): ok = in.ReadVarint64(&sizes[2]); break;
      case TagOf(4, WireFormatLite::WIRETYPE_LENGTH_DELIMITED): ok = ReadBytes(in, value, datum.image); break;
      case TagOf(5, WireFormatLite::WIRETYPE_VARINT): ok = in.ReadVarint64(&label); break;
      case TagOf(7, WireFormatLite::WIRETYPE_VARINT): ok = in.ReadVarint64(&is_encoded); break;
      default: ok = WireFormatLite::SkipField(&in, tag);
    }
  }
  if (!ok || !in.ConsumedEntireMessage()) return absl::DataLossError("is no Datum");
  datum.label = static_cast<int32_t>(label);
  if (is_encoded != 0) return datum;
  if (datum.image.empty()) return absl::DataLossError("is a Datum without bytes (float_data is not taken)");
  uint64_t bytes = 1;
  for (const uint64_t size : sizes) {
    if (size == 0 || size > kMaxSampleBytes / bytes) bytes = 0;
    if (bytes == 0) break;
    bytes *= size;
  }
  if (bytes != datum.image.size())
    return absl::DataLossError(absl::StrCat("is a Datum of ", sizes[0], "×", sizes[1], "×", sizes[2], " pixels with ",
                                            datum.image.size(), " bytes"));
  datum.pixels = {static_cast<int64_t>(sizes[1]), static_cast<int64_t>(sizes[2]), static_cast<int64_t>(sizes[0])};
  return datum;
}

}  // namespace stoker
