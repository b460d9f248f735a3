#ifndef STOKER_CLIENT_LOADER_BATCH_H_
#define STOKER_CLIENT_LOADER_BATCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/device/device.h"

namespace stoker {

class LandedFields;

// A sample that was bad, and for which another stood in. A value.
struct Substituted {
  uint64_t position = 0;  // The batch's position that the bad sample had.
  uint64_t bad_sample_id = 0;
  std::string bad_sample_name;
  std::string reason;
};

// One batch of one rank. Movable, copyable. Tensors own their memory and may outlive their batch and the loader. The
// host memory that spans landed in returns to the loader when the last batch that refers to it goes, and on the CPU the
// last tensor: a caller that keeps many makes the loader allocate more.
class Batch {
 public:
  uint64_t epoch() const { return epoch_; }

  // Samples of this batch. With LastBatch::kPartial an epoch's last batch may have fewer than others, or none.
  int64_t size() const { return static_cast<int64_t>(positions_.size()); }

  // Samples that are not padding. They come first; with LastBatch::kPad an epoch's last batch may have fewer than
  // size().
  int64_t real() const { return real_; }

  // The fields as the pipeline's device ops made them, with samples as the first dimension, and then the offsets of
  // those whose samples differ in size (see Tensor). On a GPU, TensorMemory::UseOn must be called before their use.
  const std::vector<Tensor>& tensors() const { return tensors_; }

  // The tensor of that name, or null.
  const Tensor* Find(const std::string& name) const;

  // The fields as the servers made them, and offsets as above, in the host's memory. EpochDigest is taken over these.
  // The first call puts samples in order that differ in size. They are the batch's and its copies'.
  const std::vector<Tensor>& server_tensors() const;

  // For each sample its position in the epoch's order, its index in the dataset, and its name (empty unless the options
  // ask for names). A substitute has its own index and name.
  const std::vector<uint64_t>& positions() const { return positions_; }
  const std::vector<uint64_t>& sample_ids() const { return sample_ids_; }
  const std::vector<std::string>& names() const { return names_; }

  // The samples that were bad, sorted by position.
  const std::vector<Substituted>& substituted() const { return substituted_; }

  // How many of the first real() samples are of each dataset that the job's is mixed of, in the order of `parts` in
  // Loader::description(); nothing where it is no mix. A substitute counts for its own part. The numbers are computed
  // from sample_ids() by each call, and are this rank's; those of all ranks add up to the global batch's.
  std::vector<int64_t> PartCounts() const;

 private:
  friend class Loader;

  uint64_t epoch_ = 0;
  int64_t real_ = 0;
  std::vector<uint64_t> positions_, sample_ids_;
  std::vector<std::string> names_;
  std::vector<Substituted> substituted_;
  std::vector<Tensor> tensors_;
  std::shared_ptr<const LandedFields> landed_;
  std::shared_ptr<const std::vector<uint64_t>> part_ends_;  // The id after that of each part's last sample.
};

}  // namespace stoker

#endif  // STOKER_CLIENT_LOADER_BATCH_H_
