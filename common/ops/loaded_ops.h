#ifndef STOKER_COMMON_OPS_LOADED_OPS_H_
#define STOKER_COMMON_OPS_LOADED_OPS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/fields/image_size.h"
#include "common/identity/draws.h"
#include "common/ops/own_batch.h"
#include "common/ops/parameters.h"
#include "stoker/v1/data_service.pb.h"
#include "stoker/v1/pipeline.pb.h"

namespace stoker {

// An op that an operator brings, as a server has loaded it. It lives as long as the process. Immutable, and its
// functions are called by many threads at once.
class LoadedOp {
 public:
  struct Argument {
    std::string name;
    OwnValue otherwise;  // where it is not given; its type is the argument's
    bool required = false;

    // Whether it is a field of the sample, of the type and as many dimensions as `otherwise`, which no pipeline gives.
    bool is_field() const { return std::holds_alternative<OwnField>(otherwise); }
  };

  virtual ~LoadedOp() = default;

  virtual const std::string& name() const = 0;
  virtual uint32_t version() const = 0;
  virtual const std::string& summary() const = 0;
  virtual const std::vector<Argument>& arguments() const = 0;

  // Names, with their versions, what the op needs that may differ from server to server. Empty where its own version
  // says all.
  virtual std::string made_of() const { return ""; }

  // Returns whether images have another size after the op than before it, for some arguments and sizes.
  virtual bool changes_size() const = 0;

  // The functions below require values of all arguments() in their order, and a size of at least one pixel. Check and
  // SizeAfter do not look at fields.

  // InvalidArgument says what is wrong with the values.
  virtual absl::Status Check(const std::vector<OwnValue>& values) const = 0;

  // Returns the image's size after the op. FailedPrecondition where it makes none of that size.
  virtual absl::StatusOr<ImageSize> SizeAfter(const std::vector<OwnValue>& values, ImageSize size) const = 0;

  // Makes the image `out`, which has SizeAfter, of `in`. Both are H×W×3 packed uint8. DataLoss blames the sample,
  // Internal the machine; after either `out` holds garbage.
  virtual absl::Status Apply(const std::vector<OwnValue>& values, const DrawKey& key, const uint8_t* in, ImageSize size,
                             uint8_t* out, ImageSize size_after) const = 0;

  // Returns room for images that wait for this op and others of its kind; null where it is called image by image, or
  // where no room is left.
  virtual std::unique_ptr<OwnBatch> NewBatch() const { return nullptr; }

  // Returns the memory that such room takes.
  virtual uint64_t batch_bytes() const { return 0; }

  // Returns a hash of what the op makes of a few images, by which servers are compared.
  uint64_t check() const { return check_; }
  void set_check(uint64_t check) { check_ = check; }

 private:
  uint64_t check_ = 0;
};

// OK where an image of `from` may become one of `to` by `op`; else FailedPrecondition, which names the op.
absl::Status CheckSizeAfter(const LoadedOp& op, ImageSize from, ImageSize to);

using LoadedOps = std::vector<std::unique_ptr<LoadedOp>>;

// Sets the own ops of this process, and drops those that were set before. A server does so once, before it uses any op.
// A client has none.
void SetLoadedOps(LoadedOps ops);
const LoadedOps& GetLoadedOps();

// Returns the own op of that name, or null.
const LoadedOp* FindLoadedOp(const std::string& name);

// Returns the values of all arguments of `op`, in the order of `loaded`; fields are `otherwise`. InvalidArgument,
// "fog.amount: …", names an argument that is unknown, missing, repeated or of another type.
absl::StatusOr<std::vector<OwnValue>> ValuesOf(const v1::OwnOp& op, const LoadedOp& loaded);

// Returns an own op of this process that changes sizes, which `op` is or holds; null if there is none.
const LoadedOp* SizeChangingOp(const v1::Op& op);

// Returns the own ops of this process that `pipeline` names, also inside of other ops and in views.
std::vector<const LoadedOp*> OwnOpsOf(const v1::Pipeline& pipeline);

// Returns what clients are told of an op.
v1::OwnOpInfo InfoOf(const LoadedOp& op);

// Writes version, check and all arguments into every own op of `pipeline`, also those inside of other ops and in views.
// InvalidArgument names an op that this process does not have, or has in another form than the pipeline asks for.
absl::Status ResolveOwnOps(v1::Pipeline& pipeline);

}  // namespace stoker

#endif  // STOKER_COMMON_OPS_LOADED_OPS_H_
