#include <cstring>
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

// What was made of a batch; returns to `pool` if there is one.
class MadeMemory : public TensorMemory {
 public:
  MadeMemory(Memory memory, std::shared_ptr<Pool> pool) : memory_(std::move(memory)), pool_(std::move(pool)) {}
  ~MadeMemory() override {
    if (pool_ != nullptr) pool_->Return(std::move(memory_));
  }
  absl::Status UseOn(Stream) override { return absl::OkStatus(); }
  absl::Status Wait() override { return absl::OkStatus(); }
  uint8_t* data() { return memory_.data.get(); }
  uint64_t bytes() const { return memory_.bytes; }

 private:
  Memory memory_;
  const std::shared_ptr<Pool> pool_;
};

// A part of the batch as it came.
class CameMemory : public TensorMemory {
 public:
  explicit CameMemory(std::shared_ptr<HostSlab> slab) : slab_(std::move(slab)) {}
  absl::Status UseOn(Stream) override { return absl::OkStatus(); }
  absl::Status Wait() override { return absl::OkStatus(); }

 private:
  const std::shared_ptr<HostSlab> slab_;
};

// The batch's own bytes, as the tensors that `pipeline` hands out.
std::vector<Tensor> TensorsOf(const DevicePipeline& pipeline, const HostBatch& batch) {
  const std::vector<v1::Field>& fields = pipeline.fields();
  STOKER_CHECK(batch.fields.size() == fields.size());
  const std::shared_ptr<TensorMemory> came = MemoryOf(batch.slab);
  std::vector<Tensor> tensors(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    Tensor& tensor = tensors[i];
    tensor.name = fields[i].name();
    tensor.dtype = fields[i].dtype();
    tensor.shape = {batch.rows()};
    tensor.shape.insert(tensor.shape.end(), fields[i].shape().begin(), fields[i].shape().end());
    tensor.data = batch.fields[i].data();
    tensor.bytes = batch.fields[i].size();
    tensor.memory = came;
  }
  return tensors;
}

class CpuDevice : public Device {
 public:
  DeviceId id() const override { return {}; }

  absl::StatusOr<std::unique_ptr<HostSlab>> AllocateSlab(uint64_t bytes) override {
    STOKER_ASSIGN_OR_RETURN(Memory memory, Allocate(bytes));
    return std::make_unique<HostMemorySlab>(std::move(memory));
  }

  absl::StatusOr<std::vector<Tensor>> Submit(const DevicePipeline& pipeline, const HostBatch& batch) override {
    std::vector<Tensor> tensors = TensorsOf(pipeline, batch);
    STOKER_RETURN_IF_ERROR(CheckRuns(pipeline));
    if (pipeline.image().field >= 0)
      STOKER_RETURN_IF_ERROR(Transform(pipeline, batch, tensors[pipeline.image().field]));
    for (Tensor& tensor : tensors)
      if (batch.slab != nullptr && tensor.bytes * kSmallShare <= batch.slab->bytes().size())
        STOKER_RETURN_IF_ERROR(CopyOut(tensor));
    return tensors;
  }

 private:
  // A field of at most one part in so many of a batch is copied, lest who keeps labels keep images.
  static constexpr uint64_t kSmallShare = 16;

  static absl::Status CheckRuns(const DevicePipeline& pipeline) {
    const DevicePipeline::ImageProgram& image = pipeline.image();
    const bool floats = image.dtype == v1::DTYPE_FLOAT32, simple = image.only_flips() && !image.erases;
    if (image.field >= 0 && !(simple && image.channels == 3 && (floats || image.dtype == v1::DTYPE_UINT8)))
      return absl::UnimplementedError("this op does not run on the CPU device yet");
    for (const DevicePipeline::FieldProgram& program : pipeline.programs())
      if (program.kind > DevicePipeline::FieldProgram::Kind::kImage)
        return absl::UnimplementedError("this op does not run on the CPU device yet");
    return absl::OkStatus();
  }

  absl::Status CopyOut(Tensor& tensor) {
    STOKER_ASSIGN_OR_RETURN(Memory memory, Allocate(tensor.bytes));
    const auto copy = std::make_shared<MadeMemory>(std::move(memory), nullptr);
    if (tensor.bytes > 0) std::memcpy(copy->data(), tensor.data, tensor.bytes);
    tensor.data = copy->data();
    tensor.memory = copy;
    return absl::OkStatus();
  }

  // Makes the image field, which `tensor` then refers to.
  absl::Status Transform(const DevicePipeline& pipeline, const HostBatch& batch, Tensor& tensor) {
    const DevicePipeline::ImageProgram& program = pipeline.image();
    const uint64_t in_bytes = program.height * program.width * program.channels;
    const uint64_t out_bytes = in_bytes * ByteSize(program.dtype);
    STOKER_CHECK(tensor.bytes == in_bytes * batch.positions.size());
    STOKER_ASSIGN_OR_RETURN(Memory memory, pool_->Take(out_bytes * batch.positions.size()));
    const auto made = std::make_shared<MadeMemory>(std::move(memory), pool_);
    const uint8_t* in = static_cast<const uint8_t*>(tensor.data);
    uint8_t* out = made->data();
    tensor.data = out;
    tensor.bytes = made->bytes();
    tensor.memory = made;
    std::vector<uint8_t> scratch;
    for (uint64_t position : batch.positions) {
      TransformImage(program, pipeline.Draw(batch.seed, batch.epoch, position).flips, in, out, scratch);
      in += in_bytes;
      out += out_bytes;
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();  // Batches may outlive their device.
};

}  // namespace

std::shared_ptr<TensorMemory> MemoryOf(std::shared_ptr<HostSlab> slab) {
  return std::make_shared<CameMemory>(std::move(slab));
}

std::shared_ptr<Device> HostDevice() { return std::make_shared<CpuDevice>(); }

}  // namespace stoker
