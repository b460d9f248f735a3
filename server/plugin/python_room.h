#ifndef STOKER_SERVER_PLUGIN_PYTHON_ROOM_H_
#define STOKER_SERVER_PLUGIN_PYTHON_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "common/fields/image_size.h"

namespace stoker {

// Where an image may begin in memory that is shared with Python: at multiples of this, _ALIGNMENT of _op_worker.py.
inline constexpr size_t kImageAlignment = 64;

// Returns the bytes of an image of `size`, H×W×3.
inline size_t PixelBytes(ImageSize size) {
  return static_cast<size_t>(size.height) * static_cast<size_t>(size.width) * 3;
}

// Memory that a server and all its processes of Python map. It holds the images of one request, and what became of
// each:
//
//   byte     bytes
//   0        16 × 16    for each image: result, place, bytes of text, and 0, each a uint32
//   256      16 × 4096  for each image: text
//   65792    …          images
//
// `result` is 0 until the image is done, so that it also tells how far Python is. The last of the first image's numbers
// is 1 once Python should stop. One thread at a time.
class PythonRoom {
 public:
  static constexpr size_t kMostImages = 16, kTextBytes = 4096, kImagesAt = kMostImages * (16 + kTextBytes);
  static constexpr size_t kBytes = size_t{4} << 20;

  // What became of an image.
  struct Result {
    enum class Kind : uint8_t { kMissing, kOk, kBadSample, kFailed };
    Kind kind = Kind::kMissing;
    bool in_place = false;  // the result lies where the image was
    std::string text;       // why, where it is not kOk; printable
  };

  // Internal where the machine has no memory.
  static absl::StatusOr<std::unique_ptr<PythonRoom>> Create();

  ~PythonRoom();

  PythonRoom(const PythonRoom&) = delete;
  PythonRoom& operator=(const PythonRoom&) = delete;

  // Makes all results missing.
  void Clear();

  // Returns what became of image `i` < kMostImages.
  Result ResultOf(size_t i) const { return Read({memory_, kImagesAt}, i); }

  // Has Python leave out the images that it did not begin.
  void Stop();

  // Returns how many images are done, one after the other.
  size_t Done() const;

  // Returns the byte at `offset` < kBytes.
  uint8_t* At(size_t offset) const { return memory_ + offset; }

  int descriptor() const { return descriptor_; }

  // Returns the result of image `i` in `head`, the first kImagesAt bytes of a room, which may hold anything.
  static Result Read(std::span<const uint8_t> head, size_t i);

 private:
  PythonRoom(int descriptor, uint8_t* memory) : descriptor_(descriptor), memory_(memory) {}

  const int descriptor_;
  uint8_t* const memory_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLUGIN_PYTHON_ROOM_H_
