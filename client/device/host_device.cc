#include <memory>
#include <new>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/device/device.h"
#include "client/device/host_image.h"
#include "common/check.h"
#include "common/pipeline/schema.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr std::align_val_t kAlignment{256};  // As DLPack and CUDA have it.

struct Free {
  void operator()(uint8_t* memory) const { ::operator delete(memory, kAlignment); }
};

struct Memory {
  std::unique_ptr<uint8_t, Free> data;
  uint64_t bytes = 0;
};

absl::StatusOr<Memory> Allocate(uint64_t bytes) {
  Memory memory;
  memory.data.reset(static_cast<uint8_t*>(::operator new(bytes, kAlignment, std::nothrow)));
  memory.bytes = bytes;
  if (memory.data == nullptr)
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a batch of ", bytes, " bytes"));
  return memory;
}

// Keeps the memory of batches that were let go for those to come: touching new pages takes longer than the ops do.
// Thread-safe.
class Pool {
 public:
  absl::StatusOr<Memory> Take(uint64_t bytes) {
    {
      absl::MutexLock lock(&mutex_);
      for (Memory& memory : free_)
        if (memory.bytes == bytes) return std::exchange(memory, Memory());
    }
    return Allocate(bytes);
  }

  // Takes the place of the one that was kept longest.
  void Return(Memory memory) {
    absl::MutexLock lock(&mutex_);
    std::swap(free_[next_], memory);
    next_ = (next_ + 1) % kKept;
  }

 private:
  static constexpr int kKept = 2;  // One with the training loop, one on its way to it.

  absl::Mutex mutex_;
  Memory free_[kKept] ABSL_GUARDED_BY(mutex_);
  int next_ ABSL_GUARDED_BY(mutex_) = 0;
};

class HostMemorySlab : public HostSlab {
 public:
  explicit HostMemorySlab(Memory memory) : memory_(std::move(memory)) {}
  std::span<uint8_t> bytes() override { return {memory_.data.get(), memory_.bytes}; }

 private:
  const Memory memory_;
};

class HostMemoryBatch : public DeviceBatch {
 public:
  // `made` is what the tensors refer to beside the batch that came, and returns to `pool`.
  HostMemoryBatch(std::vector<Tensor> tensors, Memory made, std::shared_ptr<Pool> pool)
      : tensors_(std::move(tensors)), made_(std::move(made)), pool_(std::move(pool)) {}

  ~HostMemoryBatch() override {
    if (made_.data != nullptr) pool_->Return(std::move(made_));
  }

  const std::vector<Tensor>& tensors() const override { return tensors_; }

 private:
  const std::vector<Tensor> tensors_;
  Memory made_;
  const std::shared_ptr<Pool> pool_;
};

// The batch's own bytes, as the tensors that `pipeline` hands out.
std::vector<Tensor> TensorsOf(const DevicePipeline& pipeline, const HostBatch& batch) {
  const std::vector<v1::Field>& fields = pipeline.fields();
  STOKER_CHECK(batch.fields.size() == fields.size());
  std::vector<Tensor> tensors(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    Tensor& tensor = tensors[i];
    tensor.name = fields[i].name();
    tensor.dtype = fields[i].dtype();
    tensor.shape = {batch.rows()};
    tensor.shape.insert(tensor.shape.end(), fields[i].shape().begin(), fields[i].shape().end());
    tensor.data = batch.fields[i].data();
    tensor.bytes = batch.fields[i].size();
  }
  return tensors;
}

class CpuDevice : public Device {
 public:
  absl::StatusOr<std::unique_ptr<HostSlab>> AllocateSlab(uint64_t bytes) override {
    STOKER_ASSIGN_OR_RETURN(Memory memory, Allocate(bytes));
    return std::make_unique<HostMemorySlab>(std::move(memory));
  }

  absl::StatusOr<std::unique_ptr<DeviceBatch>> Submit(const DevicePipeline& pipeline, const HostBatch& batch) override {
    std::vector<Tensor> tensors = TensorsOf(pipeline, batch);
    Memory made;
    if (!pipeline.identity()) {
      STOKER_ASSIGN_OR_RETURN(made, Transform(pipeline, batch, tensors[pipeline.image().field]));
    }
    return std::make_unique<HostMemoryBatch>(std::move(tensors), std::move(made), pool_);
  }

 private:
  // Makes the image field, which `tensor` then refers to.
  absl::StatusOr<Memory> Transform(const DevicePipeline& pipeline, const HostBatch& batch, Tensor& tensor) {
    const DevicePipeline::ImageProgram& program = pipeline.image();
    const uint64_t in_bytes = program.height * program.width * program.channels;
    const uint64_t out_bytes = in_bytes * ByteSize(program.dtype);
    STOKER_CHECK(tensor.bytes == in_bytes * batch.positions.size());
    STOKER_ASSIGN_OR_RETURN(Memory memory, pool_->Take(out_bytes * batch.positions.size()));
    const uint8_t* in = static_cast<const uint8_t*>(tensor.data);
    uint8_t* out = memory.data.get();
    tensor.data = out;
    tensor.bytes = memory.bytes;
    std::vector<uint8_t> scratch;
    for (uint64_t position : batch.positions) {
      TransformImage(program, pipeline.Draw(batch.seed, batch.epoch, position), in, out, scratch);
      in += in_bytes;
      out += out_bytes;
    }
    return memory;
  }

  const std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();  // Batches may outlive their device.
};

}  // namespace

std::shared_ptr<Device> HostDevice() { return std::make_shared<CpuDevice>(); }

}  // namespace stoker
