#ifndef STOKER_CLIENT_CAPI_STOKER_H_
#define STOKER_CLIENT_CAPI_STOKER_H_

// The client as a C library, libstoker.so: what the Python package and the LibTorch adapter stand on, and any other
// language may. Plain C, nothing but this header; gRPC, protobuf and the C++ runtime inside of the library are its own
// and meet no others in the process.
//
// Calls that can fail return a stoker_code, 0 for success; stoker_error() then says in words what failed, for the
// calling thread until its next failing call. What a function gives through a pointer stays untouched when it fails.
// Strings are UTF-8. JSON documents may gain keys; unknown keys in those that the caller gives are errors that name
// them, and null there is as good as no key.
//
// Objects are used by one thread at a time, unless said otherwise; different objects by any. A process that forks must
// not use them in the child, nor connect there if it had connected before: calls fail there with
// STOKER_FAILED_PRECONDITION, and those that let go of an object do nothing.

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define STOKER_EXPORT __attribute__((visibility("default")))
#else
#define STOKER_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Raised when a function is added; a change that breaks callers raises the library's major version, libstoker.so.1.
#define STOKER_ABI_VERSION 1

// gRPC's canonical codes.
typedef enum stoker_code {
  STOKER_OK = 0,
  STOKER_CANCELLED = 1,
  STOKER_UNKNOWN = 2,
  STOKER_INVALID_ARGUMENT = 3,
  STOKER_DEADLINE_EXCEEDED = 4,
  STOKER_NOT_FOUND = 5,
  STOKER_ALREADY_EXISTS = 6,
  STOKER_PERMISSION_DENIED = 7,
  STOKER_RESOURCE_EXHAUSTED = 8,
  STOKER_FAILED_PRECONDITION = 9,
  STOKER_ABORTED = 10,
  STOKER_OUT_OF_RANGE = 11,
  STOKER_UNIMPLEMENTED = 12,
  STOKER_INTERNAL = 13,
  STOKER_UNAVAILABLE = 14,
  STOKER_DATA_LOSS = 15,
  STOKER_UNAUTHENTICATED = 16
} stoker_code;

typedef struct stoker_loader stoker_loader;
typedef struct stoker_batch stoker_batch;
typedef struct stoker_digest stoker_digest;
struct DLManagedTensor;  // dlpack.h's, of DLPack 0.x: what a capsule named "dltensor" holds.

// ---- the library ----

// STOKER_ABI_VERSION as the library was built with it, and the project's version, "0.1.0".
STOKER_EXPORT uint32_t stoker_abi_version(void);
STOKER_EXPORT const char* stoker_version(void);

// The calling thread's last error; empty before the first. Valid until the thread's next failing call.
STOKER_EXPORT const char* stoker_error(void);

// Frees what this library gave as a char*. Takes null.
STOKER_EXPORT void stoker_free(char* text);

// What servers offer, as JSON: {"datasets": [{"name", "samples", "fingerprint", "description"}], "pipelines": [{"name",
// "pipeline"}]}. `options` is JSON with "servers", a list of addresses, and optionally "connect_timeout" in seconds,
// "tls_ca_file", "tls_server_name".
STOKER_EXPORT stoker_code stoker_list(const char* options, char** json);

// ---- loaders ----

// Connects, and checks everything. `options` is a JSON object:
//
//   servers             list of addresses: "host:port", "dns:///name:port", "file:/path", "unix:/path"; required
//   batch_size          samples of a batch of this rank; required
//   dataset             name; may be left out where the servers have just one
//   pipeline            {"ops": [{"RandomResizedCrop": {"size": 224}}, …], …}, as in the server's YAML, or that YAML
//                       as a string; or "pipeline_name", one that the servers offer; default: RandomResizedCrop(224),
//                       RandomHorizontalFlip
//   device              "cpu" (default), "cuda", "cuda:1"
//   pin                 "auto" (default): page-locked memory for a GPU as far as it is to be had; "on": or fail; "off"
//   pinned_bytes        bound of page-locked memory; default: no other than prefetch_bytes
//   seed                default 0
//   shuffle             "full" (default), "none", or {"mode": "block", "block_samples": …, "window_blocks": …}
//   last_batch          "drop" (default), "pad", "partial"
//   rank, world_size    default: RANK and WORLD_SIZE of the environment, else one rank
//   prefetch            batches ahead; default: enough to keep servers busy; bounded by "prefetch_bytes", default 1 GiB
//   names               whether batches carry samples' names; default false
//   progress_timeout    seconds without any arrival until next fails; default 60
//   span_deadline       least seconds until a span is asked for again; default 2
//   connect_timeout     seconds; default 30
//   connections         to each server; default 1
//   tls_ca_file, tls_server_name
STOKER_EXPORT stoker_code stoker_loader_create(const char* options, stoker_loader** loader);

// Ends its streams. Batches and tensors stay valid. Takes null.
STOKER_EXPORT void stoker_loader_destroy(stoker_loader* loader);

// As JSON: {"dataset", "samples", "fingerprint", "batch_size", "rank", "world_size", "batches_per_epoch",
// "sample_bytes", "seed", "device", "pipeline": {…, defaults filled in}, "fields": [{"name", "dtype", "shape"}, as
// handed out, without the batch's dimension]}.
STOKER_EXPORT stoker_code stoker_loader_describe(const stoker_loader* loader, char** json);

// The next batch of the epoch, or null at its end; the call after that begins the next epoch. Waits at most
// `timeout_seconds` (negative: as long as progress_timeout allows): then STOKER_DEADLINE_EXCEEDED, with `*batch` set to
// null and nothing lost, so that a caller may look at its signals and call again. Other errors are sticky.
STOKER_EXPORT stoker_code stoker_loader_next(stoker_loader* loader, double timeout_seconds, stoker_batch** batch);

// 1 if the last failure of stoker_loader_next was its timeout alone, 0 if the loader itself gave up.
STOKER_EXPORT int stoker_loader_waiting(const stoker_loader* loader);

// The next batch is then the epoch's first.
STOKER_EXPORT stoker_code stoker_loader_set_epoch(stoker_loader* loader, uint64_t epoch);

// Makes stoker_loader_next return STOKER_CANCELLED, now and from now on. From any thread.
STOKER_EXPORT void stoker_loader_cancel(stoker_loader* loader);

// Where the loader stands, some hundred bytes of JSON: what was returned counts, what was prefetched does not.
STOKER_EXPORT stoker_code stoker_loader_state(const stoker_loader* loader, char** json);

// Goes on from a state, also one of another batch size, world size or number of servers. STOKER_FAILED_PRECONDITION
// names what else differs; servers of another pixel version are taken only if `accept_other_pixels`. Clears a sticky
// error.
STOKER_EXPORT stoker_code stoker_loader_restore(stoker_loader* loader, const char* state, int accept_other_pixels);

// What it has done, as JSON: {"batches", "samples", "substituted", "spans", "bytes", "retried_spans", "hedged_spans",
// "cached_spans", "waited_seconds", "received_seconds", "transformed_seconds", "server_seconds": {"read": …, …},
// "servers": [{"address", "connected", "spans", "problem"}], "warnings": [sentences]}. From any thread.
STOKER_EXPORT stoker_code stoker_loader_stats(const stoker_loader* loader, char** json);

// ---- batches ----

// Kinds of devices and of elements, and their numbers, are DLPack's.
typedef struct stoker_tensor {
  const char* name;
  const void* data;  // Row by row, without padding, aligned to 256 bytes where the device made it. Null if empty.
  uint64_t bytes;
  const int64_t* shape;  // Samples first.
  int32_t ndim;
  int32_t device_type;  // 1: CPU, 2: CUDA
  int32_t device_id;
  uint8_t dtype_code;  // 0: int, 1: uint, 2: float, 4: bfloat
  uint8_t dtype_bits;
} stoker_tensor;

// What a batch is made of.
typedef struct stoker_batch_info {
  uint64_t epoch;
  int64_t size;               // Samples in it,
  int64_t real;               // of which these first ones are no padding.
  const uint64_t* positions;  // `size` of each.
  const uint64_t* sample_ids;
  int32_t tensors;
} stoker_batch_info;

// Pointers in what these fill are valid until the batch is released.
STOKER_EXPORT void stoker_batch_get_info(const stoker_batch* batch, stoker_batch_info* info);
STOKER_EXPORT stoker_code stoker_batch_get_tensor(const stoker_batch* batch, int32_t index, stoker_tensor* tensor);

// A sample's name; empty unless the loader was made with "names".
STOKER_EXPORT const char* stoker_batch_name(const stoker_batch* batch, int64_t row);

// Bad samples that others stood in for, as JSON: [{"position", "bad_sample_id", "bad_sample_name", "reason"}].
STOKER_EXPORT stoker_code stoker_batch_substituted(const stoker_batch* batch, char** json);

// Must come before work on a CUDA stream that reads the batch's tensors, once for each stream: `stream`, a
// cudaStream_t, waits for them, and their memory's next use waits for what is on `stream` when they are let go. 0 and 1
// are CUDA's legacy default stream, 2 the calling thread's. `stream` is one of the tensors' GPU, lives until they are
// let go and captures no CUDA graph then. Does not wait itself. Nothing on the CPU.
STOKER_EXPORT stoker_code stoker_batch_use_on(const stoker_batch* batch, uintptr_t stream);

// Waits until the batch is made, for whoever copies it to the host without a stream.
STOKER_EXPORT stoker_code stoker_batch_wait(const stoker_batch* batch);

// One of its tensors as DLPack has it, which owns the memory beyond the batch: whoever takes it calls its deleter, from
// any thread. On CUDA call stoker_batch_use_on for the consumer's stream first.
STOKER_EXPORT stoker_code stoker_batch_dlpack(const stoker_batch* batch, int32_t index,
                                              struct DLManagedTensor** tensor);

// As stoker_batch_use_on, for one tensor that came from stoker_batch_dlpack and was not deleted: for a further stream.
STOKER_EXPORT stoker_code stoker_dlpack_use_on(struct DLManagedTensor* tensor, uintptr_t stream);

// Lets go of the batch; tensors that were taken out of it stay. Takes null. From any thread.
STOKER_EXPORT void stoker_batch_release(stoker_batch* batch);

// ---- digests ----

// The SHA-256 over an epoch's samples as the servers made them: the same number whatever the batches, servers and
// device.
STOKER_EXPORT stoker_digest* stoker_digest_create(void);

// Adds a batch's samples, which must follow those before, from the epoch's first.
STOKER_EXPORT stoker_code stoker_digest_add(stoker_digest* digest, const stoker_batch* batch);

// 64 hexadecimal digits. Call once.
STOKER_EXPORT stoker_code stoker_digest_hex(stoker_digest* digest, char** hex);
STOKER_EXPORT void stoker_digest_destroy(stoker_digest* digest);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOKER_CLIENT_CAPI_STOKER_H_
