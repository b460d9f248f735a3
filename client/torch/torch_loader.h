#ifndef STOKER_CLIENT_TORCH_TORCH_LOADER_H_
#define STOKER_CLIENT_TORCH_TORCH_LOADER_H_

// Batches as torch tensors, for training in C++. These are headers only, over the C ABI. They compile as C++17 or later
// against whatever torch a project has (target stoker::torch); the program links that torch and libstoker.so.
//
// Failures throw LoaderError. A loader is for one thread at a time; only Cancel may be called from any thread.

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "client/capi/stoker.h"
#include "client/torch/torch_stream.h"

namespace stoker {

// An error of the client library: its code, and a message that says what failed.
class LoaderError : public std::runtime_error {
 public:
  LoaderError(stoker_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  stoker_code code() const { return code_; }

 private:
  stoker_code code_;
};

// Throws the calling thread's last error unless `code` is STOKER_OK.
inline void ThrowUnlessOk(stoker_code code) {
  if (code != STOKER_OK) throw LoaderError(code, stoker_error());
}

// One batch. Its tensors own their memory, which serves another batch once the last tensor, or view of one, is gone.
struct TorchBatch {
  uint64_t epoch = 0;
  int64_t size = 0;                                        // number of samples, padding included
  int64_t real = 0;                                        // number of samples that are not padding; these come first
  std::vector<uint64_t> positions;                         // each sample's position in the epoch
  std::vector<uint64_t> sample_ids;                        // each sample's id in the dataset
  std::vector<std::string> names;                          // each sample's name; none unless Options's `names` is set
  std::vector<std::pair<std::string, at::Tensor>> fields;  // in the pipeline's order; the first dimension is `size`

  // Returns the field of that name. If there is none, LoaderError names the fields that there are.
  const at::Tensor& operator[](const std::string& field) const;
};

// Frees a tensor's DLPack handle. The loader's tensors have it as their deleter.
inline void DeleteDlpack(void* tensor) {
  auto* dlpack = static_cast<DLManagedTensor*>(tensor);
  dlpack->deleter(dlpack);
}

// Call it before `stream` reads `tensor`, which is a loader's tensor or a view of one, unless `stream` was current for
// the thread that called Next. It makes `stream` wait for the tensor, and the memory's next use wait for the work that
// is on `stream` when the tensor is dropped. at::Tensor::record_stream does not do that, since it knows only memory
// that torch allocated. On the CPU it does nothing.
inline void UseOn(const at::Tensor& tensor, const c10::Stream& stream) {
  const auto& data = tensor.storage().data_ptr();
  if (data.get_deleter() != &DeleteDlpack)
    throw LoaderError(STOKER_INVALID_ARGUMENT, "UseOn: the tensor's memory is not a loader's");
  ThrowUnlessOk(stoker_dlpack_use_on(static_cast<DLManagedTensor*>(data.get_context()), StreamHandle(stream)));
}

// A training job's batches as torch tensors, in the epoch's global order. One thread at a time, except for Cancel.
class TorchLoader {
 public:
  // What a job reads, from which servers, and how its batches are cut.
  struct Options {
    std::vector<std::string> servers;  // required: "host:port", "dns:///name:port", "file:/path", "unix:/path"
    std::string dataset;               // may be empty if the servers have just one

    // The pipeline in YAML, as in the server's configuration, or in JSON: "ops: [{Resize: {size: 64}}, …]".
    std::string pipeline;

    // The name of a pipeline that the servers offer. Give this or `pipeline`; without either the pipeline is
    // RandomResizedCrop(224), RandomHorizontalFlip.
    std::string pipeline_name;

    int64_t batch_size = 0;  // required: samples of a batch of this rank
    at::Device device = at::kCPU;
    uint64_t seed = 0;
    std::string shuffle = "full";             // "full" or "none"
    std::string last_batch = "drop";          // "drop", "pad" or "partial"
    std::optional<int64_t> rank, world_size;  // default: RANK and WORLD_SIZE of the environment, or else a single rank
    bool names = false;                       // whether batches carry samples' names

    // Further options of stoker_loader_create, as members of a JSON object: R"("connections": 2, "pin": "off")".
    std::string others;
  };

  // Connects to the servers, and checks all options.
  explicit TorchLoader(const Options& options);

  // Returns the next batch, or none at the epoch's end; the call after that begins the next epoch. On a GPU the calling
  // thread's current stream waits for the batch's tensors, and their memory's next use waits for that stream.
  std::optional<TorchBatch> Next();

  // Makes the first batch of `epoch` the next one.
  void SetEpoch(uint64_t epoch) { ThrowUnlessOk(stoker_loader_set_epoch(loader_.get(), epoch)); }

  // Makes Next throw STOKER_CANCELLED, now and from now on. Any thread may call it.
  void Cancel() { stoker_loader_cancel(loader_.get()); }

  // Returns where the loader stands, as some hundred bytes of JSON, and at most 2 KiB more where the pipeline is long.
  // Batches that Next returned count; prefetched ones do not.
  std::string State() const { return Text(stoker_loader_state); }

  // Goes on from a state. It may come from a job with another batch size or world size. If the servers' pixels differ
  // from the state's it throws, unless `accept_other_pixels` is true.
  void Restore(const std::string& state, bool accept_other_pixels = false) {
    ThrowUnlessOk(stoker_loader_restore(loader_.get(), state.c_str(), accept_other_pixels ? 1 : 0));
  }

  // Return JSON: see stoker_loader_describe and stoker_loader_stats.
  std::string Describe() const { return Text(stoker_loader_describe); }
  std::string Stats() const { return Text(stoker_loader_stats); }

  int64_t samples() const { return Number("samples"); }
  int64_t batches_per_epoch() const { return Number("batches_per_epoch"); }

 private:
  struct Release {
    void operator()(stoker_loader* loader) const { stoker_loader_destroy(loader); }
    void operator()(stoker_batch* batch) const { stoker_batch_release(batch); }
    void operator()(char* text) const { stoker_free(text); }
  };
  template <typename T>
  using Owned = std::unique_ptr<T, Release>;

  std::string Text(stoker_code (*get)(const stoker_loader*, char**)) const {
    char* text = nullptr;
    ThrowUnlessOk(get(loader_.get(), &text));
    return Owned<char>(text).get();
  }

  int64_t Number(const std::string& key) const;

  at::Device device_;
  bool names_;
  Owned<stoker_loader> loader_;
};

namespace torch_loader {

// Returns `text` as a JSON string.
inline std::string Quoted(const std::string& text) {
  static const char digits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted.append({'\\', c});
    } else if (byte < 0x20) {
      quoted.append("\\u00").append({digits[byte >> 4], digits[byte & 15]});
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

// Returns the options as the JSON that stoker_loader_create takes. Empty ones are left out, so that they have the
// library's defaults.
inline std::string Json(const TorchLoader::Options& options, const at::Device& device) {
  std::string json, servers;
  const auto add = [&](const char* key, const std::string& value) {
    json.append(json.empty() ? "" : ", ").append(Quoted(key)).append(": ").append(value);
  };
  const auto add_text = [&](const char* key, const std::string& value) {
    if (!value.empty()) add(key, Quoted(value));
  };
  const auto add_number = [&](const char* key, const std::optional<int64_t>& value) {
    if (value) add(key, std::to_string(*value));
  };
  for (const std::string& server : options.servers) servers.append(servers.empty() ? "" : ", ").append(Quoted(server));
  add("servers", "[" + servers + "]");
  add_text("dataset", options.dataset);
  add_text("pipeline", options.pipeline);
  add_text("pipeline_name", options.pipeline_name);
  add("batch_size", std::to_string(options.batch_size));
  add_text("device", device.str());
  add("seed", std::to_string(options.seed));
  add_text("shuffle", options.shuffle);
  add_text("last_batch", options.last_batch);
  add_number("rank", options.rank);
  add_number("world_size", options.world_size);
  add("names", options.names ? "true" : "false");
  if (!options.others.empty()) json.append(", ").append(options.others);
  return "{" + json + "}";
}

// Gives a device without an index the thread's current one, as torch does elsewhere.
inline at::Device Resolved(const at::Device& device) {
  if (device.is_cpu() || device.has_index()) return device;
  return c10::impl::VirtualGuardImpl(device.type()).getDevice();
}

// Returns a tensor that owns `dlpack`.
inline at::Tensor FromDlpack(DLManagedTensor* dlpack, const at::Device& device) {
  std::unique_ptr<DLManagedTensor, void (*)(void*)> owner(dlpack, &DeleteDlpack);
  const DLTensor& tensor = dlpack->dl_tensor;
  const at::ScalarType dtype = at::toScalarType(tensor.dtype);
  return at::for_blob(static_cast<char*>(tensor.data) + tensor.byte_offset,
                      at::IntArrayRef(tensor.shape, static_cast<size_t>(tensor.ndim)))
      .context(owner.release(), &DeleteDlpack)
      .options(at::device(device).dtype(dtype))
      .target_device(device)
      .make_tensor();
}

}  // namespace torch_loader

inline const at::Tensor& TorchBatch::operator[](const std::string& field) const {
  std::string there;
  for (const auto& [name, tensor] : fields) {
    if (name == field) return tensor;
    there.append(there.empty() ? "" : ", ").append(name);
  }
  throw LoaderError(STOKER_NOT_FOUND, "the batch has no field " + field + "; it has " + there);
}

inline TorchLoader::TorchLoader(const Options& options)
    : device_(torch_loader::Resolved(options.device)), names_(options.names) {
  stoker_loader* loader = nullptr;
  ThrowUnlessOk(stoker_loader_create(torch_loader::Json(options, device_).c_str(), &loader));
  loader_.reset(loader);
}

inline std::optional<TorchBatch> TorchLoader::Next() {
  stoker_batch* next = nullptr;
  ThrowUnlessOk(stoker_loader_next(loader_.get(), -1, &next));
  if (next == nullptr) return std::nullopt;
  const Owned<stoker_batch> handle(next);
  if (device_.is_cuda()) ThrowUnlessOk(stoker_batch_use_on(next, StreamHandle(CurrentStream(device_))));

  stoker_batch_info info{};
  stoker_batch_get_info(next, &info);
  TorchBatch batch;
  batch.epoch = info.epoch;
  batch.size = info.size;
  batch.real = info.real;
  batch.positions.assign(info.positions, info.positions + info.size);
  batch.sample_ids.assign(info.sample_ids, info.sample_ids + info.size);
  for (int64_t row = 0; names_ && row < info.size; ++row) batch.names.emplace_back(stoker_batch_name(next, row));
  for (int32_t i = 0; i < info.tensors; ++i) {
    stoker_tensor tensor{};
    ThrowUnlessOk(stoker_batch_get_tensor(next, i, &tensor));
    DLManagedTensor* dlpack = nullptr;
    ThrowUnlessOk(stoker_batch_dlpack(next, i, &dlpack));
    batch.fields.emplace_back(tensor.name, torch_loader::FromDlpack(dlpack, device_));
  }
  return batch;
}

// A plain search finds the key: no other key of the description has this name, and quotes in its strings are escaped.
inline int64_t TorchLoader::Number(const std::string& key) const {
  const std::string json = Describe(), quoted = "\"" + key + "\":";
  const size_t at = json.find(quoted);
  if (at == std::string::npos) throw LoaderError(STOKER_INTERNAL, "the loader's description lacks " + key);
  return std::stoll(json.substr(at + quoted.size()));
}

}  // namespace stoker

#endif  // STOKER_CLIENT_TORCH_TORCH_LOADER_H_
