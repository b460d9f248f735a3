#include "client/loader/batch.h"

namespace stoker {

const Tensor* Batch::Find(const std::string& name) const {
  for (const Tensor& tensor : tensors())
    if (tensor.name == name) return &tensor;
  return nullptr;
}

}  // namespace stoker
