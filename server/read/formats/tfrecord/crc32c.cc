#include "server/read/formats/tfrecord/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kReflectedPolynomial = 0x82f63b78;

// Entry [k][b] is what the byte b does to the checksum when k bytes follow it.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kReflectedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k)
    for (size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xff];
  return tables;
}

constexpr Tables kTables = MakeTables();

// Takes eight bytes at a time (Kounavis and Berry, "Novel Table Lookup-Based Algorithms for High-Performance CRC
// Generation", 2008).
uint32_t ExtendByTables(std::span<const uint8_t> bytes, uint32_t crc) {
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    uint64_t eight;
    std::memcpy(&eight, bytes.data(), sizeof eight);
    eight ^= crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][eight >> 8 * i & 0xff];
  }
  for (const uint8_t byte : bytes) crc = crc >> 8 ^ kTables[0][(crc ^ byte) & 0xff];
  return crc;
}

}  // namespace

uint32_t Crc32cByTables(std::span<const uint8_t> bytes) { return ~ExtendByTables(bytes, ~uint32_t{0}); }

uint32_t Crc32c(std::span<const uint8_t> bytes) {
  uint32_t crc = ~uint32_t{0};
  return ExtendByInstruction(bytes, crc) ? ~crc : Crc32cByTables(bytes);
}

}  // namespace stoker
