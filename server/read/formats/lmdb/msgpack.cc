#include <cstring>
#include <optional>
#include <string_view>

#include "server/read/formats/lmdb/value.h"

namespace stoker {
namespace {

// A value of MessagePack. An array and a map have their items behind them.
struct Item {
  enum class Kind { kNil, kBool, kInt, kBytes, kArray, kMap, kOther };
  Kind kind = Kind::kOther;
  int64_t number = 0;  // of kInt and kBool
  uint64_t count = 0;  // of kArray; of a map's pairs
  std::string_view bytes;
};

// Takes items one after another.
class Items {
 public:
  explicit Items(std::string_view rest) : rest_(rest) {}

  // Returns nothing beyond the end. Extensions and floats are kOther.
  std::optional<Item> Next() {
    const auto head = Number(1);
    if (!head.has_value()) return std::nullopt;
    const uint64_t first = *head;
    if (first < 0x80) return Integer(static_cast<int64_t>(first));
    if (first < 0x90) return Item{Item::Kind::kMap, 0, first & 15, {}};
    if (first < 0xa0) return Item{Item::Kind::kArray, 0, first & 15, {}};
    if (first < 0xc0) return Bytes(first & 31);
    if (first >= 0xe0) return Integer(static_cast<int8_t>(first));
    switch (first) {
      case 0xc0: return Item{Item::Kind::kNil, 0, 0, {}};
      case 0xc2:
      case 0xc3: return Item{Item::Kind::kBool, static_cast<int64_t>(first & 1), 0, {}};
      case 0xc4:
      case 0xc5:
      case 0xc6: return Bytes(Number(1 << (first - 0xc4)));  // bin
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf: return Integer(Number(1 << (first - 0xcc)));  // unsigned
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3: return Signed(1 << (first - 0xd0));
      case 0xd9:
      case 0xda:
      case 0xdb: return Bytes(Number(1 << (first - 0xd9)));  // str
      case 0xdc:
      case 0xdd: return Many(Item::Kind::kArray, Number(2 << (first - 0xdc)));
      case 0xde:
      case 0xdf: return Many(Item::Kind::kMap, Number(2 << (first - 0xde)));
      default: return Item{};
    }
  }

  bool empty() const { return rest_.empty(); }

 private:
  // Takes a number of so many bytes, the highest first.
  std::optional<uint64_t> Number(uint64_t bytes) {
    if (bytes > rest_.size()) return std::nullopt;
    uint64_t number = 0;
    for (uint64_t i = 0; i < bytes; ++i) number = number << 8 | static_cast<uint8_t>(rest_[i]);
    rest_.remove_prefix(bytes);
    return number;
  }

  static std::optional<Item> Integer(std::optional<uint64_t> number) {
    if (!number.has_value()) return std::nullopt;
    return Item{Item::Kind::kInt, static_cast<int64_t>(*number), 0, {}};
  }

  std::optional<Item> Signed(int bytes) {
    const auto number = Number(bytes);
    if (!number.has_value()) return std::nullopt;
    const int unused = 64 - 8 * bytes;
    return Item{Item::Kind::kInt, static_cast<int64_t>(*number << unused) >> unused, 0, {}};
  }

  static std::optional<Item> Many(Item::Kind kind, std::optional<uint64_t> count) {
    if (!count.has_value()) return std::nullopt;
    return Item{kind, 0, *count, {}};
  }

  std::optional<Item> Bytes(std::optional<uint64_t> size) {
    if (!size.has_value() || *size > rest_.size()) return std::nullopt;
    Item item{Item::Kind::kBytes, 0, 0, rest_.substr(0, *size)};
    rest_.remove_prefix(*size);
    return item;
  }

  std::string_view rest_;
};

// What msgpack-numpy makes of an array or a scalar.
struct NumPy {
  std::string_view type, data;
  uint64_t dimensions = 0;
};

// Takes the pairs of a map. Returns nothing where it is none of msgpack-numpy's.
std::optional<NumPy> TakeNumPy(Items& items, uint64_t pairs) {
  NumPy numpy;
  for (; pairs > 0; --pairs) {
    const auto key = items.Next(), value = items.Next();
    if (!key.has_value() || key->kind != Item::Kind::kBytes || !value.has_value()) return std::nullopt;
    if (key->bytes == "type") numpy.type = value->bytes;
    if (key->bytes == "data") numpy.data = value->bytes;
    if (value->kind == Item::Kind::kMap) return std::nullopt;
    if (value->kind != Item::Kind::kArray) continue;
    if (key->bytes != "shape") return std::nullopt;
    numpy.dimensions = value->count;
    for (uint64_t i = 0; i < value->count; ++i) {
      const auto extent = items.Next();
      if (!extent.has_value() || extent->kind != Item::Kind::kInt) return std::nullopt;
    }
  }
  return numpy;
}

std::optional<std::string_view> TakeImage(Items& items) {
  const auto item = items.Next();
  if (!item.has_value()) return std::nullopt;
  if (item->kind == Item::Kind::kBytes) return item->bytes;
  if (item->kind != Item::Kind::kMap) return std::nullopt;
  const auto numpy = TakeNumPy(items, item->count);
  if (!numpy.has_value() || numpy->dimensions != 1 || (numpy->type != "|u1" && numpy->type != "<u1"))
    return std::nullopt;
  return numpy->data;
}

std::optional<int64_t> TakeLabel(Items& items) {
  const auto item = items.Next();
  if (!item.has_value()) return std::nullopt;
  if (item->kind == Item::Kind::kInt) return item->number;
  if (item->kind != Item::Kind::kMap) return std::nullopt;
  const auto numpy = TakeNumPy(items, item->count);
  if (!numpy.has_value() || numpy->dimensions != 0) return std::nullopt;
  if (numpy->type == "<i8" && numpy->data.size() == sizeof(int64_t)) {
    int64_t label;
    std::memcpy(&label, numpy->data.data(), sizeof label);
    return label;
  }
  if (numpy->type == "<i4" && numpy->data.size() == sizeof(int32_t)) {
    int32_t label;
    std::memcpy(&label, numpy->data.data(), sizeof label);
    return label;
  }
  return std::nullopt;
}

absl::Status Wrong() { return absl::DataLossError("is no MessagePack array of bytes and a number"); }

}  // namespace

absl::StatusOr<LmdbValue> ParseMsgpack(std::span<const uint8_t> value) {
  Items items({reinterpret_cast<const char*>(value.data()), value.size()});
  const auto array = items.Next();
  if (!array.has_value() || array->kind != Item::Kind::kArray || array->count < 1 || array->count > 2) return Wrong();
  const auto image = TakeImage(items);
  if (!image.has_value()) return Wrong();
  LmdbValue sample{.image = {reinterpret_cast<const uint8_t*>(image->data()), image->size()}};
  if (array->count == 2) {
    sample.label = TakeLabel(items);
    if (!sample.label.has_value()) return Wrong();
  }
  if (!items.empty()) return Wrong();
  return sample;
}

}  // namespace stoker
