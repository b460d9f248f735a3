#ifndef STOKER_CLIENT_CAPI_STOKER_H_
#define STOKER_CLIENT_CAPI_STOKER_H_

// The client as a C library, libstoker.so. The Python package and the LibTorch adapter are built on it, and any other
// language can be. This header is all that a caller needs. gRPC, protobuf and the C++ runtime inside of the library are
// its own, and do not meet others in the process.
//
// Errors: a call that can fail returns a stoker_code, 0 for success. stoker_error() then says in words what failed. A
// call that fails leaves what it would have written through a pointer as it was.
//
// A null pointer where none is allowed, and an object that was let go of already or is another thing, are
// STOKER_INVALID_ARGUMENT. Functions without a code then do nothing, or return what stands for nothing, and
// stoker_error() says why. Objects (loaders, batches, digests) are numbers in the guise of pointers, which the library
// looks up: do not follow them. What it cannot know is whether other pointers, such as strings, are good.
//
// Documents: strings are UTF-8. JSON documents that the library gives may gain keys. In those that the caller gives an
// unknown key is an error that names it, and null counts as no key.
//
// Threads: an object is used by one thread at a time, unless its function says otherwise. Different objects may be used
// by different threads.
//
// Forks: a process that forks must not use its objects in the child, nor connect there if it had connected before. Such
// calls fail with STOKER_FAILED_PRECONDITION, and calls that let go of an object do nothing.

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

// This number is raised when a function is added. A change that breaks callers raises the library's major version
// instead, which is 1 in libstoker.so.1.
#define STOKER_ABI_VERSION 5

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
struct DLManagedTensor;  // Defined by dlpack.h of DLPack 0.x. A capsule named "dltensor" holds one.

// ---- the library ----

// The STOKER_ABI_VERSION that the library was built with, and the project's version, such as "0.1.0".
STOKER_EXPORT uint32_t stoker_abi_version(void);
STOKER_EXPORT const char* stoker_version(void);

// What the calling thread's last failing call failed with, in words. The text is empty before the first failure, and
// valid until the next.
STOKER_EXPORT const char* stoker_error(void);

// Whether loaders can use the device "cpu", "cuda" or "cuda:1" in this process: STOKER_OK, or
// STOKER_FAILED_PRECONDITION where the library is built without CUDA, or the machine has no driver or no such GPU;
// stoker_error() then says which. Opens the device and closes it again. Since ABI version 2.
STOKER_EXPORT stoker_code stoker_check_device(const char* device);

// Frees a string that the library gave as a char*. Null is allowed.
STOKER_EXPORT void stoker_free(char* text);

// Asks servers what they offer. The answer is JSON: {"datasets": [{"name", "samples", "fingerprint", "description"}],
// "pipelines": [{"name", "pipeline"}]}. `options` is JSON with "servers", a list of addresses, and optionally
// "connect_timeout" in seconds, "tls_ca_file", "tls_server_name", "tls_cert_file", "tls_key_file" and "token_file".
STOKER_EXPORT stoker_code stoker_list(const char* options, char** json);

// Says why servers cannot be reached now, for who waits for them meanwhile: a list of sentences in JSON, such as
// ["cpu1:7077: name not found"]; nothing of those that can be reached, or of more than a few. `options` are those of
// stoker_list. Blocks for as long as names are looked up, and half a second for each server. Since ABI version 3.
STOKER_EXPORT stoker_code stoker_obstacles(const char* options, char** json);

// Sets `words` to random words number `word`, `word` + 1, … of the draws that an op of one's own has for a sample, by
// the key and the position that its server told. Since ABI version 5.
STOKER_EXPORT void stoker_draws_fill(uint64_t key, uint64_t position, uint64_t word, uint32_t* words, size_t count);

// ---- loaders ----

// Makes a loader: connects to the servers, and checks everything. `options` is a JSON object:
//
//   servers             list of addresses: "host:port", "dns:///name:port", "file:/path", "unix:/path"; required
//   batch_size          samples of a batch of this rank; required
//   dataset             name; may be left out where the servers have just one
//   pipeline            {"ops": [{"RandomResizedCrop": {"size": 224}}, …], …}, as in the server's YAML, or that YAML
//                       as a string; or "pipeline_name", one that the servers offer; default: RandomResizedCrop(224),
//                       RandomHorizontalFlip
//   device              "cpu" (default), "cuda", "cuda:1"
//   pin                 page-locked memory for a GPU: "auto" (default) takes as much as it gets, "on" fails where it
//                       does not get all, "off" takes none
//   pinned_bytes        bound of page-locked memory; default: prefetch_bytes alone bounds it
//   split               reads a part of the dataset alone: "[:90%]", "[90%:]", "[1/3:2/3]" cut by a hash of
//                       samples' names, "[:1000]", "[-1000:]" by their ids; several with a + between them
//   split_seed          another seed cuts percentages and fractions otherwise; default 0
//   indices             reads the samples with these ids alone; a list without an id twice, up to 4096 ranges
//   classes             reads the samples of the classes with these names alone
//   subset              reads the samples alone that the server's configuration has as a list of this name
//   seed                default 0
//   shuffle             "full" (default), "none", {"mode": "block", "block_samples": …, "window_blocks": …}, or
//                       {"mode": "weighted", "class_weights": {"cat": 1, "dog": 2}, "samples": …}, which draws with
//                       replacement; without weights all classes alike; "samples" of an epoch, default all
//   last_batch          "drop" (default), "pad", "partial"
//   rank, world_size    default: RANK and WORLD_SIZE of the environment, else one rank
//   prefetch            batches ahead; default: enough to keep servers busy; bounded by "prefetch_bytes", default 1 GiB
//   names               whether batches carry samples' names; default false
//   progress_timeout    stoker_loader_next fails after so many seconds without any arrival; default 60
//   span_deadline       a span is asked for again after so many seconds at the earliest; default 2
//   verify              the share of spans, 0 to 1, that a second server makes too, past all caches, to compare their
//                       bytes; default 0.001, which needs two servers or more
//   verify_policy       where they differ: "fail" (default) with STOKER_DATA_LOSS, or "warn" in the stats' warnings
//   connect_timeout     seconds in which a first server must answer: say it where servers may start later than the
//                       loader; default 30, but servers that all refuse connections or have no address fail at once
//   connections         to each server; default 1
//   tls_ca_file         PEM file of the certificates that the servers' are checked against; default: STOKER_TLS_CA of
//                       the environment, else no TLS
//   tls_server_name     the name in the servers' certificate, where it is not their address
//   tls_cert_file       PEM file of this client's certificate, and "tls_key_file" of its key, for servers that ask for
//                       one; default: STOKER_TLS_CERT and STOKER_TLS_KEY
//   token_file          file with a token that says who this client is; it is sent by TLS or a Unix socket alone;
//                       default: STOKER_TOKEN_FILE
STOKER_EXPORT stoker_code stoker_loader_create(const char* options, stoker_loader** loader);

// Ends the loader and its streams. Batches and tensors stay valid. Null is allowed.
STOKER_EXPORT void stoker_loader_destroy(stoker_loader* loader);

// Describes the loader as JSON: {"dataset", "samples", "fingerprint", "dataset_samples", "batch_size", "rank",
// "world_size", "batches_per_epoch", "sample_bytes", "seed", "device", "pipeline", "fields": [{"name", "dtype",
// "shape", "kind"}], "parts": [{"name", "end", "weight"}]}. The samples and the fingerprint are those of the part that
// is read; "dataset_samples" counts all. The pipeline has its defaults filled in. The fields are those of batches;
// shapes lack the batch's dimension, and "kind" is there for a "label_map" or "binary_map" alone. "parts" are the
// datasets that this one is mixed of, none where it is no mix: "end" is the id after a part's last sample, where the
// next one begins, and "weight" is 0 where they stand one after another. They are there since ABI version 4.
STOKER_EXPORT stoker_code stoker_loader_describe(const stoker_loader* loader, char** json);

// Gives the next batch of the epoch, or null at its end. The call after that begins the next epoch.
//
// The call waits at most `timeout_seconds`; if that is negative, as long as progress_timeout allows. When the time is
// over it returns STOKER_DEADLINE_EXCEEDED and sets `*batch` to null. Nothing is lost then: a caller may look at its
// signals and call again. Other errors stay: later calls return them too.
STOKER_EXPORT stoker_code stoker_loader_next(stoker_loader* loader, double timeout_seconds, stoker_batch** batch);

// Says whether the last failure of stoker_loader_next was its timeout alone (1), or the loader itself gave up (0).
STOKER_EXPORT int stoker_loader_waiting(const stoker_loader* loader);

// Makes the next batch the first of `epoch`.
STOKER_EXPORT stoker_code stoker_loader_set_epoch(stoker_loader* loader, uint64_t epoch);

// Makes stoker_loader_next return STOKER_CANCELLED, also where it waits now. Any thread may call this.
STOKER_EXPORT void stoker_loader_cancel(stoker_loader* loader);

// Says where the loader stands, in some hundred bytes of JSON, and at most 2 KiB more where the pipeline is long: its
// text says later how another one differs. Batches that were returned count, prefetched ones do not.
STOKER_EXPORT stoker_code stoker_loader_state(const stoker_loader* loader, char** json);

// Makes the loader go on from a state, also one of another batch size, world size or number of servers. Fails with
// STOKER_FAILED_PRECONDITION where anything else differs, and names it. Servers of another pixel version are accepted
// only where `accept_other_pixels` is not 0. A loader that had failed works again.
STOKER_EXPORT stoker_code stoker_loader_restore(stoker_loader* loader, const char* state, int accept_other_pixels);

// Says what the loader has done, as JSON: {"batches", "samples", "substituted", "spans", "bytes", "retried_spans",
// "hedged_spans", "cached_spans", "verified_spans", "unverified_spans", "differing_spans", "waited_seconds",
// "received_seconds", "transformed_seconds", "server_seconds":
// {"fetch": …, "wait": …, "read": …, …}, "servers": [{"address", "connected", "spans", "problem"}], "warnings":
// [sentences]}. Any thread may call this.
STOKER_EXPORT stoker_code stoker_loader_stats(const stoker_loader* loader, char** json);

// What the servers' index knows of the loader's dataset. Each call asks them, page by page, and any thread may call it.
// They fail with STOKER_INVALID_ARGUMENT where the index has no labels, and with STOKER_FAILED_PRECONDITION where the
// servers are too old or have other data by now. Since ABI version 3.

// Gives the names of the dataset's classes by label, as JSON: ["cat", "dog"]. Empty where labels have no names.
STOKER_EXPORT stoker_code stoker_loader_classes(const stoker_loader* loader, char** json);

// Gives the labels of the samples that the loader reads, in the order of their ids, run-length encoded as JSON: [[0,
// 3], [1, 2]] stands for 0, 0, 0, 1, 1.
STOKER_EXPORT stoker_code stoker_loader_labels(const stoker_loader* loader, char** json);

// Gives the names of `count` samples in the order of their ids in `sample_ids`, as a list in JSON.
STOKER_EXPORT stoker_code stoker_loader_names(const stoker_loader* loader, const uint64_t* sample_ids, uint64_t count,
                                              char** json);

// ---- batches ----

// One field of a batch. The numbers of devices and of elements' types are DLPack's.
//
// A field whose samples differ in size (see "kind" in stoker_loader_describe) has two tensors. The one of its own name
// has the rows of all samples, one after another. The other, NAME.offsets, has one int64 more than there are samples:
// rows offsets[i] up to, but without, offsets[i + 1] are those of sample i. Such tensors stand behind all fields.
// Images of native size ("ragged_image") have a pixel a row, and behind them a field of their own, NAME.sizes: height
// and width of each image, int32.
typedef struct stoker_tensor {
  const char* name;
  // The elements, row by row, without padding; aligned to 256 bytes where the device made them. Null if there are none.
  const void* data;
  uint64_t bytes;
  const int64_t* shape;  // `ndim` numbers; the first is the number of samples, or of rows.
  int32_t ndim;
  int32_t device_type;  // 1 is the CPU, 2 is CUDA.
  int32_t device_id;
  uint8_t dtype_code;  // 0 is int, 1 uint, 2 float, 4 bfloat.
  uint8_t dtype_bits;
} stoker_tensor;

// What a batch is made of.
typedef struct stoker_batch_info {
  uint64_t epoch;
  int64_t size;                // How many samples it has.
  int64_t real;                // How many of them, the first ones, are no padding.
  const uint64_t* positions;   // Each sample's position in the epoch's order over all ranks.
  const uint64_t* sample_ids;  // Each sample's index in the dataset.
  int32_t tensors;
} stoker_batch_info;

// Fill a struct. Its pointers are valid until the batch is released. stoker_batch_get_info fills in zeros where there
// is no such batch.
STOKER_EXPORT void stoker_batch_get_info(const stoker_batch* batch, stoker_batch_info* info);
STOKER_EXPORT stoker_code stoker_batch_get_tensor(const stoker_batch* batch, int32_t index, stoker_tensor* tensor);

// The name of the batch's sample `row`. It is empty unless the loader was made with "names".
STOKER_EXPORT const char* stoker_batch_name(const stoker_batch* batch, int64_t row);

// The bad samples that others stood in for, as JSON: [{"position", "bad_sample_id", "bad_sample_name", "reason"}].
STOKER_EXPORT stoker_code stoker_batch_substituted(const stoker_batch* batch, char** json);

// Counts the batch's samples by the datasets that the loader's is mixed of. `counts` gets a number for each of the
// `parts` of stoker_loader_describe, in their order; STOKER_INVALID_ARGUMENT where there is another number of these,
// which is 0 where the dataset is no mix. Padding does not count, and a substitute counts for its own part. The call
// reads sample_ids alone and asks no server. Since ABI version 4.
STOKER_EXPORT stoker_code stoker_batch_part_counts(const stoker_batch* batch, int64_t* counts, int32_t parts);

// Lets work on a CUDA stream use the batch's tensors. Call it once for each stream, before such work is queued.
//
// `stream`, a cudaStream_t, then waits until the tensors are made. Their memory is used again only after the work that
// is on `stream` when they are let go. 0 and 1 are CUDA's legacy default stream, 2 is the calling thread's. `stream`
// must belong to the tensors' GPU, live until they are let go, and capture no CUDA graph then. The call itself does not
// wait, and does nothing on the CPU.
STOKER_EXPORT stoker_code stoker_batch_use_on(const stoker_batch* batch, uintptr_t stream);

// Waits until the batch is made. Whoever copies it to the host without a stream needs this.
STOKER_EXPORT stoker_code stoker_batch_wait(const stoker_batch* batch);

// Gives one of the batch's tensors as a DLManagedTensor, which keeps the memory when the batch is gone. Whoever takes
// it calls its deleter, from any thread. On CUDA call stoker_batch_use_on for the consumer's stream first.
STOKER_EXPORT stoker_code stoker_batch_dlpack(const stoker_batch* batch, int32_t index,
                                              struct DLManagedTensor** tensor);

// Does what stoker_batch_use_on does, for one tensor from stoker_batch_dlpack that was not deleted yet.
STOKER_EXPORT stoker_code stoker_dlpack_use_on(struct DLManagedTensor* tensor, uintptr_t stream);

// Lets go of the batch. Tensors that were taken out of it stay. Null is allowed. Any thread may call this.
STOKER_EXPORT void stoker_batch_release(stoker_batch* batch);

// ---- digests ----

// Begins a digest: the SHA-256 over an epoch's samples as the servers made them. It is the same number whatever the
// batches, servers and device.
STOKER_EXPORT stoker_digest* stoker_digest_create(void);

// Adds a batch's samples. They must follow those before; the first are the epoch's first.
STOKER_EXPORT stoker_code stoker_digest_add(stoker_digest* digest, const stoker_batch* batch);

// Gives the digest as 64 hexadecimal digits. It can be taken once.
STOKER_EXPORT stoker_code stoker_digest_hex(stoker_digest* digest, char** hex);

// Frees the digest. Null is allowed.
STOKER_EXPORT void stoker_digest_destroy(stoker_digest* digest);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOKER_CLIENT_CAPI_STOKER_H_
