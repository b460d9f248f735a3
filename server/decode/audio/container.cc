#include "server/decode/audio/container.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "server/decode/flaw.h"

namespace stoker {
namespace {

constexpr std::string_view kOggPage("OggS\0", 5);  // how a page begins, with its version

std::string_view TextOf(std::span<const uint8_t> file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

bool HasAt(std::string_view text, size_t place, std::string_view magic) {
  return text.size() >= place && text.substr(place, magic.size()) == magic;
}

// Returns a number of `bytes` bytes at `place`, which the file must have.
uint64_t LittleEndianAt(std::span<const uint8_t> file, size_t place, int bytes) {
  uint64_t number = 0;
  for (int i = bytes - 1; i >= 0; --i) number = number << 8 | file[place + i];
  return number;
}

uint64_t BigEndianAt(std::span<const uint8_t> file, size_t place, int bytes) {
  uint64_t number = 0;
  for (int i = 0; i < bytes; ++i) number = number << 8 | file[place + i];
  return number;
}

absl::Status EndsEarly(uint64_t lacking) {
  return FlawError(Flaw::kTruncated, absl::StrCat("the audio ends early: ", lacking, " bytes are missing"));
}

// A WAV is chunks, each a name of four characters, its size as u32 and as many bytes, padded to an even place. RF64 has
// the size of `data` as u64 in its first chunk, ds64. Who writes to a pipe leaves a size of 0 or of all ones.
absl::Status CheckWav(std::span<const uint8_t> file) {
  constexpr size_t kChunkHeader = 8, kFirstChunk = 12, kDs64DataSize = kFirstChunk + kChunkHeader + 8;
  const std::string_view text = TextOf(file);
  for (uint64_t place = kFirstChunk; place + kChunkHeader <= file.size();) {
    uint64_t size = LittleEndianAt(file, place + 4, 4);
    if (HasAt(text, place, "data")) {
      if (size == UINT32_MAX && HasAt(text, 0, "RF64") && file.size() >= kDs64DataSize + 8)
        size = LittleEndianAt(file, kDs64DataSize, 8);
      const uint64_t there = file.size() - place - kChunkHeader;
      return size == 0 || size == UINT32_MAX || size <= there ? absl::OkStatus() : EndsEarly(size - there);
    }
    place += kChunkHeader + size + size % 2;
  }
  return FlawError(Flaw::kTruncated, "the audio ends early: there is no chunk `data`");
}

// A page of OGG has a header of 27 bytes, whose sixth is flags and whose last is how many bytes follow that sum up to
// the page's size. The flag 4 marks the last page. (RFC 3533)
constexpr size_t kPageHeader = 27;

// Returns the checksum of a page, in whose header it counts as zero: CRC-32 by 0x04c11db7, not reflected, begun by 0.
uint32_t OggChecksum(std::span<const uint8_t> page) {
  constexpr size_t kChecksum = 22;
  uint32_t crc = 0;
  for (size_t i = 0; i < page.size(); ++i) {
    const uint8_t byte = i >= kChecksum && i < kChecksum + 4 ? 0 : page[i];
    crc ^= uint32_t{byte} << 24;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x80000000) != 0 ? crc << 1 ^ 0x04c11db7 : crc << 1;
  }
  return crc;
}

// Checks the pages before the first with audio, which have a granule position of 0 and, together, three packets. The
// libraries do so too, but libsndfile 1.2.0 loses memory by each file in which they are wrong.
absl::Status CheckOggHeaders(std::span<const uint8_t> file) {
  constexpr size_t kGranule = 6, kChecksum = 22;
  constexpr int kPackets = 3;
  int packets = 0;
  for (size_t place = 0; place < file.size() && packets < kPackets;) {
    const std::span<const uint8_t> rest = file.subspan(place);
    size_t size = kPageHeader;
    if (rest.size() < size) return EndsEarly(size - rest.size());
    if (!HasAt(TextOf(rest), 0, kOggPage) || LittleEndianAt(rest, kGranule, 8) != 0) break;
    const size_t segments = rest[kPageHeader - 1];
    size += segments;
    if (rest.size() < size) return EndsEarly(size - rest.size());
    for (size_t i = 0; i < segments; ++i) {
      size += rest[kPageHeader + i];
      packets += rest[kPageHeader + i] < 255 ? 1 : 0;
    }
    if (rest.size() < size) return EndsEarly(size - rest.size());
    if (OggChecksum(rest.first(size)) != LittleEndianAt(rest, kChecksum, 4)) {
      packets = 0;
      break;
    }
    place += size;
  }
  return packets >= kPackets ? absl::OkStatus()
                             : absl::DataLossError("the audio cannot be decoded: its OGG Vorbis headers are damaged");
}

absl::Status CheckOgg(std::span<const uint8_t> file) {
  constexpr size_t kFlags = 5;
  constexpr uint8_t kLastPage = 4;
  const size_t last = TextOf(file).rfind(kOggPage);
  if (file.size() - last < kPageHeader || file.size() - last < kPageHeader + file[last + kPageHeader - 1])
    return FlawError(Flaw::kTruncated, "the audio ends early: within the header of a page");
  const size_t segments = file[last + kPageHeader - 1];
  uint64_t size = kPageHeader + segments;
  for (size_t i = 0; i < segments; ++i) size += file[last + kPageHeader + i];
  if (size > file.size() - last) return EndsEarly(size - (file.size() - last));
  if ((file[last + kFlags] & kLastPage) != 0) return absl::OkStatus();
  return FlawError(Flaw::kTruncated, "the audio ends early: the last page is missing");
}

// An ID3 tag before an MP3's frames has its size in four bytes of seven bits.
size_t FirstFrameOf(std::span<const uint8_t> file) {
  constexpr size_t kTagHeader = 10;
  if (!HasAt(TextOf(file), 0, "ID3") || file.size() < kTagHeader) return 0;
  size_t size = 0;
  for (size_t i = 6; i < kTagHeader; ++i) size = size << 7 | (file[i] & 0x7f);
  const bool has_footer = (file[5] & 0x10) != 0;
  return kTagHeader + size + (has_footer ? kTagHeader : 0);
}

// The first frame may have no audio but a header, "Xing" or "Info", with flags and, if the second one is set, the bytes
// from this frame to the last.
absl::Status CheckMp3(std::span<const uint8_t> file) {
  constexpr size_t kMostBefore = 64;  // bytes of the frame before the header
  constexpr uint64_t kHasFrames = 1, kHasBytes = 2;
  const size_t first = FirstFrameOf(file);
  if (first >= file.size()) return EndsEarly(first - file.size() + 1);
  const std::string_view begin = TextOf(file).substr(first, kMostBefore);
  const size_t found = std::min(begin.find("Xing"), begin.find("Info"));
  if (found == std::string_view::npos || file.size() < first + found + 16) return absl::OkStatus();
  const size_t header = first + found;
  const uint64_t flags = BigEndianAt(file, header + 4, 4);
  if ((flags & kHasBytes) == 0) return absl::OkStatus();
  const uint64_t bytes = BigEndianAt(file, header + 8 + ((flags & kHasFrames) != 0 ? 4 : 0), 4);
  const uint64_t there = file.size() - first;
  return bytes <= there ? absl::OkStatus() : EndsEarly(bytes - there);
}

bool BeginsAsMp3(std::span<const uint8_t> file) {
  return HasAt(TextOf(file), 0, "ID3") || (file.size() >= 4 && file[0] == 0xff && (file[1] & 0xe0) == 0xe0);
}

}  // namespace

absl::StatusOr<AudioContainer> ContainerOf(std::span<const uint8_t> file) {
  constexpr size_t kFirstPacket = 28;  // of an OGG file, behind its first page's header
  const std::string_view text = TextOf(file);
  if ((HasAt(text, 0, "RIFF") || HasAt(text, 0, "RF64")) && HasAt(text, 8, "WAVE")) return AudioContainer::kWav;
  if (HasAt(text, 0, "fLaC")) return AudioContainer::kFlac;
  if (HasAt(text, 0, kOggPage) && HasAt(text, kFirstPacket, "\x01vorbis")) {
    const absl::Status headers = CheckOggHeaders(file);
    if (!headers.ok()) return headers;
    return AudioContainer::kOgg;
  }
  if (HasAt(text, 0, "OggS")) return absl::DataLossError("is OGG of another codec than Vorbis; convert it");
  if (BeginsAsMp3(file)) return AudioContainer::kMp3;
  return absl::DataLossError(file.empty() ? "is empty" : "is no WAV, FLAC, OGG Vorbis or MP3");
}

absl::Status CheckEnding(std::span<const uint8_t> file, AudioContainer container) {
  switch (container) {
    case AudioContainer::kWav: return CheckWav(file);
    case AudioContainer::kOgg: return CheckOgg(file);
    case AudioContainer::kMp3: return CheckMp3(file);
    case AudioContainer::kFlac: break;
  }
  return absl::OkStatus();
}

}  // namespace stoker
