#ifndef STOKER_SERVER_READ_STAGED_DECOMPRESSOR_H_
#define STOKER_SERVER_READ_STAGED_DECOMPRESSOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace stoker {

// How a file is compressed as a whole.
enum class Compression {
  kGzip,  // RFC 1952, of one member or several
  kZstd,  // RFC 8878, of one frame or several, whose windows are up to 128 MiB
  kNone,  // not at all: the bytes stay as they are
};

// Returns how a file of this name is compressed: .gz, .tgz, .zst and .zstd; nothing for another name. Pure.
std::optional<Compression> CompressionOf(std::string_view name);

// Returns how a file that begins with these bytes is compressed; nothing where it is not. Pure.
std::optional<Compression> CompressionByBeginning(std::span<const uint8_t> begin);

// Returns the name without its compression: "t.tar" for t.tar.gz and t.tgz; the name itself where it tells none. Pure.
std::string PlainName(std::string_view name);

// Decompresses a file that comes piece by piece. Its memory is bounded: 64 KiB, and with kZstd a frame's window. Used
// by one thread at a time.
//
// Any bytes are safe. DataLoss for those that are not what Compression says, fail a checksum of theirs, or end early.
// Zero bytes after the last member or frame are padding; others that begin none are DataLoss.
class Decompressor {
 public:
  // Takes bytes in the order of the file. An error ends the decompression, and is returned.
  using Sink = std::function<absl::Status(std::span<const uint8_t> plain)>;

  static std::unique_ptr<Decompressor> Create(Compression compression);
  virtual ~Decompressor() = default;

  // Decompresses the next bytes of the file.
  virtual absl::Status Take(std::span<const uint8_t> bytes, const Sink& sink) = 0;

  // The file has no more bytes. DataLoss where it ought to.
  virtual absl::Status Finish() const = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STAGED_DECOMPRESSOR_H_
