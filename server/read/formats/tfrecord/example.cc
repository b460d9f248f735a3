#include "server/read/formats/tfrecord/example.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

absl::Status Malformed() { return absl::DataLossError("its Example does not parse"); }

// Takes the fields of a message one after another.
class Fields {
 public:
  enum Type : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  explicit Fields(Bytes message) : rest_(message) {}

  // Takes the next field, or returns false at the end and where the bytes are malformed: see ok.
  bool Next() {
    uint64_t tag = 0;
    if (!ok_ || rest_.empty()) return false;
    ok_ = TakeVarint(tag) && tag >> 3 != 0 && tag >> 32 == 0;
    number_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<uint32_t>(tag & 7);
    ok_ = ok_ && TakeValue();
    return ok_;
  }

  bool Is(uint32_t number, Type type) const { return number_ == number && type_ == type; }
  uint32_t number() const { return number_; }
  Bytes bytes() const { return bytes_; }       // of kBytes, kFixed32
  uint64_t varint() const { return varint_; }  // of kVarint
  bool ok() const { return ok_; }

  // Takes a bare varint, as packed values are.
  bool TakeVarint(uint64_t& number) {
    number = 0;
    for (int shift = 0; shift < 70 && !rest_.empty(); shift += 7) {
      const uint8_t byte = rest_[0];
      rest_ = rest_.subspan(1);
      number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return ok_ = false;
  }

  bool empty() const { return rest_.empty(); }

 private:
  bool TakeValue() {
    uint64_t bytes = 0;
    switch (type_) {
      case kVarint: return TakeVarint(varint_);
      case kFixed64: bytes = 8; break;
      case kFixed32: bytes = 4; break;
      case kBytes:
        if (!TakeVarint(bytes)) return false;
        break;
      default: return false;  // Groups, which no Example has.
    }
    if (bytes > rest_.size()) return false;
    bytes_ = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return true;
  }

  Bytes rest_;
  Bytes bytes_;
  uint64_t varint_ = 0;
  uint32_t number_ = 0, type_ = 0;
  bool ok_ = true;
};

// Reads a Feature message. Two lists are refused: protobuf would merge them or take the last, but no writer makes them.
absl::Status ReadFeature(Bytes message, Feature& feature) {
  Fields fields(message);
  while (fields.Next()) {
    if (!fields.Is(fields.number(), Fields::kBytes) || fields.number() > 3) continue;
    if (feature.kind != Feature::Kind::kNone) return absl::DataLossError("a feature has two lists");
    feature.kind = static_cast<Feature::Kind>(fields.number());
    feature.values = fields.bytes();
  }
  return fields.ok() ? absl::OkStatus() : Malformed();
}

absl::Status ReadEntry(Bytes message, Feature& feature) {
  Fields fields(message);
  Bytes value;
  while (fields.Next()) {
    if (fields.Is(1, Fields::kBytes))
      feature.name = {reinterpret_cast<const char*>(fields.bytes().data()), fields.bytes().size()};
    if (fields.Is(2, Fields::kBytes)) value = fields.bytes();
  }
  return fields.ok() ? ReadFeature(value, feature) : Malformed();
}

// Calls `take` for each varint of an Int64List, packed or not; false from it ends the list.
template <typename Take>
absl::Status VisitInts(Bytes list, Take take) {
  Fields fields(list);
  while (fields.Next()) {
    if (fields.Is(1, Fields::kVarint) && !take(fields.varint())) return absl::OkStatus();
    if (!fields.Is(1, Fields::kBytes)) continue;
    Fields packed(fields.bytes());
    for (uint64_t number; !packed.empty();) {
      if (!packed.TakeVarint(number)) return Malformed();
      if (!take(number)) return absl::OkStatus();
    }
  }
  return fields.ok() ? absl::OkStatus() : Malformed();
}

// Calls `take` for each run of floats, whose bytes are as they are in memory.
template <typename Take>
absl::Status VisitFloats(Bytes list, Take take) {
  static_assert(std::endian::native == std::endian::little);
  Fields fields(list);
  while (fields.Next()) {
    const bool packed = fields.Is(1, Fields::kBytes);
    if (!packed && !fields.Is(1, Fields::kFixed32)) continue;
    if (fields.bytes().size() % 4 != 0) return Malformed();
    if (!take(fields.bytes())) return absl::OkStatus();
  }
  return fields.ok() ? absl::OkStatus() : Malformed();
}

absl::Status CheckKind(const Feature& feature, Feature::Kind kind, const char* words) {
  if (feature.kind == kind) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("is no list of ", words));
}

absl::Status CheckCount(uint64_t bytes, uint64_t each, uint64_t count) {
  if (bytes == count * each) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("has ", bytes > count * each ? "more" : "fewer", " than ", count,
                                          " values, as many as the first record has"));
}

}  // namespace

absl::Status VisitFeatures(Bytes example, const std::function<absl::Status(const Feature&)>& visit) {
  Fields message(example);
  while (message.Next()) {
    if (!message.Is(1, Fields::kBytes)) continue;
    Fields features(message.bytes());
    while (features.Next()) {
      if (!features.Is(1, Fields::kBytes)) continue;
      Feature feature;
      STOKER_RETURN_IF_ERROR(ReadEntry(features.bytes(), feature));
      STOKER_RETURN_IF_ERROR(visit(feature));
    }
    if (!features.ok()) return Malformed();
  }
  return message.ok() ? absl::OkStatus() : Malformed();
}

absl::StatusOr<std::vector<Bytes>> BytesValues(const Feature& feature) {
  STOKER_RETURN_IF_ERROR(CheckKind(feature, Feature::Kind::kBytes, "bytes"));
  std::vector<Bytes> values;
  Fields fields(feature.values);
  while (fields.Next())
    if (fields.Is(1, Fields::kBytes)) values.push_back(fields.bytes());
  if (!fields.ok()) return Malformed();
  return values;
}

absl::Status IntValues(const Feature& feature, uint64_t count, std::vector<uint8_t>& elements) {
  STOKER_RETURN_IF_ERROR(CheckKind(feature, Feature::Kind::kInts, "integers"));
  elements.clear();
  STOKER_RETURN_IF_ERROR(VisitInts(feature.values, [&](uint64_t number) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&number);
    elements.insert(elements.end(), bytes, bytes + sizeof number);
    return elements.size() <= count * sizeof number;
  }));
  return CheckCount(elements.size(), sizeof(uint64_t), count);
}

absl::Status FloatValues(const Feature& feature, uint64_t count, std::vector<uint8_t>& elements) {
  STOKER_RETURN_IF_ERROR(CheckKind(feature, Feature::Kind::kFloats, "floats"));
  elements.clear();
  STOKER_RETURN_IF_ERROR(VisitFloats(feature.values, [&](Bytes floats) {
    elements.insert(elements.end(), floats.begin(), floats.end());
    return elements.size() <= count * sizeof(float);
  }));
  return CheckCount(elements.size(), sizeof(float), count);
}

absl::StatusOr<uint64_t> CountValues(const Feature& feature) {
  uint64_t count = 0;
  switch (feature.kind) {
    case Feature::Kind::kNone: return 0;
    case Feature::Kind::kInts:
      STOKER_RETURN_IF_ERROR(VisitInts(feature.values, [&](uint64_t) { return ++count > 0; }));
      return count;
    case Feature::Kind::kFloats:
      STOKER_RETURN_IF_ERROR(VisitFloats(feature.values, [&](Bytes floats) {
        count += floats.size() / sizeof(float);
        return true;
      }));
      return count;
    case Feature::Kind::kBytes: {
      STOKER_ASSIGN_OR_RETURN(const auto values, BytesValues(feature));
      return values.size();
    }
  }
  return 0;
}

}  // namespace stoker
