// bench-fields [--samples N] [--json FILE]: how many bytes of each kind of field come to a client, beside those of the
// form that a training loop computes with. Counted from what came, for one field at a time.

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/check.h"
#include "common/fields/companions.h"
#include "common/fields/schema.h"
#include "google/protobuf/text_format.h"
#include "nlohmann/json.hpp"
#include "tests/bench/fleet.h"

namespace stoker {
namespace {

constexpr int64_t kBatchSize = 64;

constexpr char kConfig[] = R"(datasets:
- name: bench
  synthetic:
    fields:
    - {name: image, dtype: uint8, shape: [224, 224, 3]}
    - {name: labels, dtype: uint8, shape: [224, 224], kind: label_map}
    - {name: wide_labels, dtype: int16, shape: [224, 224], kind: label_map}
    - {name: mask, dtype: uint8, shape: [224, 224], kind: binary_map}
    - {name: features, dtype: float32, shape: [1024]}
    - {name: boxes, dtype: float32, shape: [4], kind: boxes, max_bytes: 1600, typical_bytes: 112}
    - {name: classes, dtype: int64, kind: ragged, max_bytes: 800, typical_bytes: 56}
    - {name: caption, dtype: uint8, kind: text, max_bytes: 1KiB, typical_bytes: 60}
    - {name: words, dtype: float32, kind: sparse, dense_shape: [50000], max_bytes: 2KiB, typical_bytes: 400}
    - {name: tags, kind: sparse, dense_shape: [1000], max_bytes: 200, typical_bytes: 40}
)";

// Behind it stand the path of a shard and a bracket.
constexpr char kAudioConfig[] = R"(- name: sounds
  webdataset: {fields: {audio: {from: wav, kind: audio, max_bytes: 128KiB, typical_bytes: 40KiB}}, path: )";

template <typename Number>
void Put(Number number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// A mono WAV of 16 kHz, silent.
std::string Wav(uint32_t samples) {
  std::string file = "RIFF";
  Put<uint32_t>(36 + 2 * samples, file);
  file += "WAVEfmt ";
  for (const uint32_t word : {16u, 1u | 1u << 16, 16000u, 32000u, 2u | 16u << 16}) Put(word, file);
  file += "data";
  Put<uint32_t>(2 * samples, file);
  return file.append(2 * samples, 0);
}

// A tar file of WAVs of half a second to two seconds.
std::string Sounds(int count) {
  constexpr size_t kBlock = 512, kSizeAt = 124, kSumAt = 148;
  std::string tar;
  for (int i = 0; i < count; ++i) {
    std::string header = absl::StrFormat("%06d.wav", i);
    const std::string file = Wav(8000 + i * 7919 % 24000);
    header.resize(kBlock);
    header.replace(kSizeAt, 12, absl::StrFormat("%011o", file.size()) + '\0').replace(kSumAt, 8, "        ");
    header[156] = '0';
    header.replace(257, 8,
                   std::string("ustar\0"
                               "00",
                               8));
    uint32_t sum = 0;
    for (const char c : header) sum += static_cast<uint8_t>(c);
    header.replace(kSumAt, 7, absl::StrFormat("%06o", sum) + '\0');
    tar += header + file;
    tar.resize((tar.size() + kBlock - 1) / kBlock * kBlock);
  }
  return tar.append(2 * kBlock, 0);
}

// A field, and the type of the tensor that a loader would send which knows nothing of kinds. Samples that differ in
// size are then padded to the longest of their batch.
struct Case {
  std::string name, what;
  v1::Dtype obvious;
  std::string pipeline;  // beside the field's name
};

constexpr char kToBfloat16[] =
    "ops { placement: PLACEMENT_SERVER to_dtype { field: 'features' dtype: DTYPE_BFLOAT16 } }";

// Images of 22 to 224 pixels a side.
constexpr char kNativeSize[] =
    "native_size { max_pixels: 50176 typical_pixels: 18000 } "
    "ops { scale_jitter { target_size: [224, 224] scale_range: [0.1, 1] } }";

const std::vector<Case> kCases = {{"image", "image", v1::DTYPE_FLOAT32},
                                  {"labels", "label map, uint8", v1::DTYPE_INT64},
                                  {"wide_labels", "label map, int16", v1::DTYPE_INT64},
                                  {"mask", "binary map", v1::DTYPE_UINT8},
                                  {"features", "1024 numbers, bfloat16", v1::DTYPE_FLOAT32, kToBfloat16},
                                  {"image", "image of native size", v1::DTYPE_UINT8, kNativeSize},
                                  {"boxes", "boxes", v1::DTYPE_FLOAT32},
                                  {"classes", "ragged, int64", v1::DTYPE_INT64},
                                  {"caption", "text", v1::DTYPE_UINT8},
                                  {"words", "sparse, float32 of 50000", v1::DTYPE_FLOAT32},
                                  {"tags", "sparse, ones of 1000", v1::DTYPE_FLOAT32},
                                  {"audio", "audio, int16", v1::DTYPE_FLOAT32}};

// The pixels of the smallest canvas that takes each image of a batch.
int64_t CanvasOf(const Batch& batch, const Tensor& sizes) {
  const auto* sides = static_cast<const int32_t*>(sizes.data);
  int64_t most[] = {0, 0};
  for (int64_t i = 0; i < 2 * batch.size(); ++i) most[i % 2] = std::max<int64_t>(most[i % 2], sides[i]);
  return most[0] * most[1];
}

// The elements of the array that a sample of the field stands for; 0 where it is not sparse.
int64_t DenseElementsOf(const Loader& loader, const std::string& name) {
  for (const v1::Field& field : loader.description().fields())
    if (field.name() == name) return static_cast<int64_t>(DenseElements(field.dense_shape()));
  return 0;
}

// The elements of the tensor that a batch's samples would be, for one sample.
int64_t ElementsOf(const Batch& batch, const std::string& name) {
  const Tensor& tensor = *batch.Find(name);
  int64_t elements = 1;
  for (size_t axis = 1; axis < tensor.shape.size(); ++axis) elements *= tensor.shape[axis];
  const Tensor* const offsets = batch.Find(OffsetsName(name));
  if (offsets == nullptr) return elements;
  const auto* begin = static_cast<const int64_t*>(offsets->data);
  int64_t longest = 0;
  for (int64_t i = 0; i < batch.size(); ++i) longest = std::max(longest, begin[i + 1] - begin[i]);
  const Tensor* const sizes = batch.Find(SizesName(name));
  return (sizes == nullptr ? longest : CanvasOf(batch, *sizes)) * elements;
}

// Payload bytes of a sample, and the elements of the tensor that it would be, both as means.
std::pair<double, double> Take(const Fleet& fleet, const Case& field, int64_t samples) {
  LoaderOptions options;
  options.servers = fleet.addresses();
  options.batch_size = kBatchSize;
  options.dataset = field.name == "audio" ? "sounds" : "bench";
  STOKER_CHECK(google::protobuf::TextFormat::ParseFromString(field.pipeline, &options.pipeline.emplace()));
  options.pipeline->add_fields(field.name);
  const auto loader = MakeLoader(std::move(options));
  const int64_t dense = DenseElementsOf(*loader, field.name);
  int64_t taken = 0, elements = 0;
  while (taken < samples) {
    const Batch batch = NextBatch(*loader);
    taken += batch.size();
    elements += batch.size() * (dense > 0 ? dense : ElementsOf(batch, field.name));
  }
  const LoaderStats stats = loader->stats();
  // Spans are cut where batches end too; both are powers of two.
  const uint64_t came = stats.spans * std::min<uint64_t>(loader->description().span_samples(), kBatchSize);
  return {static_cast<double>(stats.bytes) / static_cast<double>(came),
          static_cast<double>(elements) / static_cast<double>(taken)};
}

void CountBytes(int64_t samples, const std::string& json) {
  const TextFile shard(Sounds(256), ".tar");
  const TextFile config(absl::StrCat(kConfig, kAudioConfig, shard.path(), "}\n"));
  const Fleet fleet(1, {"--config", config.path()});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::printf("%-24s %16s %22s %8s\n", "field", "came, B/sample", "obvious form, B/sample", "ratio");
  for (const Case& field : kCases) {
    const auto [bytes, elements] = Take(fleet, field, samples);
    const double obvious = elements * static_cast<double>(ByteSize(field.obvious));
    std::printf("%-24s %16.0f %14.0f %-7s %7.1f×\n", field.what.c_str(), bytes, obvious,
                DtypeName(field.obvious).c_str(), obvious / bytes);
    rows.push_back({{"field", field.what}, {"bytes", bytes}, {"obvious", obvious}, {"ratio", obvious / bytes}});
  }
  WriteFile(json, rows.dump(1) + "\n");
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  CLI::App app("Counts the bytes of each kind of field that come to a client, beside those of the obvious form");
  int64_t samples = 1024;
  std::string json;
  app.add_option("--samples", samples, "Samples to take of each [1024]")->check(CLI::PositiveNumber);
  app.add_option("--json", json, "Write the figures there as well")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);
  stoker::CountBytes(samples, json);
}
