#ifndef STOKER_SERVER_READ_CACHED_ADMISSION_H_
#define STOKER_SERVER_READ_CACHED_ADMISSION_H_

#include <cstdint>

#include "common/identity/mix.h"

namespace stoker {

// Decides whether a full cache takes something new and gives up what was not used for longest.
//
// An epoch reads every sample once, and the next one does so again. Of a set larger than the cache, the least recently
// used is then what is needed soonest, and an LRU cache hits seldom or never. The best that can be done is to keep what
// is there: it hits as often as the cache is large. So what is new is refused, but for
// - one in kOneIn, as BIP does (Qureshi, Jaleel, Patt, Steely, Emer: Adaptive Insertion Policies for High Performance
//   Caching, ISCA 2007), which lets the cache follow what is read, at the price of as small a part of the hits;
// - where the oldest was not used while twice the bytes of all open datasets were asked for. Two epochs of all of them
//   passed without it, so it belongs to none.
//
// Time is counted in bytes that were asked for. One thread at a time: the owner's mutex guards it.
class Admission {
 public:
  static constexpr uint64_t kOneIn = 32;

  enum class Kind {
    kServing,
    kFilling,  // What was used since the start stays, and all else goes for what is new.
  };

  explicit Admission(Kind kind) : kind_(kind) {}

  // Somebody asked for so many bytes, be they there or not.
  void Ask(uint64_t bytes) { now_ += kind_ == Kind::kServing ? bytes : 0; }

  // Returns the time. What was there at the start was last used at 0, before any time.
  uint64_t now() const { return now_; }

  // Bytes of all samples of the datasets that are open.
  void ExpectBytes(uint64_t bytes) { expected_bytes_ = bytes; }
  uint64_t expected_bytes() const { return expected_bytes_; }

  // Whether what was used last at `oldest` belongs to nothing that is read.
  bool IsStale(uint64_t oldest) const { return now_ - oldest > (kind_ == Kind::kServing ? 2 * expected_bytes_ : 0); }

  // Whether what is new is taken though nothing is stale. Another call may give another answer.
  bool Draw() { return kind_ == Kind::kServing && Mix(++draws_) % kOneIn == 0; }

 private:
  const Kind kind_;
  uint64_t now_ = 1, expected_bytes_ = 0, draws_ = 0;
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CACHED_ADMISSION_H_
