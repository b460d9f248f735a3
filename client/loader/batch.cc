#include "client/loader/batch.h"

#include <algorithm>

#include "client/loader/landed_fields.h"

namespace stoker {

const std::vector<Tensor>& Batch::server_tensors() const {
  static const std::vector<Tensor> none;
  return landed_ == nullptr ? none : landed_->Tensors();
}

const Tensor* Batch::Find(const std::string& name) const {
  for (const Tensor& tensor : tensors())
    if (tensor.name == name) return &tensor;
  return nullptr;
}

std::vector<int64_t> Batch::PartCounts() const {
  if (part_ends_ == nullptr) return {};
  std::vector<int64_t> counts(part_ends_->size());
  for (int64_t i = 0; i < real_; ++i) {
    const auto part = std::upper_bound(part_ends_->begin(), part_ends_->end(), sample_ids_[i]);
    if (part != part_ends_->end()) ++counts[part - part_ends_->begin()];  // A server may send an id that cannot be.
  }
  return counts;
}

}  // namespace stoker
