// bench-device [--batch-size B] [--side N] [--rounds R] [--json FILE]: what becomes of a batch of photographs' bytes on
// the way to the model. On this machine's CPU: the fused pass against separate ones, as written with one array a step.
// On its first GPU, if it has one: copies and the kernel against what the hardware does at best.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/device/cuda/cuda_device.h"
#include "client/device/cuda/runtime.h"
#include "client/device/device.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "google/protobuf/text_format.h"
#include "nlohmann/json.hpp"
#include "tests/bench/table.h"

namespace stoker {
namespace {

constexpr float kMean[] = {0.485f, 0.456f, 0.406f}, kStd[] = {0.229f, 0.224f, 0.225f};

struct Flags {
  int64_t batch_size = 256, side = 224;
  int rounds = 5;
  double seconds = 1;
  std::string json;
  int64_t values() const { return batch_size * side * side * 3; }
};

// A batch and the pipeline that makes normalized planes of `dtype` of it.
class Photos {
 public:
  explicit Photos(const Flags& flags, const std::string& dtype) : bytes_(flags.values()), positions_(flags.batch_size) {
    std::mt19937 random(1);
    for (uint8_t& byte : bytes_) byte = static_cast<uint8_t>(random());
    std::iota(positions_.begin(), positions_.end(), 0);
    v1::Pipeline spec;
    STOKER_CHECK(google::protobuf::TextFormat::ParseFromString(
        absl::StrCat("ops { to_dtype { dtype: ", dtype,
                     " scale: true } } "
                     "ops { normalize { mean: [0.485, 0.456, 0.406] std: [0.229, 0.224, 0.225] } } "
                     "ops { to_memory_format { memory_format: MEMORY_FORMAT_CHANNELS_FIRST } }"),
        &spec));
    v1::Field image;
    image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
    for (int64_t extent : {flags.side, flags.side, int64_t{3}}) image.add_shape(extent);
    auto pipeline = DevicePipeline::Create(spec, {image});
    STOKER_CHECK(pipeline.ok());
    pipeline_.emplace(*std::move(pipeline));
  }

  const std::vector<uint8_t>& bytes() const { return bytes_; }
  const DevicePipeline& pipeline() const { return *pipeline_; }
  HostBatch At(std::span<const uint8_t> bytes, std::shared_ptr<HostSlab> slab) const {
    return {1, 1, positions_, {bytes}, std::move(slab)};
  }

 private:
  std::vector<uint8_t> bytes_;
  std::vector<uint64_t> positions_;
  std::optional<DevicePipeline> pipeline_;
};

// Calls `once`, which does `images` images, for the turn's time; `wait` ends what it queued.
absl::StatusOr<double> Rate(const Turn& turn, int64_t images, const std::function<absl::Status()>& once,
                            const std::function<absl::Status()>& wait) {
  STOKER_RETURN_IF_ERROR(once());
  STOKER_RETURN_IF_ERROR(wait());
  const auto begun = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
  int64_t done = 0;
  while (passed() < turn.seconds) {
    for (int i = 0; i < 8; ++i, done += images) STOKER_RETURN_IF_ERROR(once());
    STOKER_RETURN_IF_ERROR(wait());
  }
  return done / passed();
}

absl::Status NoWait() { return absl::OkStatus(); }

// ---- on the CPU ----

// Cast, divide by 255, subtract, divide, transpose: each reads one array and writes another, once it is allocated.
Way SeparatePasses(const Flags& flags, const Photos& photos) {
  return {.name = "separate passes", .time = [&](const Turn& turn) {
            const size_t values = photos.bytes().size();
            const int64_t pixels = flags.side * flags.side;
            std::vector<float> cast(values), scaled(values), centered(values), normalized(values), planes(values);
            const auto once = [&] {
              for (size_t i = 0; i < values; ++i) cast[i] = photos.bytes()[i];
              for (size_t i = 0; i < values; ++i) scaled[i] = cast[i] / 255;
              for (size_t i = 0; i < values; i += 3)
                for (int c = 0; c < 3; ++c) centered[i + c] = scaled[i + c] - kMean[c];
              for (size_t i = 0; i < values; i += 3)
                for (int c = 0; c < 3; ++c) normalized[i + c] = centered[i + c] / kStd[c];
              for (int64_t n = 0; n < flags.batch_size; ++n)
                for (int c = 0; c < 3; ++c)
                  for (int64_t p = 0; p < pixels; ++p)
                    planes[(n * 3 + c) * pixels + p] = normalized[(n * pixels + p) * 3 + c];
              return absl::OkStatus();
            };
            return Rate(turn, flags.batch_size, once, NoWait);
          }};
}

Way Fused(const Flags& flags, const Photos& photos) {
  return {.name = "fused (the CPU device)", .time = [&](const Turn& turn) {
            const auto device = HostDevice();
            const auto once = [&] {
              return device->Submit(photos.pipeline(), photos.At(photos.bytes(), nullptr)).status();
            };
            return Rate(turn, flags.batch_size, once, NoWait);
          }};
}

// ---- on the GPU ----

// Memory for the ways on a GPU, freed in the end.
struct GpuMemory {
  CudaRuntime& gpu;
  uint8_t *in = nullptr, *out = nullptr, *pinned = nullptr;
  Stream stream = 0;

  absl::Status Allocate(uint64_t bytes, uint64_t out_bytes) {
    STOKER_ASSIGN_OR_RETURN(in, gpu.AllocateDevice(bytes));
    STOKER_ASSIGN_OR_RETURN(out, gpu.AllocateDevice(out_bytes));
    STOKER_ASSIGN_OR_RETURN(pinned, gpu.AllocatePinned(bytes));
    STOKER_ASSIGN_OR_RETURN(stream, gpu.CreateStream());
    return absl::OkStatus();
  }
  ~GpuMemory() {
    if (in != nullptr) gpu.FreeDevice(in).IgnoreError();
    if (out != nullptr) gpu.FreeDevice(out).IgnoreError();
    if (pinned != nullptr) gpu.FreePinned(pinned).IgnoreError();
    if (stream != 0) gpu.DestroyStream(stream).IgnoreError();
  }
};

using Queue = std::function<absl::Status(GpuMemory&)>;

// One call of `queue` stands for `images` images.
Way OnGpu(CudaRuntime& gpu, const std::string& name, double images, uint64_t bytes, uint64_t out_bytes, Queue queue) {
  return {.name = name, .time = [=, &gpu](const Turn& turn) -> absl::StatusOr<double> {
            GpuMemory memory{gpu};
            STOKER_RETURN_IF_ERROR(memory.Allocate(bytes, out_bytes));
            STOKER_ASSIGN_OR_RETURN(const double calls, Rate(
                                                            turn, 1, [&] { return queue(memory); },
                                                            [&] { return gpu.Synchronize(memory.stream); }));
            return calls * images;
          }};
}

TransformArguments Transform(const Flags& flags, const Photos& photos, Element element) {
  TransformArguments a = {.samples = flags.batch_size,
                          .height = static_cast<int32_t>(flags.side),
                          .width = static_cast<int32_t>(flags.side),
                          .channels = 3,
                          .element = element,
                          .channels_first = true};
  std::copy_n(photos.pipeline().image().scale.begin(), 3, a.scale);
  std::copy_n(photos.pipeline().image().bias.begin(), 3, a.bias);
  return a;
}

// The kernel, as images a second, against a copy on the device that moves as many bytes.
std::vector<Way> KernelWays(const Flags& flags, const Photos& photos, CudaRuntime& gpu, Element element) {
  const uint64_t bytes = flags.values(), out_bytes = bytes * (element == Element::kFloat32 ? 4 : 2);
  const uint64_t copied = (bytes + out_bytes) / 2;  // Read and written.
  const TransformArguments transform = Transform(flags, photos, element);
  return {OnGpu(gpu, "copy on the device", flags.batch_size, copied, copied,
                [=, &gpu](GpuMemory& m) { return gpu.CopyOnDevice(m.out, m.in, copied, m.stream); }),
          OnGpu(gpu, "kernel", flags.batch_size, bytes, out_bytes, [=, &gpu](GpuMemory& m) {
            TransformArguments a = transform;
            a.in = m.in, a.out = m.out;
            return gpu.Launch(a, m.stream);
          })};
}

// Whole batches through the stage, with tensors let go of as the next comes.
Way Stage(const std::string& name, const Flags& flags, const Photos& photos, std::shared_ptr<CudaRuntime> gpu,
          Pin pin) {
  return {.name = name, .time = [=, &flags, &photos](const Turn& turn) -> absl::StatusOr<double> {
            STOKER_ASSIGN_OR_RETURN(const auto device, OpenCudaDevice(gpu, {.pin = pin}));
            std::vector<std::shared_ptr<HostSlab>> slabs;
            for (int i = 0; i < 3; ++i) {
              STOKER_ASSIGN_OR_RETURN(auto slab, device->AllocateSlab(photos.bytes().size(), true));
              std::copy(photos.bytes().begin(), photos.bytes().end(), slab->bytes().begin());
              slabs.push_back(std::move(slab));
            }
            size_t next = 0;
            std::vector<Tensor> tensors;
            const auto once = [&]() -> absl::Status {
              const auto& slab = slabs[next++ % slabs.size()];
              STOKER_ASSIGN_OR_RETURN(tensors, device->Submit(photos.pipeline(), photos.At(slab->bytes(), slab)));
              return absl::OkStatus();
            };
            const auto wait = [&] { return tensors[0].memory->Wait(); };
            auto rate = Rate(turn, flags.batch_size, once, wait);
            tensors.clear();
            while (device->Reclaim()) {
            }
            return rate;
          }};
}

std::vector<Way> CopyWays(const Flags& flags, const Photos& photos, const Photos& half_photos,
                          const std::shared_ptr<CudaRuntime>& gpu) {
  const uint64_t bytes = flags.values();
  return {OnGpu(*gpu, "copy from pinned memory", flags.batch_size, bytes, 1,
                [=](GpuMemory& m) { return gpu->CopyToDevice(m.in, m.pinned, bytes, m.stream); }),
          OnGpu(*gpu, "copy from pageable memory", flags.batch_size, bytes, 1,
                [=, &photos](GpuMemory& m) { return gpu->CopyToDevice(m.in, photos.bytes().data(), bytes, m.stream); }),
          OnGpu(*gpu, "copy of float32 from pinned memory", flags.batch_size / 4.0, bytes, 1,
                [=](GpuMemory& m) { return gpu->CopyToDevice(m.in, m.pinned, bytes, m.stream); }),
          Stage("upload + kernel, float16", flags, half_photos, gpu, Pin::kOn),
          Stage("upload + kernel, float32", flags, photos, gpu, Pin::kOn),
          Stage("upload + kernel, float32, pageable", flags, photos, gpu, Pin::kOff)};
}

void Show(const Flags& flags, const std::string& title, const std::vector<Way>& ways, const std::string& suffix,
          const std::vector<Comparison>& comparisons, nlohmann::ordered_json& json) {
  const auto rows = TimeInTurns(ways, {.seconds = flags.seconds}, flags.rounds);
  std::printf("\n%s\n", title.c_str());
  Print(rows, rows[0].name, comparisons);
  for (const Row& row : rows)
    if (row.skipped.empty())
      std::printf("  %-36s %.2f GB/s of uint8\n", row.name.c_str(),
                  row.images_per_second * flags.side * flags.side * 3 / 1e9);
  AddJson(rows, suffix, json);
}

int Run(const Flags& flags) {
  nlohmann::ordered_json json;
  const Photos photos(flags, "DTYPE_FLOAT32"), half_photos(flags, "DTYPE_FLOAT16");
  const std::string batch = absl::StrFormat("%d × %d×%d×3", flags.batch_size, flags.side, flags.side);
  Show(flags, batch + " to normalized float32 planes, on a core of this CPU",
       {SeparatePasses(flags, photos), Fused(flags, photos)}, "", {}, json);
  const auto gpu = OpenCudaRuntime(0);
  if (!gpu.ok()) {
    std::printf("\nno GPU: %s\n", std::string(gpu.status().message()).c_str());
  } else {
    Show(flags, batch + " to the GPU", CopyWays(flags, photos, half_photos, *gpu), " to the GPU", {}, json);
    Show(flags, "kernel to float32, and a copy of as many bytes", KernelWays(flags, photos, **gpu, Element::kFloat32),
         " float32", {}, json);
    Show(flags, "kernel to float16, and a copy of as many bytes", KernelWays(flags, photos, **gpu, Element::kFloat16),
         " float16", {}, json);
  }
  if (!flags.json.empty() && !(std::ofstream(flags.json) << json.dump(2) << "\n")) {
    std::fprintf(stderr, "bench-device: cannot write %s\n", flags.json.c_str());
    return 1;
  }
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app("What becomes of a batch on the way to the model", "bench-device");
  Flags flags;
  app.add_option("--batch-size", flags.batch_size, "Images of a batch [256]")->check(CLI::Range(1, 65535));
  app.add_option("--side", flags.side, "Height and width in pixels [224]")->check(CLI::Range(1, 4096));
  app.add_option("--rounds", flags.rounds, "Rounds of all ways in turn [5]")->check(CLI::Range(1, 1000));
  app.add_option("--seconds", flags.seconds, "Of each way in each round [1]")->check(CLI::Range(0.01, 60.0));
  app.add_option("--json", flags.json, "Write the figures as JSON as well")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);
  return Run(flags);
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) { return stoker::Main(argc, argv); }
