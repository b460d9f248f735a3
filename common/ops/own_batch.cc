#include "common/ops/own_batch.h"

#include "common/ops/loaded_ops.h"
#include "common/ops/nested.h"

namespace stoker {
namespace {

std::unique_ptr<OwnBatch> NewBatch(const google::protobuf::RepeatedPtrField<v1::Op>& ops) {
  for (const v1::Op& op : ops) {
    std::unique_ptr<OwnBatch> batch;
    const LoadedOp* const loaded = op.has_own_op() ? FindLoadedOp(op.own_op().name()) : nullptr;
    if (loaded != nullptr) batch = loaded->NewBatch();
    const auto* const transforms = batch == nullptr ? NestedTransforms(op) : nullptr;
    if (transforms != nullptr) batch = NewBatch(*transforms);
    if (batch != nullptr) return batch;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<OwnBatch> NewOwnBatch(const v1::Pipeline& pipeline) {
  if (GetLoadedOps().empty() || pipeline.has_native_size()) return nullptr;
  std::unique_ptr<OwnBatch> batch = NewBatch(pipeline.ops());
  for (const v1::Views& views : pipeline.views()) {
    if (batch != nullptr) break;
    batch = NewBatch(views.ops());
  }
  return batch;
}

}  // namespace stoker
