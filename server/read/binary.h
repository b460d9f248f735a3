#ifndef STOKER_SERVER_READ_BINARY_H_
#define STOKER_SERVER_READ_BINARY_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stoker {

// The binary form of files that the server keeps for itself. Numbers are copied as they are in memory, which is
// little-endian. Most are of this many bytes.
inline constexpr uint64_t kNumberBytes = sizeof(uint64_t);

// Appends values to `bytes`, numbers little-endian.
class BinaryWriter {
 public:
  template <typename Number>
  void Put(Number number) {
    static_assert(std::is_integral_v<Number> && std::endian::native == std::endian::little);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }

  void PutBytes(std::string_view value) {
    Put<uint64_t>(value.size());
    bytes += value;
  }

  template <typename Number>
  void PutArray(const std::vector<Number>& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
  }

  std::string bytes;
};

// Takes values from the front of some bytes. A value beyond the end is read as zero, and done() is false from then on.
class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  Number Get() {
    const std::string_view bytes = Take(sizeof(Number));
    if (bytes.empty()) return 0;
    Number number;
    std::memcpy(&number, bytes.data(), sizeof(number));  // GCC 12 loses a zero before a copy of 0 or sizeof(number).
    return number;
  }

  std::string_view Take(uint64_t bytes) {
    if (bytes > rest_.size()) {
      ok_ = false;
      bytes = 0;
    }
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view GetBytes() { return Take(Get<uint64_t>()); }

  // Reads how many items follow, each of at least `item_bytes`. It never returns more than there are bytes for.
  uint64_t GetCount(uint64_t item_bytes) {
    const uint64_t count = Get<uint64_t>();
    if (count <= rest_.size() / item_bytes) return count;
    ok_ = false;
    return 0;
  }

  template <typename Number>
  std::vector<Number> GetArray(uint64_t count) {
    if (count > rest_.size() / sizeof(Number)) {
      ok_ = false;
      return {};
    }
    std::vector<Number> values(count);
    const std::string_view bytes = Take(count * sizeof(Number));
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  bool done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_BINARY_H_
