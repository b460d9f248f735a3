#include "server/read/formats/mds/encoding.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/mapping/image_magic.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;
using Kind = MdsEncoding::Kind;
using Number = MdsEncoding::Number;

static_assert(std::endian::native == std::endian::little);

struct NumberType {
  absl::string_view name;
  uint8_t code;  // in the header of an ndarray
  uint64_t bytes;
  v1::Dtype dtype;  // of fields
};

// By Number.
constexpr std::array<NumberType, 11> kNumbers = {{{"uint8", 8, 1, v1::DTYPE_UINT8},
                                                  {"int8", 9, 1, v1::DTYPE_INT16},
                                                  {"uint16", 16, 2, v1::DTYPE_INT32},
                                                  {"int16", 17, 2, v1::DTYPE_INT16},
                                                  {"uint32", 32, 4, v1::DTYPE_INT64},
                                                  {"int32", 33, 4, v1::DTYPE_INT32},
                                                  {"uint64", 64, 8, v1::DTYPE_INT64},
                                                  {"int64", 65, 8, v1::DTYPE_INT64},
                                                  {"float16", 18, 2, v1::DTYPE_FLOAT16},
                                                  {"float32", 34, 4, v1::DTYPE_FLOAT32},
                                                  {"float64", 66, 8, v1::DTYPE_FLOAT64}}};

const NumberType& TypeOf(Number number) { return kNumbers[static_cast<size_t>(number)]; }

std::optional<Number> NumberNamed(absl::string_view name) {
  for (size_t i = 0; i < kNumbers.size(); ++i)
    if (kNumbers[i].name == name) return static_cast<Number>(i);
  return std::nullopt;
}

std::optional<Number> NumberOfCode(uint8_t code) {
  for (size_t i = 0; i < kNumbers.size(); ++i)
    if (kNumbers[i].code == code) return static_cast<Number>(i);
  return std::nullopt;
}

std::optional<MdsEncoding> ParseArray(absl::string_view arguments) {
  MdsEncoding encoding{.kind = Kind::kArray};
  const std::vector<absl::string_view> parts = absl::StrSplit(arguments, ':', absl::SkipEmpty());
  if (parts.size() > 2) return std::nullopt;
  if (!parts.empty() && !(encoding.number = NumberNamed(parts[0]))) return std::nullopt;
  if (parts.size() < 2) return encoding;
  encoding.shape.emplace();
  for (const absl::string_view extent : absl::StrSplit(parts[1], ',')) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(extent, &number) || number < 1) return std::nullopt;
    encoding.shape->push_back(number);
  }
  return encoding;
}

// Returns the bytes that `shape` of elements of `each` bytes takes; above kMaxSampleBytes where it takes more.
uint64_t BytesOf(const std::vector<int64_t>& shape, uint64_t each) {
  uint64_t bytes = each;
  for (const int64_t extent : shape) {
    if (extent < 0 || (bytes > 0 && static_cast<uint64_t>(extent) > kMaxSampleBytes / bytes))
      return kMaxSampleBytes + 1;
    bytes *= extent;
  }
  return bytes;
}

template <typename Value>
Value Read(Bytes bytes, size_t place) {
  Value value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

// What an ndarray or a PIL image says of itself, and its elements.
struct Array {
  Number number = Number::kUint8;
  std::vector<int64_t> shape;
  Bytes elements;
};

// Takes the shape that stands before an array's elements. Its first dimension may be 0.
absl::StatusOr<std::vector<int64_t>> TakeShape(Bytes& value) {
  if (value.empty()) return absl::DataLossError("is cut short");
  const size_t dimensions = value[0] >> 2, each = size_t{1} << (value[0] & 3);
  value = value.subspan(1);
  if (dimensions == 0 || value.size() < dimensions * each) return absl::DataLossError("has a shape that is cut short");
  std::vector<int64_t> shape(dimensions);
  for (size_t i = 0; i < dimensions; ++i) {
    std::memcpy(&shape[i], value.data() + i * each, each);
    if (shape[i] < (i == 0 ? 0 : 1)) return absl::DataLossError("has a dimension that is 0 or too large");
  }
  value = value.subspan(dimensions * each);
  return shape;
}

absl::StatusOr<Array> ParseArrayValue(const MdsEncoding& encoding, Bytes value) {
  Array array;
  if (encoding.number.has_value()) {
    array.number = *encoding.number;
  } else {
    const auto number = value.empty() ? std::nullopt : NumberOfCode(value[0]);
    if (!number.has_value()) return absl::DataLossError("has no type that is known");
    array.number = *number;
    value = value.subspan(1);
  }
  if (encoding.shape.has_value()) {
    array.shape = *encoding.shape;
  } else {
    STOKER_ASSIGN_OR_RETURN(array.shape, TakeShape(value));
  }
  array.elements = value;
  if (BytesOf(array.shape, TypeOf(array.number).bytes) != value.size())
    return absl::DataLossError(absl::StrCat("has ", value.size(), " bytes of elements, which its shape does not have"));
  return array;
}

// Returns the channels of a PIL image of that mode; 0 for other modes, whose pixels are no bytes.
int64_t ChannelsOf(absl::string_view mode) {
  if (mode == "L") return 1;
  if (mode == "RGB" || mode == "YCbCr") return 3;
  return mode == "RGBA" || mode == "CMYK" ? 4 : 0;
}

absl::StatusOr<Array> ParsePixels(Bytes value) {
  constexpr size_t kHeaderBytes = 12;
  if (value.size() < kHeaderBytes || Read<uint32_t>(value, 8) > value.size() - kHeaderBytes)
    return absl::DataLossError("is a PIL image that is cut short");
  const Bytes mode = value.subspan(kHeaderBytes, Read<uint32_t>(value, 8));
  const int64_t channels = ChannelsOf({reinterpret_cast<const char*>(mode.data()), mode.size()});
  if (channels == 0) return absl::DataLossError("is a PIL image of a mode that is not taken");
  Array array{.elements = value.subspan(kHeaderBytes + mode.size())};
  array.shape = {Read<uint32_t>(value, 4), Read<uint32_t>(value, 0), channels};
  if (array.shape[0] < 1 || array.shape[1] < 1 || BytesOf(array.shape, 1) != array.elements.size())
    return absl::DataLossError("is a PIL image whose size does not fit its pixels");
  return array;
}

template <typename From, typename To>
absl::Status Widen(Bytes from, std::vector<uint8_t>& bytes) {
  const size_t count = from.size() / sizeof(From);
  bytes.resize(count * sizeof(To));
  for (size_t i = 0; i < count; ++i) {
    const auto value = Read<From>(from, i * sizeof(From));
    if (sizeof(From) == sizeof(To) && value > static_cast<From>(std::numeric_limits<To>::max()))
      return absl::DataLossError("has a number above the largest int64");
    const auto widened = static_cast<To>(value);
    std::memcpy(bytes.data() + i * sizeof(To), &widened, sizeof(To));
  }
  return absl::OkStatus();
}

absl::Status TakeNumbers(Number number, Bytes from, std::vector<uint8_t>& bytes) {
  switch (number) {
    case Number::kInt8: return Widen<int8_t, int16_t>(from, bytes);
    case Number::kUint16: return Widen<uint16_t, int32_t>(from, bytes);
    case Number::kUint32: return Widen<uint32_t, int64_t>(from, bytes);
    case Number::kUint64: return Widen<uint64_t, int64_t>(from, bytes);
    default: bytes.assign(from.begin(), from.end()); return absl::OkStatus();
  }
}

template <typename Value>
void Put(Value value, std::vector<uint8_t>& bytes) {
  bytes.resize(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
}

absl::Status TakeText(Kind kind, Bytes value, std::vector<uint8_t>& bytes) {
  const absl::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
  int64_t whole = 0;
  double number = 0;
  if (kind == Kind::kIntText ? !absl::SimpleAtoi(text, &whole) : !absl::SimpleAtod(text, &number))
    return absl::DataLossError(kind == Kind::kIntText ? "is no whole number" : "is no number");
  if (kind == Kind::kIntText) Put(whole, bytes);
  if (kind == Kind::kFloatText) Put(number, bytes);
  return absl::OkStatus();
}

absl::Status NoField(absl::string_view why) { return absl::InvalidArgumentError(why); }

SourceField Scalar(v1::Dtype dtype) { return {.dtype = dtype}; }

absl::StatusOr<SourceField> FieldOfArray(const absl::StatusOr<Array>& array) {
  if (!array.ok()) return NoField(array.status().message());
  if (array->shape[0] == 0) return NoField("has a dimension that is 0 or too large");
  SourceField field{.dtype = TypeOf(array->number).dtype, .shape = array->shape};
  if (DenseBytes(field) > kMaxSampleBytes) return NoField("is too large");
  return field;
}

// Replaces `bytes` by the rows of an array, of which one without elements has none, whatever its type.
absl::Status TakeRows(const Array& array, const SourceField& field, std::vector<uint8_t>& bytes) {
  bytes.clear();
  if (array.elements.empty()) return absl::OkStatus();
  const SourceField found{.dtype = TypeOf(array.number).dtype, .shape = array.shape};
  if (found.dtype != field.dtype || !IsArrayOfRows(found.shape, field))
    return absl::DataLossError(
        absl::StrCat("is ", FieldWords(found), ", which is no array of rows: ", FieldWords(field)));
  return TakeNumbers(array.number, array.elements, bytes);
}

}  // namespace

MdsEncoding ParseMdsEncoding(const std::string& text) {
  if (text == "jpeg" || text == "png") return {.kind = Kind::kImage};
  if (text == "bytes") return {.kind = Kind::kBytes};
  if (text == "str" || text == "json") return {.kind = Kind::kText};
  if (text == "pil") return {.kind = Kind::kPixels};
  if (text == "int") return {.kind = Kind::kNumber, .number = Number::kInt64};
  if (text == "str_int") return {.kind = Kind::kIntText};
  if (text == "str_float") return {.kind = Kind::kFloatText};
  if (text == "ndarray") return {.kind = Kind::kArray};
  if (text.rfind("ndarray:", 0) == 0) return ParseArray(text.substr(8)).value_or(MdsEncoding());
  if (const auto number = NumberNamed(text)) return {.kind = Kind::kNumber, .number = number};
  return {};
}

uint64_t FixedBytes(const MdsEncoding& encoding) {
  if (encoding.kind == Kind::kNumber) return TypeOf(*encoding.number).bytes;
  if (encoding.kind != Kind::kArray || !encoding.number.has_value() || !encoding.shape.has_value()) return 0;
  return BytesOf(*encoding.shape, TypeOf(*encoding.number).bytes);
}

absl::StatusOr<SourceField> FieldOf(const MdsEncoding& encoding, Bytes value) {
  switch (encoding.kind) {
    case Kind::kImage: return SourceField{.kind = SourceField::Kind::kEncodedImage};
    case Kind::kBytes:
      if (!BeginsAsImage(value)) return NoField("is bytes of no fixed size, and no image");
      return SourceField{.kind = SourceField::Kind::kEncodedImage};
    case Kind::kPixels: return FieldOfArray(ParsePixels(value));
    case Kind::kNumber: return Scalar(TypeOf(*encoding.number).dtype);
    case Kind::kIntText: return Scalar(v1::DTYPE_INT64);
    case Kind::kFloatText: return Scalar(v1::DTYPE_FLOAT64);
    case Kind::kArray: return FieldOfArray(ParseArrayValue(encoding, value));
    case Kind::kText:
    case Kind::kOther: break;
  }
  return NoField("is text, or of an encoding that is not taken");
}

std::optional<StoredRows> RowsOf(const MdsEncoding& encoding, Bytes value) {
  switch (encoding.kind) {
    case Kind::kImage:
    case Kind::kBytes:
    case Kind::kText: return StoredRows{.are_bytes = true};
    case Kind::kArray: {
      const auto array = ParseArrayValue(encoding, value);
      if (!array.ok()) return std::nullopt;
      return StoredRows{.dtype = TypeOf(array->number).dtype, .shape = RowShapeOf(array->shape)};
    }
    default: return std::nullopt;
  }
}

absl::Status DecodeMds(const MdsEncoding& encoding, const SourceField& field, Bytes value,
                       std::vector<uint8_t>& bytes) {
  switch (encoding.kind) {
    case Kind::kImage:
    case Kind::kText:
    case Kind::kBytes: bytes.assign(value.begin(), value.end()); return absl::OkStatus();
    case Kind::kNumber:
      if (value.size() != TypeOf(*encoding.number).bytes) return absl::DataLossError("has another size than its type");
      return TakeNumbers(*encoding.number, value, bytes);
    case Kind::kIntText:
    case Kind::kFloatText: return TakeText(encoding.kind, value, bytes);
    case Kind::kPixels:
    case Kind::kArray: {
      STOKER_ASSIGN_OR_RETURN(const Array array,
                              encoding.kind == Kind::kPixels ? ParsePixels(value) : ParseArrayValue(encoding, value));
      if (field.kind == SourceField::Kind::kRows) return TakeRows(array, field, bytes);
      const SourceField found{.dtype = TypeOf(array.number).dtype, .shape = array.shape};
      if (found.dtype != field.dtype || found.shape != field.shape)
        return absl::DataLossError(
            absl::StrCat("is ", FieldWords(found), ", where the first sample's is ", FieldWords(field)));
      return TakeNumbers(array.number, array.elements, bytes);
    }
    case Kind::kOther: break;
  }
  return absl::DataLossError("is of an encoding that is not taken");
}

}  // namespace stoker
