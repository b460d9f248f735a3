#ifndef STOKER_SERVER_DECODE_LIBJPEG_DESTINATION_H_
#define STOKER_SERVER_DECODE_LIBJPEG_DESTINATION_H_

#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "server/decode/libjpeg_errors.h"

namespace stoker {

// The buffer that a libjpeg compressor writes to. It grows as needed, and stays where it is while the compressor lives.
// Its functions run within LibjpegErrors::Run, which they leave with JERR_OUT_OF_MEMORY where memory runs out. It is
// used by one thread at a time.
class LibjpegDestination {
 public:
  // Becomes what `codec` writes to, with room for `about_bytes` at first.
  void Attach(j_compress_ptr codec, size_t about_bytes) {
    manager_.init_destination = Ignore;
    manager_.empty_output_buffer = Enlarge;
    manager_.term_destination = Ignore;
    codec->dest = &manager_;
    if (!Grow(about_bytes + 4096)) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
    manager_.next_output_byte = bytes_.data();
    manager_.free_in_buffer = bytes_.size();
  }

  // Returns what was written, and is empty then.
  std::vector<uint8_t> Take() {
    bytes_.resize(bytes_.size() - manager_.free_in_buffer);
    return std::move(bytes_);
  }

 private:
  static void Ignore(j_compress_ptr) {}

  // libjpeg calls this when the buffer is full.
  static boolean Enlarge(j_compress_ptr codec) {
    auto& to = *reinterpret_cast<LibjpegDestination*>(codec->dest);
    const size_t full = to.bytes_.size();
    if (!to.Grow(full * 2)) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
    to.manager_.next_output_byte = to.bytes_.data() + full;
    to.manager_.free_in_buffer = to.bytes_.size() - full;
    return TRUE;
  }

  bool Grow(size_t size) try {
    bytes_.resize(size);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  jpeg_destination_mgr manager_ = {};  // It comes first: Enlarge casts its address to a LibjpegDestination.
  std::vector<uint8_t> bytes_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_DECODE_LIBJPEG_DESTINATION_H_
