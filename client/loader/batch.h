#ifndef STOKER_CLIENT_LOADER_BATCH_H_
#define STOKER_CLIENT_LOADER_BATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/device/device.h"

namespace stoker {

// A sample that was bad, and what stood in for it.
struct Substituted {
  uint64_t position = 0;
  uint64_t bad_sample_id = 0;
  std::string bad_sample_name;
  std::string reason;
};

// One batch of one rank. Movable, copyable. Tensors own their memory and may outlive their batch. The host memory that
// spans landed in returns to the loader with the last batch, and on the CPU the last tensor, that refers to it: who
// keeps many makes the loader allocate more.
class Batch {
 public:
  uint64_t epoch() const { return epoch_; }

  // Samples in it; may be less than the batch size, and none, with last_batch: partial.
  int64_t size() const { return static_cast<int64_t>(positions_.size()); }

  // Samples that are not padding: these come first. Equal to size() unless last_batch is pad.
  int64_t real() const { return real_; }

  // The fields as the pipeline's device ops made them, shapes with samples first. On a GPU, TensorMemory::UseOn comes
  // before their use.
  const std::vector<Tensor>& tensors() const { return tensors_; }

  // The tensor of that name, or null.
  const Tensor* Find(const std::string& name) const;

  // The fields as the servers made them: what an epoch's digest is taken over.
  const std::vector<Tensor>& server_tensors() const { return server_tensors_; }

  // Of each sample: its position in the epoch's order, its index in the dataset, and its name if asked for. A
  // substitute has its own index and name.
  const std::vector<uint64_t>& positions() const { return positions_; }
  const std::vector<uint64_t>& sample_ids() const { return sample_ids_; }
  const std::vector<std::string>& names() const { return names_; }

  const std::vector<Substituted>& substituted() const { return substituted_; }

 private:
  friend class Loader;

  uint64_t epoch_ = 0;
  int64_t real_ = 0;
  std::vector<uint64_t> positions_, sample_ids_;
  std::vector<std::string> names_;
  std::vector<Substituted> substituted_;
  std::vector<Tensor> tensors_, server_tensors_;
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_BATCH_H_
