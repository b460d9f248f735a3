#ifndef STOKER_SERVER_READ_FORMATS_TFRECORD_CRC32C_H_
#define STOKER_SERVER_READ_FORMATS_TFRECORD_CRC32C_H_

#include <cstdint>
#include <span>

namespace stoker {

// Returns the CRC-32C of `bytes`: Castagnoli's polynomial 0x1EDC6F41 with bits reflected, begun and ended by inversion
// (RFC 3720, appendix B.4). Thread-safe. By the CPU's instruction where it has one.
uint32_t Crc32c(std::span<const uint8_t> bytes);

// The same by tables, on any CPU.
uint32_t Crc32cByTables(std::span<const uint8_t> bytes);

// Continues the inverted checksum `crc` by SSE 4.2 in `crc`, or returns false where this CPU has no instruction for it.
bool ExtendByInstruction(std::span<const uint8_t> bytes, uint32_t& crc);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_TFRECORD_CRC32C_H_
