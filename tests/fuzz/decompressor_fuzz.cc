// Fuzzes decompression: u8 what (0: gzip, 1: zstd, else the name and beginning decide), u8 the bytes of a piece less
// one, then a file. Whole or by pieces, the result is the same; no more than 16 MiB are made of it.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "server/read/staged/decompressor.h"

namespace stoker {
namespace {

constexpr size_t kMost = 16 << 20;

struct Result {
  bool ok = false;
  std::string plain;
};

Result Decompress(Compression compression, std::span<const uint8_t> file, size_t piece) {
  Result result;
  const auto decompressor = Decompressor::Create(compression);
  const auto sink = [&](std::span<const uint8_t> plain) -> absl::Status {
    if (plain.empty()) std::abort();
    if (result.plain.size() + plain.size() > kMost) return absl::ResourceExhaustedError("too much");
    result.plain.append(reinterpret_cast<const char*>(plain.data()), plain.size());
    return absl::OkStatus();
  };
  for (size_t at = 0; at < file.size(); at += piece)
    if (!decompressor->Take(file.subspan(at, std::min(piece, file.size() - at)), sink).ok()) return result;
  result.ok = decompressor->Finish().ok();
  return result;
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  if (size < 2) return 0;
  const std::span<const uint8_t> file(data + 2, size - 2);
  auto compression = data[0] == 0 ? Compression::kGzip : Compression::kZstd;
  if (data[0] > 1) compression = CompressionByBeginning(file).value_or(Compression::kGzip);
  const Result whole = Decompress(compression, file, file.empty() ? 1 : file.size());
  const Result pieces = Decompress(compression, file, data[1] + 1u);
  if (whole.ok != pieces.ok || (whole.ok && whole.plain != pieces.plain)) std::abort();
  return 0;
}
