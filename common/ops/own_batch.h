#ifndef STOKER_COMMON_OPS_OWN_BATCH_H_
#define STOKER_COMMON_OPS_OWN_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "common/fields/image_size.h"
#include "common/ops/parameters.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// Images that wait for the own ops that take them, so that what lies in another process is asked once for several. They
// are written straight to where the op finds them.
//
// One thread at a time. It has room for few images, and for none that is large.
class OwnBatch {
 public:
  virtual ~OwnBatch() = default;

  // Takes in an image of `size` for `own`, and returns where its H×W×3 packed uint8 have to be written before Run. Null
  // where there is no room for it and for what becomes of it, or where `own` is an op that is called image by image.
  virtual uint8_t* Add(const OwnParameters& own, ImageSize size) = 0;

  // Returns how many images it has.
  virtual size_t size() const = 0;

  // Returns whether another image like the last one has no room.
  virtual bool full() const = 0;

  // Leaves out the images from number `count` on.
  virtual void Truncate(size_t count) = 0;

  // Has the ops make all images, in their order, but for those behind the first failure. Called once; then Truncate(0)
  // begins anew. It asks `stop` now and then, and leaves images out once that says so.
  virtual void Run(const std::function<bool()>& stop) = 0;

  // Returns what became of image number `i`: H×W×3 packed uint8 of the size that Add's `own` says, which may be
  // changed, and stay until it is truncated. Errors are those of LoadedOp::Apply; one that is not DataLoss is also the
  // answer for the images behind it.
  virtual absl::StatusOr<uint8_t*> Made(size_t i) const = 0;
};

// Returns room for images that wait for own ops of `pipeline`; null where it has no op that is worth it, where images
// have native sizes, whose place in a span is known only when the samples before are made, or where no room is left.
std::unique_ptr<OwnBatch> NewOwnBatch(const v1::Pipeline& pipeline);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_OWN_BATCH_H_
