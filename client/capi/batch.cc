#include "client/loader/batch.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/capi/boundary.h"
#include "client/capi/dlpack.h"
#include "client/capi/documents.h"
#include "client/capi/handles.h"
#include "client/capi/stoker.h"
#include "common/check.h"
#include "common/fields/schema.h"
#include "common/status_macros.h"

namespace {

using stoker::Call;
using stoker::CallOn;
using stoker::NullPointer;
using stoker::Tensor;

// These numbers are DLPack's.
constexpr int32_t kCpu = 1, kCuda = 2;
constexpr uint8_t kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4;

int32_t DeviceType(const Tensor& tensor) { return tensor.device.kind == stoker::DeviceId::Kind::kCpu ? kCpu : kCuda; }

uint8_t Code(stoker::v1::Dtype dtype) {
  const std::string name = stoker::DtypeName(dtype);
  if (name.starts_with("uint")) return kUint;
  if (name.starts_with("int")) return kInt;
  if (name.starts_with("float")) return kFloat;
  STOKER_CHECK(name.starts_with("bfloat"));
  return kBfloat;
}

uint8_t Bits(stoker::v1::Dtype dtype) { return static_cast<uint8_t>(8 * stoker::ByteSize(dtype)); }

absl::StatusOr<const Tensor*> At(const stoker::Batch& batch, int32_t index) {
  const auto& tensors = batch.tensors();
  if (index >= 0 && static_cast<size_t>(index) < tensors.size()) return &tensors[index];
  return absl::OutOfRangeError(absl::StrCat("there is no tensor ", index, ": the batch has ", tensors.size()));
}

// The strides of a tensor without padding, in elements.
std::vector<int64_t> Strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Surrounds a DLManagedTensor, whose manager_ctx leads back here.
struct SharedTensor {
  stoker::Owner owner;
  Tensor tensor;
  std::vector<int64_t> strides;
  DLManagedTensor managed = {};
};

void DeleteShared(DLManagedTensor* managed) {
  if (managed == nullptr) return;
  auto* const shared = static_cast<SharedTensor*>(managed->manager_ctx);
  if (shared->owner.here()) delete shared;  // In a forked child its memory's threads are missing.
}

std::unique_ptr<SharedTensor> Share(const Tensor& tensor) {
  std::unique_ptr<SharedTensor> shared(new SharedTensor{.tensor = tensor, .strides = Strides(tensor.shape)});
  DLTensor& dl = shared->managed.dl_tensor;
  dl.data = const_cast<void*>(tensor.bytes == 0 ? nullptr : tensor.data);  // DLPack 0.x knows no constant memory.
  dl.device = {.device_type = DeviceType(tensor), .device_id = tensor.device.ordinal};
  dl.ndim = static_cast<int32_t>(tensor.shape.size());
  dl.dtype = {.code = Code(tensor.dtype), .bits = Bits(tensor.dtype), .lanes = 1};
  dl.shape = shared->tensor.shape.data();
  dl.strides = shared->strides.data();
  shared->managed.manager_ctx = shared.get();
  shared->managed.deleter = &DeleteShared;
  return shared;
}

// The memories that the batch's tensors lie in, each once.
std::set<std::shared_ptr<stoker::TensorMemory>> MemoriesOf(const stoker::Batch& batch) {
  std::set<std::shared_ptr<stoker::TensorMemory>> memories;
  for (const Tensor& tensor : batch.tensors())
    if (tensor.memory != nullptr) memories.insert(tensor.memory);
  return memories;
}

}  // namespace

void stoker_batch_get_info(const stoker_batch* batch, stoker_batch_info* info) {
  if (info != nullptr) *info = {};
  (void)CallOn(batch, [&](const stoker_batch& self) -> absl::Status {
    if (info == nullptr) return NullPointer("info");
    const stoker::Batch& made = self.batch;
    *info = {.epoch = made.epoch(),
             .size = made.size(),
             .real = made.real(),
             .positions = made.positions().data(),
             .sample_ids = made.sample_ids().data(),
             .tensors = static_cast<int32_t>(made.tensors().size())};
    return absl::OkStatus();
  });
}

stoker_code stoker_batch_get_tensor(const stoker_batch* batch, int32_t index, stoker_tensor* tensor) {
  return CallOn(batch, [&](const stoker_batch& self) -> absl::Status {
    if (tensor == nullptr) return NullPointer("tensor");
    STOKER_ASSIGN_OR_RETURN(const Tensor* found, At(self.batch, index));
    *tensor = {.name = found->name.c_str(),
               .data = found->bytes == 0 ? nullptr : found->data,
               .bytes = found->bytes,
               .shape = found->shape.data(),
               .ndim = static_cast<int32_t>(found->shape.size()),
               .device_type = DeviceType(*found),
               .device_id = found->device.ordinal,
               .dtype_code = Code(found->dtype),
               .dtype_bits = Bits(found->dtype)};
    return absl::OkStatus();
  });
}

const char* stoker_batch_name(const stoker_batch* batch, int64_t row) {
  const char* name = "";
  (void)CallOn(batch, [&](const stoker_batch& self) {
    const auto& names = self.batch.names();
    if (row >= 0 && static_cast<size_t>(row) < names.size()) name = names[row].c_str();
    return absl::OkStatus();
  });
  return name;
}

stoker_code stoker_batch_substituted(const stoker_batch* batch, char** json) {
  return CallOn(batch, [&](const stoker_batch& self) -> absl::Status {
    if (json == nullptr) return NullPointer("json");
    *json = stoker::CopyOf(stoker::SubstitutedDocument(self.batch));
    return absl::OkStatus();
  });
}

stoker_code stoker_batch_part_counts(const stoker_batch* batch, int64_t* counts, int32_t parts) {
  return CallOn(batch, [&](const stoker_batch& self) -> absl::Status {
    const std::vector<int64_t> found = self.batch.PartCounts();
    if (static_cast<int64_t>(found.size()) != parts)
      return absl::InvalidArgumentError(
          absl::StrCat("parts: there is room for ", parts, ", and the dataset is mixed of ", found.size()));
    if (counts == nullptr && parts > 0) return NullPointer("counts");
    for (size_t i = 0; i < found.size(); ++i) counts[i] = found[i];
    return absl::OkStatus();
  });
}

stoker_code stoker_batch_use_on(const stoker_batch* batch, uintptr_t stream) {
  return CallOn(batch, [&](const stoker_batch& self) -> absl::Status {
    for (const auto& memory : MemoriesOf(self.batch)) STOKER_RETURN_IF_ERROR(memory->UseOn(stream));
    return absl::OkStatus();
  });
}

stoker_code stoker_batch_wait(const stoker_batch* batch) {
  return CallOn(batch, [&](const stoker_batch& self) -> absl::Status {
    for (const auto& memory : MemoriesOf(self.batch)) STOKER_RETURN_IF_ERROR(memory->Wait());
    return absl::OkStatus();
  });
}

stoker_code stoker_batch_dlpack(const stoker_batch* batch, int32_t index, DLManagedTensor** tensor) {
  return CallOn(batch, [&](const stoker_batch& self) -> absl::Status {
    if (tensor == nullptr) return NullPointer("tensor");
    STOKER_ASSIGN_OR_RETURN(const Tensor* found, At(self.batch, index));
    *tensor = &Share(*found).release()->managed;
    return absl::OkStatus();
  });
}

stoker_code stoker_dlpack_use_on(DLManagedTensor* tensor, uintptr_t stream) {
  return Call([&]() -> absl::Status {
    if (tensor == nullptr || tensor->deleter != &DeleteShared)
      return absl::InvalidArgumentError("tensor: it is not from stoker_batch_dlpack");
    const auto& shared = *static_cast<SharedTensor*>(tensor->manager_ctx);
    STOKER_RETURN_IF_ERROR(shared.owner.Check());
    return shared.tensor.memory == nullptr ? absl::OkStatus() : shared.tensor.memory->UseOn(stream);
  });
}

void stoker_batch_release(stoker_batch* batch) { stoker::Release(batch); }
