#ifndef STOKER_SERVER_WORK_DECODED_CACHE_H_
#define STOKER_SERVER_WORK_DECODED_CACHE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/decode/image.h"
#include "server/decode/options.h"
#include "server/read/cached/memory_tier.h"
#include "server/read/dataset.h"

namespace stoker {

// Keeps decoded images in memory, for later epochs and for jobs of other seeds and pipelines. What they crop, resize
// and augment then needs no decoding. Which images stay when there are too many, MemoryTier says.
//
// An image is kept whole, at the size that it was decoded at. Since a decode of a part gives the pixels of a whole
// decode (see DecodedImage), a sample's bytes do not depend on what is kept.
//
// Thread-safe.
class DecodedCache {
 public:
  struct Stats {
    uint64_t hits = 0, misses = 0;  // images, since the start
    MemoryTier::Stats memory;
  };

  // One image of a dataset, as it is decoded.
  struct Image {
    uint64_t sample = 0;  // its id
    int source = 0;       // the field of the dataset's schema
    int eighths = 8;      // the size that it is decoded at: see DecodeTarget
  };

  // The images of one dataset. Thread-safe.
  class Images {
   public:
    Images(DecodedCache& cache, uint64_t number) : cache_(cache), number_(number) {}

    // Returns H×W×3 uint8 pixels of `image`, whose size at its eighths is `size`; null where it is not kept. What
    // `options` judge otherwise is another image.
    KeptBytes Get(const Image& image, ImageSize size, const DecodeOptions& options) const;

    // Whether an image of `size` is to be kept. Then it is to be decoded whole, and the caller ends with Put or
    // Release.
    bool Reserve(ImageSize size) const;
    void Release(ImageSize size) const;

    // Keeps a copy of `view`, all of the image. Where memory runs out, nothing is kept.
    void Put(const Image& image, const DecodeOptions& options, const ImageView& view) const;

   private:
    SampleKey KeyOf(const Image& image, const DecodeOptions& options) const;

    DecodedCache& cache_;
    const uint64_t number_;  // that no other dataset has
  };

  // Keeps up to `budget_bytes`; 0: nothing.
  explicit DecodedCache(uint64_t budget_bytes) : memory_(budget_bytes, Admission::Kind::kServing) {}
  DecodedCache(const DecodedCache&) = delete;
  DecodedCache& operator=(const DecodedCache&) = delete;

  bool enabled() const { return memory_.enabled(); }

  // Returns the dataset's images, which must not outlive the cache; null where nothing is kept. All streams of a
  // dataset share what is kept. One that was opened anew, as by a reload, has nothing.
  std::shared_ptr<const Images> Open(const std::shared_ptr<const Dataset>& dataset);

  Stats stats() const;

  // For the log: "decoded cache: 10 of 12 images found; 1.5MiB in memory". Images are those since `was`.
  std::string Text(const Stats& was) const;

 private:
  struct Known {
    std::weak_ptr<const Dataset> dataset;
    std::shared_ptr<const Images> images;
  };

  // Tells Admission how many bytes the images of all datasets have, as far as can be known.
  void Expect();

  MemoryTier memory_;
  std::atomic<uint64_t> hits_ = 0, misses_ = 0, missed_bytes_ = 0;

  absl::Mutex mutex_;
  std::map<const Dataset*, Known> known_ ABSL_GUARDED_BY(mutex_);
  uint64_t opened_ ABSL_GUARDED_BY(mutex_) = 0;  // datasets, ever
};

}  // namespace stoker

#endif  // STOKER_SERVER_WORK_DECODED_CACHE_H_
