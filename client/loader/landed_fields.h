#ifndef STOKER_CLIENT_LOADER_LANDED_FIELDS_H_
#define STOKER_CLIENT_LOADER_LANDED_FIELDS_H_

#include <memory>
#include <vector>

#include "absl/base/call_once.h"
#include "client/device/device.h"
#include "client/loader/assembly.h"
#include "client/loader/slab_layout.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// The fields of a batch as the servers made them, in the host's memory. Keeps the batch's slab. Thread-safe.
class LandedFields {
 public:
  // `fields` and `layout` are those of the span's fields, in the same order.
  LandedFields(std::shared_ptr<const std::vector<v1::Field>> fields, const SlabLayout& layout,
               const LandedBatch& batch);

  // The fields whose samples have one size; nothing in the place of others.
  const std::vector<std::span<const uint8_t>>& fixed() const { return fixed_; }

  // The others, in order.
  const std::vector<HostBatch::Rows>& variable() const { return variable_; }

  // The tensors of all fields. Those whose samples have one size lie in the slab, and others in memory of their own, in
  // which the first call puts them in order. A tensor of offsets follows for each of these, in order.
  const std::vector<Tensor>& Tensors() const;

 private:
  std::vector<Tensor> MakeTensors() const;

  std::shared_ptr<const std::vector<v1::Field>> fields_;
  std::shared_ptr<HostSlab> slab_;
  int64_t rows_;
  std::vector<std::span<const uint8_t>> fixed_;
  std::vector<HostBatch::Rows> variable_;
  mutable absl::once_flag once_;
  mutable std::vector<Tensor> tensors_;  // constant once they are made
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_LANDED_FIELDS_H_
