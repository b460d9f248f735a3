#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/device/device.h"
#include "client/device/host/host_fields.h"
#include "client/device/host/host_images.h"
#include "client/device/host/host_rows.h"
#include "common/check.h"
#include "common/fields/companions.h"
#include "common/fields/schema.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

constexpr std::align_val_t kAlignedTo{256};  // DLPack asks for it, and CUDA allocates so.

struct Free {
  void operator()(uint8_t* memory) const { ::operator delete(memory, kAlignedTo); }
};

struct Memory {
  std::unique_ptr<uint8_t, Free> data;
  uint64_t bytes = 0;
};

absl::StatusOr<Memory> Allocate(uint64_t bytes) {
  Memory memory;
  memory.data.reset(static_cast<uint8_t*>(::operator new(bytes, kAlignedTo, std::nothrow)));
  memory.bytes = bytes;
  if (memory.data == nullptr)
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a batch of ", bytes, " bytes"));
  return memory;
}

// Keeps the memory of batches that were dropped for later ones, since touching new pages takes longer than the ops do.
// Holds at most kKept of them. Thread-safe.
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

  // Keeps `memory` in the place of what was kept longest.
  void Return(Memory memory) {
    absl::MutexLock lock(&mutex_);
    std::swap(free_[next_], memory);
    next_ = (next_ + 1) % kKept;
  }

 private:
  static constexpr int kKept = 2;  // One batch is with the training loop, one on its way to it.

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

// Memory of a tensor that was made here. It returns to the pool if there is one.
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

// Memory of a tensor that is a part of the batch's slab, as it came.
class CameMemory : public TensorMemory {
 public:
  explicit CameMemory(std::shared_ptr<HostSlab> slab) : slab_(std::move(slab)) {}
  absl::Status UseOn(Stream) override { return absl::OkStatus(); }
  absl::Status Wait() override { return absl::OkStatus(); }

 private:
  const std::shared_ptr<HostSlab> slab_;
};

// Returns tensors that point to the batch's own bytes, with the names, types and shapes that `pipeline` hands out.
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

// Returns the field that has `rows`, as `pipeline` hands it out.
Tensor MakeRows(const DevicePipeline& pipeline, const HostBatch::Rows& rows) {
  const v1::Field &source = pipeline.source_fields()[rows.field], &made = pipeline.fields()[rows.field];
  const DevicePipeline::FieldProgram& program = pipeline.programs()[rows.field];
  if (program.kind == DevicePipeline::FieldProgram::Kind::kAsItCame) return RowsTensor(made, rows);
  STOKER_CHECK(program.kind == DevicePipeline::FieldProgram::Kind::kScale);
  return ScaledRowsTensor(source, made, {program.scale, program.bias}, rows);
}

bool IsDense(const DevicePipeline& pipeline, size_t field) {
  return pipeline.programs()[field].kind == DevicePipeline::FieldProgram::Kind::kDense;
}

// Returns the arrays of a sparse field, of whose values `tensors` has a tensor if it has some.
Tensor MakeDense(const DevicePipeline& pipeline, const HostBatch::Rows& rows, const std::vector<Tensor>& tensors) {
  const v1::Field& places = pipeline.source_fields()[rows.field];
  const size_t next = rows.field + 1;
  const bool has_values =
      next < pipeline.fields().size() && pipeline.fields()[next].name() == ValuesName(places.name());
  return DenseTensor(places, pipeline.fields()[rows.field], has_values ? tensors[next] : Tensor(), rows);
}

class CpuDevice : public Device {
 public:
  DeviceId id() const override { return {}; }

  absl::StatusOr<std::unique_ptr<HostSlab>> AllocateSlab(uint64_t bytes, bool) override {
    STOKER_ASSIGN_OR_RETURN(Memory memory, Allocate(bytes));
    return std::make_unique<HostMemorySlab>(std::move(memory));
  }

  absl::StatusOr<std::vector<Tensor>> Submit(const DevicePipeline& pipeline, const HostBatch& batch) override {
    std::vector<Tensor> tensors = TensorsOf(pipeline, batch);
    for (size_t i = 0; i < tensors.size(); ++i)
      if (!IsVariable(pipeline.source_fields()[i].kind()))
        STOKER_RETURN_IF_ERROR(Make(pipeline, batch, static_cast<int>(i), tensors[i]));
    for (const HostBatch::Rows& rows : batch.variable) {
      if (IsDense(pipeline, rows.field)) continue;  // Their values come first.
      if (pipeline.programs()[rows.field].padded_rows > 0) {
        STOKER_RETURN_IF_ERROR(Pad(pipeline, batch, rows, tensors[rows.field]));
        continue;
      }
      tensors[rows.field] = MakeRows(pipeline, rows);
      tensors.push_back(OffsetsTensor(pipeline.fields()[rows.field], rows));
    }
    for (const HostBatch::Rows& rows : batch.variable)
      if (IsDense(pipeline, rows.field)) tensors[rows.field] = MakeDense(pipeline, rows, tensors);
    return tensors;
  }

 private:
  // A field that is at most this fraction (1 / 16) of the batch is copied out of the slab. So a program that keeps
  // labels does not keep the images' memory.
  static constexpr uint64_t kSmallShare = 16;

  // Makes the field. `tensor` refers to the bytes that came, and then to those that are handed out.
  absl::Status Make(const DevicePipeline& pipeline, const HostBatch& batch, int field, Tensor& tensor) {
    using Kind = DevicePipeline::FieldProgram::Kind;
    const Kind kind = pipeline.programs()[field].kind;
    if (kind == Kind::kImage) return Transform(pipeline, batch, field, tensor);
    if (kind != Kind::kAsItCame) {
      STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, ByteSize(pipeline.fields()[field]));
      STOKER_ASSIGN_OR_RETURN(uint8_t * out, NewMemory(bytes * batch.positions.size(), nullptr, tensor));
      return MakeField(pipeline, batch, field, out);
    }
    const bool small = batch.slab != nullptr && tensor.bytes * kSmallShare <= batch.slab->bytes().size();
    return small ? CopyOut(tensor) : absl::OkStatus();
  }

  // Allocates memory, from `pool` if there is one, and makes `tensor` refer to it.
  static absl::StatusOr<uint8_t*> NewMemory(uint64_t bytes, const std::shared_ptr<Pool>& pool, Tensor& tensor) {
    STOKER_ASSIGN_OR_RETURN(Memory memory, pool != nullptr ? pool->Take(bytes) : Allocate(bytes));
    const auto made = std::make_shared<MadeMemory>(std::move(memory), pool);
    tensor.data = made->data();
    tensor.bytes = bytes;
    tensor.memory = made;
    return made->data();
  }

  static absl::Status CopyOut(Tensor& tensor) {
    const void* const came = tensor.data;
    const std::shared_ptr<TensorMemory> kept = tensor.memory;
    STOKER_ASSIGN_OR_RETURN(uint8_t * out, NewMemory(tensor.bytes, nullptr, tensor));
    if (tensor.bytes > 0) std::memcpy(out, came, tensor.bytes);
    return absl::OkStatus();
  }

  // Makes a field whose samples differ in size, and are padded.
  static absl::Status Pad(const DevicePipeline& pipeline, const HostBatch& batch, const HostBatch::Rows& rows,
                          Tensor& tensor) {
    const v1::Field &source = pipeline.source_fields()[rows.field], &made = pipeline.fields()[rows.field];
    STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, ByteSize(made));
    STOKER_ASSIGN_OR_RETURN(uint8_t * out, NewMemory(bytes * batch.positions.size(), nullptr, tensor));
    PadRows(source, made, pipeline.programs()[rows.field], rows, out);
    return absl::OkStatus();
  }

  // Makes the image field, or views.
  absl::Status Transform(const DevicePipeline& pipeline, const HostBatch& batch, int field, Tensor& tensor) {
    const DevicePipeline::ImageProgram& program = pipeline.ImagesOf(field);
    const auto* in = static_cast<const uint8_t*>(tensor.data);
    const uint64_t images = batch.positions.size() * program.count;
    STOKER_CHECK(tensor.bytes == program.height * program.width * program.channels * images);
    const std::shared_ptr<TensorMemory> kept = tensor.memory;
    const uint64_t image_bytes = program.out.height * program.out.width * program.channels * ByteSize(program.dtype);
    STOKER_ASSIGN_OR_RETURN(uint8_t * out, NewMemory(image_bytes * images, pool_, tensor));
    TransformImages(pipeline, field, batch, in, out);
    return absl::OkStatus();
  }

  const std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();  // Shared, since batches may outlive their device.
};

}  // namespace

std::shared_ptr<TensorMemory> MemoryOf(std::shared_ptr<HostSlab> slab) {
  return std::make_shared<CameMemory>(std::move(slab));
}

std::shared_ptr<Device> HostDevice() { return std::make_shared<CpuDevice>(); }

}  // namespace stoker
