#ifndef STOKER_CLIENT_CAPI_DLPACK_H_
#define STOKER_CLIENT_CAPI_DLPACK_H_

#include <cstddef>
#include <cstdint>

// The structures that frameworks exchange tensors by, as the DLPack specification lays them out (version 0.x, which
// the capsules named "dltensor" hold). https://dmlc.github.io/dlpack/latest/c_api.html

extern "C" {

struct DLDevice {
  int32_t device_type;  // 1: CPU, 2: CUDA
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;  // 0: int, 1: uint, 2: float, 4: bfloat
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // In elements.
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

}  // extern "C"

static_assert(offsetof(DLTensor, device) == 8 && offsetof(DLTensor, ndim) == 16 && offsetof(DLTensor, dtype) == 20 &&
              offsetof(DLTensor, shape) == 24 && offsetof(DLTensor, byte_offset) == 40 && sizeof(DLTensor) == 48);
static_assert(offsetof(DLManagedTensor, manager_ctx) == 48 && offsetof(DLManagedTensor, deleter) == 56);

#endif  // STOKER_CLIENT_CAPI_DLPACK_H_
