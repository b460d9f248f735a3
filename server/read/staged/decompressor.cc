#include "server/read/staged/decompressor.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr size_t kPieceBytes = 64 << 10;

absl::Status Wrong(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("cannot be decompressed: ", what));
}

// What gzip and zstd have in common: members or frames one after another, and padding.
class Members : public Decompressor {
 public:
  absl::Status Take(std::span<const uint8_t> bytes, const Sink& sink) final {
    while (!bytes.empty()) {
      if (!inside_ && members_ > 0) {
        // Between members, zeros are padding up to the end.
        const auto other = std::find_if(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte != 0; });
        if (other != bytes.begin()) is_padded_ = true;
        bytes = bytes.subspan(other - bytes.begin());
        if (bytes.empty()) break;
        if (is_padded_) return Wrong("there is something after its end");
      }
      if (!inside_) STOKER_RETURN_IF_ERROR(Begin());
      inside_ = true;
      size_t taken = 0, made = 0;
      STOKER_RETURN_IF_ERROR(Step(bytes, taken, made));
      if (inside_ && taken == 0 && made == 0) return Wrong("it leads nowhere");
      bytes = bytes.subspan(taken);
      if (made > 0) STOKER_RETURN_IF_ERROR(sink({piece_.data(), made}));
      if (!inside_) ++members_;
    }
    // What is left in the library's buffers comes out without further input.
    for (size_t made = kPieceBytes; inside_ && made == kPieceBytes;) {
      size_t taken = 0;
      STOKER_RETURN_IF_ERROR(Step({}, taken, made));
      if (made > 0) STOKER_RETURN_IF_ERROR(sink({piece_.data(), made}));
      if (!inside_) ++members_;
    }
    return absl::OkStatus();
  }

  absl::Status Finish() const final { return inside_ || members_ == 0 ? Wrong("it ends early") : absl::OkStatus(); }

 protected:
  // Begins a member.
  virtual absl::Status Begin() = 0;

  // Takes some of `bytes`, and fills some of `piece_`. Clears `inside_` at a member's end.
  virtual absl::Status Step(std::span<const uint8_t> bytes, size_t& taken, size_t& made) = 0;

  std::vector<uint8_t> piece_ = std::vector<uint8_t>(kPieceBytes);
  bool inside_ = false;  // a member

 private:
  uint64_t members_ = 0;    // that have ended
  bool is_padded_ = false;  // whether zeros have followed them
};

class Gzip final : public Members {
 public:
  ~Gzip() override {
    if (is_open_) inflateEnd(&stream_);
  }

 private:
  absl::Status Begin() override {
    constexpr int kGzipOnly = MAX_WBITS + 16;
    const int begun = is_open_ ? inflateReset(&stream_) : inflateInit2(&stream_, kGzipOnly);
    if (begun != Z_OK) return absl::UnavailableError("there is no memory to decompress it");
    is_open_ = true;
    return absl::OkStatus();
  }

  absl::Status Step(std::span<const uint8_t> bytes, size_t& taken, size_t& made) override {
    const size_t most = std::min<size_t>(bytes.size(), 1 << 30);
    stream_.next_in = const_cast<uint8_t*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(most);
    stream_.next_out = piece_.data();
    stream_.avail_out = static_cast<uInt>(piece_.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    taken = most - stream_.avail_in;
    made = piece_.size() - stream_.avail_out;
    if (result == Z_STREAM_END) {
      inside_ = false;
    } else if (result == Z_MEM_ERROR) {
      return absl::UnavailableError("there is no memory to decompress it");
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return Wrong(stream_.msg == nullptr ? "it is no gzip file" : stream_.msg);
    }
    return absl::OkStatus();
  }

  z_stream stream_ = {};
  bool is_open_ = false;
};

class Zstd final : public Members {
 public:
  Zstd() : stream_(ZSTD_createDStream()) {
    STOKER_CHECK(stream_ != nullptr);
    constexpr int kMostWindowLog = 27;
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kMostWindowLog);
  }
  ~Zstd() override { ZSTD_freeDStream(stream_); }

 private:
  absl::Status Begin() override {
    header_.clear();
    frame_made_ = 0;
    return absl::OkStatus();
  }

  absl::Status Step(std::span<const uint8_t> bytes, size_t& taken, size_t& made) override {
    ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer out = {piece_.data(), piece_.size(), 0};
    const size_t left = ZSTD_decompressStream(stream_, &out, &in);
    taken = in.pos;
    made = out.pos;
    if (ZSTD_isError(left)) return Wrong(ZSTD_getErrorName(left));
    frame_made_ += made;
    const size_t of_header = std::min(taken, kHeaderBytes - header_.size());
    header_.insert(header_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(of_header));
    if (header_.size() >= sizeof(uint32_t) && !IsFrame()) return Wrong("it is no zstd file of today's format");
    if (left > 0) return absl::OkStatus();
    inside_ = false;
    // The library compares the frame's size with what it made only where it gets the frame at once.
    const unsigned long long size = ZSTD_getFrameContentSize(header_.data(), header_.size());
    if (size < ZSTD_CONTENTSIZE_ERROR && size != frame_made_) return Wrong("it has other bytes than it tells of");
    return absl::OkStatus();
  }

  // Whether the frame is one, or one to be skipped, and none of the formats before version 0.8, of which the library
  // takes some, and only where it gets them at once.
  bool IsFrame() const {
    uint32_t magic = 0;
    std::memcpy(&magic, header_.data(), sizeof magic);
    return magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
  }

  static constexpr size_t kHeaderBytes = 18;  // is the most that a frame's header has

  std::vector<uint8_t> header_;  // the frame's first bytes
  uint64_t frame_made_ = 0;      // of the frame
  ZSTD_DStream* const stream_;
};

// What is not compressed.
class Copier final : public Decompressor {
 public:
  absl::Status Take(std::span<const uint8_t> bytes, const Sink& sink) override { return sink(bytes); }
  absl::Status Finish() const override { return absl::OkStatus(); }
};

bool EndsWith(std::string_view name, std::string_view suffix) {
  return name.size() > suffix.size() && name.ends_with(suffix);
}

}  // namespace

std::optional<Compression> CompressionOf(std::string_view name) {
  if (EndsWith(name, ".gz") || EndsWith(name, ".tgz")) return Compression::kGzip;
  if (EndsWith(name, ".zst") || EndsWith(name, ".zstd")) return Compression::kZstd;
  return std::nullopt;
}

std::optional<Compression> CompressionByBeginning(std::span<const uint8_t> begin) {
  if (begin.size() >= 3 && begin[0] == 0x1f && begin[1] == 0x8b && begin[2] == 8) return Compression::kGzip;
  if (begin.size() >= 4 && begin[0] == 0x28 && begin[1] == 0xb5 && begin[2] == 0x2f && begin[3] == 0xfd)
    return Compression::kZstd;
  return std::nullopt;
}

std::string PlainName(std::string_view name) {
  if (EndsWith(name, ".tgz")) return std::string(name.substr(0, name.size() - 4)) + ".tar";
  return std::string(CompressionOf(name).has_value() ? name.substr(0, name.rfind('.')) : name);
}

std::unique_ptr<Decompressor> Decompressor::Create(Compression compression) {
  switch (compression) {
    case Compression::kGzip: return std::make_unique<Gzip>();
    case Compression::kZstd: return std::make_unique<Zstd>();
    case Compression::kNone: break;
  }
  return std::make_unique<Copier>();
}

}  // namespace stoker
