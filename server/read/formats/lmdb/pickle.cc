#include <string_view>

#include "absl/strings/str_cat.h"
#include "server/read/binary.h"
#include "server/read/formats/lmdb/value.h"

namespace stoker {
namespace {

// The opcodes of pickletools that a tuple of bytes and a number needs.
enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kBytesOf4 = 'B',  // each with as many bytes of the length, little-endian
  kBytesOf1 = 'C',
  kBytesOf8 = 0x8e,
  kByteArrayOf8 = 0x96,
  kInt32 = 'J',
  kUint8 = 'K',
  kUint16 = 'M',
  kLong = 0x8a,  // u8 length and as many bytes, two's complement
  kEmptyList = ']',
  kAppends = 'e',
  kPut1 = 'q',
  kPut4 = 'r',
  kTuple = 't',
  kProtocol = 0x80,
  kTupleOf1 = 0x85,
  kTupleOf2 = 0x86,
  kMemoize = 0x94,
  kFrame = 0x95,
};

constexpr uint8_t kLastProtocol = 5;

// Returns the number whose two's complement is `bytes`, of which there are at most 8.
int64_t NumberOf(std::string_view bytes) {
  uint64_t number = !bytes.empty() && (bytes.back() & 0x80) != 0 ? ~uint64_t{} : 0;
  for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return static_cast<int64_t>(number);
}

}  // namespace

absl::StatusOr<LmdbValue> ParsePickle(std::span<const uint8_t> value) {
  if (value.empty()) return absl::DataLossError("is no pickle");
  BinaryReader in({reinterpret_cast<const char*>(value.data()), value.size()});
  LmdbValue sample;
  bool has_image = false, stopped = false;
  const auto set_image = [&](std::string_view bytes) {
    if (has_image || sample.label.has_value()) return false;
    has_image = true;
    sample.image = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
    return true;
  };
  const auto set_label = [&](int64_t label) {
    if (!has_image || sample.label.has_value()) return false;
    sample.label = label;
    return true;
  };
  if (in.Get<uint8_t>() != kProtocol || in.Get<uint8_t>() > kLastProtocol) return absl::DataLossError("is no pickle");
  while (!stopped) {
    const auto opcode = in.Get<uint8_t>();
    bool ok = true;
    switch (opcode) {
      case kBytesOf1: ok = set_image(in.Take(in.Get<uint8_t>())); break;
      case kBytesOf4: ok = set_image(in.Take(in.Get<uint32_t>())); break;
      case kBytesOf8:
      case kByteArrayOf8: ok = set_image(in.GetBytes()); break;
      case kInt32: ok = set_label(in.Get<int32_t>()); break;
      case kUint8: ok = set_label(in.Get<uint8_t>()); break;
      case kUint16: ok = set_label(in.Get<uint16_t>()); break;
      case kLong: {
        const std::string_view bytes = in.Take(in.Get<uint8_t>());
        ok = bytes.size() <= sizeof(int64_t) && set_label(NumberOf(bytes));
        break;
      }
      case kFrame: in.Take(sizeof(uint64_t)); break;
      case kPut1: in.Take(sizeof(uint8_t)); break;
      case kPut4: in.Take(sizeof(uint32_t)); break;
      case kMark:
      case kEmptyList:
      case kAppends:
      case kTuple:
      case kTupleOf1:
      case kTupleOf2:
      case kMemoize: break;
      case kStop: stopped = true; break;
      default: ok = false;
    }
    if (!ok)
      return absl::DataLossError(absl::StrCat("is a pickle of other than bytes and a number (opcode ", opcode, ")"));
  }
  if (!in.done() || !has_image) return absl::DataLossError("is a pickle that does not end where it should");
  return sample;
}

}  // namespace stoker
