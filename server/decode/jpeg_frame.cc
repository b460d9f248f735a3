#include "server/decode/jpeg_frame.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

// Markers (ITU-T T.81, table B.1).
enum Marker : uint8_t {
  kBaseline = 0xc0,
  kExtended = 0xc1,
  kHuffmanTables = 0xc4,
  kStartOfScan = 0xda,
  kQuantizationTables = 0xdb,
  kRestartInterval = 0xdd,
  kJfif = 0xe0,
  kLastApplication = 0xef,
  kAdobe = 0xee,
  kComment = 0xfe,
};

// Reads big-endian numbers, never beyond the end.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  size_t left() const { return bytes_.size(); }
  std::span<const uint8_t> rest() const { return bytes_; }
  bool failed() const { return failed_; }

  int Byte() { return Take(1).empty() ? 0 : last_[0]; }
  int Word() { return Take(2).empty() ? 0 : last_[0] << 8 | last_[1]; }

  // Takes the next `count` bytes. Where fewer are left it returns none, and failed() is true from then on.
  std::span<const uint8_t> Take(size_t count) {
    failed_ = failed_ || count > bytes_.size();
    last_ = failed_ ? std::span<const uint8_t>() : bytes_.first(count);
    if (!failed_) bytes_ = bytes_.subspan(count);
    return last_;
  }

 private:
  std::span<const uint8_t> bytes_, last_;
  bool failed_ = false;
};

// Collects what the segments before the scan say.
class Headers {
 public:
  // Reads one segment. Returns false where the region decoder cannot take a file that holds it.
  bool Read(uint8_t marker, Bytes segment);

  // Reads the scan's own header, with the same result.
  bool ReadScan(Bytes segment);

  // Returns the frame whose entropy-coded bytes are `scan`. Requires that ReadScan returned true.
  std::optional<JpegFrame> Frame(std::span<const uint8_t> scan);

 private:
  bool ReadQuantization(Bytes segment);
  bool ReadHuffman(Bytes segment);
  bool ReadStartOfFrame(Bytes segment);
  bool IsYCbCr() const;

  struct Id {
    int id = 0, quantization = 0;
  };

  JpegFrame frame_;
  std::array<Id, 3> ids_;
  std::array<std::optional<std::array<int16_t, 64>>, 4> quantization_;
  std::array<std::optional<HuffmanSpec>, 4> dc_, ac_;
  bool jfif_ = false, adobe_ = false;
};

bool Headers::ReadQuantization(Bytes segment) {
  while (segment.left() > 0) {
    const int id = segment.Byte();
    const auto values = segment.Take(64);
    if (id > 3 || segment.failed()) return false;  // An id above 3 says that the values have 16 bits.
    quantization_[id].emplace();
    std::copy(values.begin(), values.end(), quantization_[id]->begin());
  }
  return true;
}

bool Headers::ReadHuffman(Bytes segment) {
  while (segment.left() > 0) {
    const int id = segment.Byte();
    if ((id & ~0x13) != 0) return false;
    HuffmanSpec spec;
    size_t total = 0;
    for (uint8_t& count : spec.counts) total += count = static_cast<uint8_t>(segment.Byte());
    const auto symbols = segment.Take(total);
    if (segment.failed() || total > 256) return false;
    std::copy(symbols.begin(), symbols.end(), spec.symbols.begin());
    ((id & 0x10) != 0 ? ac_ : dc_)[id & 3] = spec;
  }
  return true;
}

bool Headers::ReadStartOfFrame(Bytes segment) {
  if (!frame_.components.empty() || segment.Byte() != 8) return false;
  frame_.size.height = segment.Word();
  frame_.size.width = segment.Word();
  const int components = segment.Byte();
  if ((components != 1 && components != 3) || frame_.size.height == 0 || frame_.size.width == 0) return false;
  for (int i = 0; i < components; ++i) {
    ids_[i].id = segment.Byte();
    const int sampling = segment.Byte();
    ids_[i].quantization = segment.Byte();
    const int horizontal = sampling >> 4, vertical = sampling & 15;
    if (horizontal < 1 || horizontal > 4 || vertical < 1 || vertical > 4) return false;
    frame_.components.push_back({.horizontal = horizontal, .vertical = vertical});
  }
  return !segment.failed() && segment.left() == 0;
}

bool Headers::Read(uint8_t marker, Bytes segment) {
  switch (marker) {
    case kBaseline:
    case kExtended: return ReadStartOfFrame(segment);
    case kQuantizationTables: return ReadQuantization(segment);
    case kHuffmanTables: return ReadHuffman(segment);
    case kRestartInterval: frame_.restart_interval = segment.Word(); return !segment.failed() && segment.left() == 0;
    case kAdobe: {
      const auto body = segment.Take(12);
      if (segment.failed() || std::memcmp(body.data(), "Adobe", 5) != 0) return true;
      adobe_ = true;
      return body[11] == 1;  // The color transform 1 is YCbCr.
    }
    case kJfif: {
      const auto body = segment.Take(14);
      if (segment.failed() || std::memcmp(body.data(), "JFIF", 5) != 0) return true;
      jfif_ = true;
      return body[5] == 1;  // libjpeg warns of any other major version, so it must read the file.
    }
    default: return (marker > kJfif && marker <= kLastApplication) || marker == kComment;
  }
}

bool Headers::ReadScan(Bytes segment) {
  if (frame_.components.empty() || segment.Byte() != static_cast<int>(frame_.components.size())) return false;
  for (size_t i = 0; i < frame_.components.size(); ++i) {
    JpegComponent& component = frame_.components[i];
    if (segment.Byte() != ids_[i].id) return false;
    const int tables = segment.Byte();
    if ((tables & ~0x33) != 0 || ids_[i].quantization > 3) return false;
    const auto &dc = dc_[tables >> 4], &ac = ac_[tables & 3];
    const auto& quantization = quantization_[ids_[i].quantization];
    if (!dc.has_value() || !ac.has_value() || !quantization.has_value()) return false;
    component.dc = *dc;
    component.ac = *ac;
    component.quantization = *quantization;
  }
  // A sequential scan carries the whole spectrum, coefficients 0 to 63, at full precision.
  const bool sequential = segment.Byte() == 0 && segment.Byte() == 63 && segment.Byte() == 0;
  return sequential && !segment.failed() && segment.left() == 0;
}

// Where neither a JFIF nor an Adobe segment has said, this guesses by the components' ids as libjpeg does.
bool Headers::IsYCbCr() const {
  if (jfif_ || adobe_) return true;
  return ids_[0].id == 1 && ids_[1].id == 2 && ids_[2].id == 3;
}

std::optional<JpegFrame> Headers::Frame(std::span<const uint8_t> scan) {
  frame_.scan = scan;
  JpegComponent& luma = frame_.components[0];
  if (frame_.components.size() == 1) {
    luma.horizontal = luma.vertical = 1;  // A single component is never interleaved, so that its MCU is one block.
    return frame_;
  }
  if (!IsYCbCr() || luma.horizontal > 2 || luma.vertical > 2) return std::nullopt;
  frame_.horizontal = luma.horizontal;
  frame_.vertical = luma.vertical;
  for (int i : {1, 2})
    if (frame_.components[i].horizontal != 1 || frame_.components[i].vertical != 1) return std::nullopt;
  return frame_;
}

}  // namespace

std::optional<JpegFrame> ReadJpegFrame(std::span<const uint8_t> file) {
  Headers headers;
  Bytes bytes(file);
  if (bytes.Word() != 0xffd8) return std::nullopt;
  while (!bytes.failed()) {
    if (bytes.Byte() != 0xff) return std::nullopt;
    const auto marker = static_cast<uint8_t>(bytes.Byte());
    const int length = bytes.Word();
    if (length < 2) return std::nullopt;
    const Bytes segment(bytes.Take(length - 2));
    if (bytes.failed()) return std::nullopt;
    if (marker == kStartOfScan) {
      if (!headers.ReadScan(segment)) return std::nullopt;
      return headers.Frame(bytes.rest());
    }
    if (!headers.Read(marker, segment)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace stoker
