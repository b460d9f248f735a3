#include "server/work/decoded_cache.h"

#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/config/byte_size.h"
#include "common/identity/mix.h"

namespace stoker {
namespace {

constexpr uint64_t kPixelBytes = 3;

// After so many misses it is looked at again how large images are.
constexpr uint64_t kLookAfter = 256;

uint64_t BytesOf(ImageSize size) {
  return static_cast<uint64_t>(size.height) * static_cast<uint64_t>(size.width) * kPixelBytes;
}

}  // namespace

KeptBytes DecodedCache::Images::Get(const Image& image, ImageSize size, const DecodeOptions& options) const {
  const uint64_t bytes = BytesOf(size);
  if (KeptBytes kept = cache_.memory_.Get(KeyOf(image, options), bytes); kept != nullptr) {
    ++cache_.hits_;
    return kept;
  }
  cache_.memory_.Ask(bytes);
  cache_.missed_bytes_ += bytes;
  if (++cache_.misses_ % kLookAfter == 0) cache_.Expect();
  return nullptr;
}

bool DecodedCache::Images::Reserve(ImageSize size) const { return cache_.memory_.Reserve(BytesOf(size)); }

void DecodedCache::Images::Release(ImageSize size) const { cache_.memory_.Release(BytesOf(size)); }

void DecodedCache::Images::Put(const Image& image, const DecodeOptions& options, const ImageView& view) const try {
  auto pixels = std::make_shared<std::vector<uint8_t>>(BytesOf(view.size));
  uint8_t* out = pixels->data();
  for (int64_t y = 0; y < view.size.height; ++y) {
    const uint8_t* in = view.Row(y);
    for (int64_t x = 0; x < view.size.width; ++x, in += view.pixel_bytes, out += kPixelBytes)
      std::memcpy(out, in, kPixelBytes);
  }
  cache_.memory_.Put(KeyOf(image, options), std::move(pixels));
} catch (const std::bad_alloc&) {
  Release(view.size);
}

SampleKey DecodedCache::Images::KeyOf(const Image& image, const DecodeOptions& options) const {
  // Numbers that tell images apart, after bits that look random.
  const uint64_t words[4] = {
      MixAll({number_, image.sample, static_cast<uint64_t>(image.source), static_cast<uint64_t>(image.eighths)}),
      number_, image.sample,
      static_cast<uint64_t>(options.max_scans) << 32 | static_cast<uint64_t>(image.source & 0xffff) << 16 |
          static_cast<uint64_t>(options.warnings & 0xff) << 8 | static_cast<uint64_t>(image.eighths & 0xff)};
  SampleKey key;
  static_assert(sizeof words == sizeof key);
  std::memcpy(key.data(), words, sizeof words);
  return key;
}

std::shared_ptr<const DecodedCache::Images> DecodedCache::Open(const std::shared_ptr<const Dataset>& dataset) {
  if (!enabled()) return nullptr;
  std::shared_ptr<const Images> images;
  {
    absl::MutexLock lock(&mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.dataset.expired(); });
    Known& known = known_[dataset.get()];
    if (known.images == nullptr) known = {dataset, std::make_shared<const Images>(*this, ++opened_)};
    images = known.images;
  }
  Expect();
  return images;
}

void DecodedCache::Expect() {
  const uint64_t misses = misses_;
  const uint64_t usual = misses == 0 ? 0 : missed_bytes_ / misses;
  uint64_t samples = 0;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, known] : known_)
      if (const auto dataset = known.dataset.lock()) samples += dataset->size();
  }
  memory_.ExpectBytes(samples * usual);
}

DecodedCache::Stats DecodedCache::stats() const { return {hits_, misses_, memory_.stats()}; }

std::string DecodedCache::Text(const Stats& was) const {
  const Stats is = stats();
  const uint64_t hits = is.hits - was.hits, misses = is.misses - was.misses;
  return absl::StrCat("decoded cache: ", hits, " of ", hits + misses, " images found; ",
                      FormatByteSize(is.memory.bytes), " in memory");
}

}  // namespace stoker
