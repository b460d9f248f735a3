#include "tests/unit/client/device/cuda/ops_against_host.h"

#include <cstring>
#include <iterator>
#include <numeric>
#include <random>

#include "common/fields/schema.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr char kFloat[] = R"pb(
  ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true } }
  ops {
    normalize {
      mean: [ 0.485, 0.456, 0.406 ]
      std: [ 0.229, 0.224, 0.225 ]
    }
  }
)pb";
constexpr char kHalf[] = "ops { to_dtype { dtype: DTYPE_FLOAT16 scale: true } }";
constexpr char kBfloat[] = "ops { to_dtype { dtype: DTYPE_BFLOAT16 scale: true } }";
constexpr char kPlanes[] = "ops { to_memory_format { memory_format: MEMORY_FORMAT_CHANNELS_FIRST } }";

// The samples of a field that differ in size, in two pieces.
struct RandomRows {
  v1::Field field;
  std::vector<uint8_t> values;
  HostBatch::Rows rows;
};

v1::Field FieldOf(const std::string& name, v1::FieldKind kind, v1::Dtype dtype) {
  v1::Field field;
  field.set_name(name), field.set_kind(kind), field.set_dtype(dtype), field.set_max_bytes(4096);
  return field;
}

// Fills `made` with up to 4 rows for each of `samples`. The bytes of `number_bytes` are floats' where they may not be
// NaN, whose bits nobody promises: their highest byte lacks a bit of the exponent.
void MakeRows(int64_t samples, std::mt19937_64& random, RandomRows& made) {
  const size_t number_bytes = ByteSize(made.field.dtype());
  const bool are_floats = !IsWholeNumber(made.field.dtype());
  made.rows.offsets = {0};
  for (int64_t i = 0; i < samples; ++i)
    made.rows.offsets.push_back(made.rows.offsets.back() + static_cast<int64_t>(random() % 5));
  const uint64_t row_bytes = RowBytes(made.field);
  made.values.resize(made.rows.offsets.back() * row_bytes);
  for (size_t i = 0; i < made.values.size(); ++i)
    made.values[i] = static_cast<uint8_t>(random()) & (are_floats && (i + 1) % number_bytes == 0 ? 0xbb : 0xff);
  const auto first = std::span<const uint8_t>(made.values).first(made.rows.offsets[samples / 2] * row_bytes);
  made.rows.parts = {first, std::span<const uint8_t>(made.values).subspan(first.size())};
}

// Fills `places` with some of a sparse field's, and `values` with as many numbers.
void MakeSparse(int64_t samples, std::mt19937_64& random, RandomRows& places, RandomRows* values) {
  MakeRows(samples, random, places);
  const int64_t bytes = ByteSize(places.field.dtype());
  for (int64_t sample = 0; sample < samples; ++sample) {
    int64_t place = static_cast<int64_t>(random() % 3);
    for (int64_t i = places.rows.offsets[sample]; i < places.rows.offsets[sample + 1]; ++i, place += 1 + random() % 3)
      std::memcpy(places.values.data() + i * bytes, &place, bytes);
  }
  if (values == nullptr) return;
  const std::vector<int64_t>& offsets = values->rows.offsets = places.rows.offsets;
  const size_t value_bytes = ByteSize(values->field.dtype());
  values->values.resize(offsets.back() * value_bytes);
  for (size_t i = 0; i < values->values.size(); ++i)  // No NaN, as above.
    values->values[i] = static_cast<uint8_t>(random()) & ((i + 1) % value_bytes == 0 ? 0xbb : 0xff);
  const auto all = std::span<const uint8_t>(values->values);
  values->rows.parts = {all.first(offsets[samples / 2] * value_bytes), all.subspan(offsets[samples / 2] * value_bytes)};
}

// Of a device op in text format.
std::string Op(const std::string& op) { return "ops { placement: PLACEMENT_DEVICE " + op + " } "; }

}  // namespace

std::vector<OpPipelines> AllOpPipelines() {
  const std::string warps[] = {
      Op("random_resized_crop { size: [ 9, 14 ] scale: [ 0.3, 1 ] ratio: [ 0.7, 1.4 ] interpolation: "
         "INTERPOLATION_BILINEAR }"),
      Op("random_rotation { degrees: [ -40, 40 ] interpolation: INTERPOLATION_BILINEAR fill: [ 7, 70, 200 ] }"),
      Op("random_affine { degrees: [ -20, 20 ] translate: [ 0.2, 0.2 ] scale: [ 0.8, 1.2 ] }"),
      Op("random_crop { size: [ 10, 8 ] padding: [ 3 ] }"),
      Op("center_crop { size: [ 7, 9 ] }"),
      Op("resize { size: [ 15, 12 ] interpolation: INTERPOLATION_NEAREST }"),
      Op("resize { size: [ 15, 22 ] antialias: false }")};
  const std::string resamplings[] = {
      Op("resize { size: [ 5, 20 ] }"), Op("resize { size: [ 1, 2 ] }"),
      Op("random_resized_crop { size: [ 9, 14 ] interpolation: INTERPOLATION_BICUBIC }"),
      Op("resize { size: [ 11, 7 ] interpolation: INTERPOLATION_BICUBIC antialias: false }"),
      Op("random_crop { size: 10 }") + Op("random_resized_crop { size: 10 scale: [ 0.5, 1 ] }") +
          Op("random_apply { transforms { random_resized_crop { size: 10 scale: [ 0.2, 1 ] } } }")};
  const std::string colors = Op(
      "color_jitter { brightness: [ 0.5, 1.5 ] contrast: [ 0.5, 1.5 ] saturation: [ 0.5, 1.5 ] hue: [ -0.2, 0.2 ] }");
  const std::string blur = Op("gaussian_blur { kernel_size: [ 5, 3 ] sigma: [ 0.1, 2 ] }");
  const std::string mask = Op("random_mask { ratio: 0.1 dilate: true }");
  const std::string flip = Op("random_horizontal_flip { p: 0.5 }");
  const auto erase = [](const std::string& value) {
    return Op("random_erasing { p: 0.7 scale: [ 0.05, 0.3 ] ratio: [ 0.3, 3.3 ] value: [ " + value + " ] }");
  };
  const std::string noise = Op("random_erasing { p: 0.7 noise: true }");
  const std::string mix_up = "ops { mix_up { alpha: 0.8 num_classes: 11 field: 'label' } } ";
  const std::string cut_mix = "ops { cut_mix { alpha: 1 num_classes: 11 field: 'label' } } ";
  std::vector<OpPipelines> all = {
      {"Colors",
       {colors, Op("random_grayscale { p: 0.5 }") + Op("random_solarize { threshold: 128 p: 0.5 }"),
        Op("random_posterize { bits: 3 p: 0.5 }"),
        Op("random_posterize { bits: 3 p: 0.5 }") + Op("random_equalize {}") + Op("random_invert {}") +
            Op("random_autocontrast {}") + Op("adjust_contrast { contrast_factor: 0.4 }"),
        Op("random_choice { transforms { random_equalize { p: 1 } } transforms { random_autocontrast { p: 1 } } }")}},
      {"Sharpness",
       {Op("random_adjust_sharpness { sharpness_factor: 3 }"), Op("random_adjust_sharpness { sharpness_factor: 0 }")}},
      {"Policies",
       {Op("rand_augment { num_ops: 3 magnitude: 20 }"), flip + Op("trivial_augment_wide {}") + kFloat,
        Op("auto_augment { interpolation: INTERPOLATION_BILINEAR fill: [ 1, 2, 3 ] }") + colors,
        Op("random_choice { transforms { auto_augment { policy: AUTO_AUGMENT_POLICY_SVHN } } transforms { "
           "rand_augment {} } }")}},
      {"Noise",
       {kHalf + noise + kPlanes, flip + std::string(kFloat) + noise,
        "ops { to_dtype { dtype: DTYPE_FLOAT32 } } " + noise + "ops { normalize { mean: 3 std: 4 } } " + mix_up}},
      {"Resampling", {std::begin(resamplings), std::end(resamplings)}},
      {"Blur",
       {blur, Op("random_apply { transforms { gaussian_blur { kernel_size: [ 5, 5 ] sigma: [ 0.3, 2 ] } } p: "
                 "0.5 }") +
                  kFloat}},
      {"Mask", {mask, Op("random_mask { ratio: 0.3 dilate: false }") + flip}},
      {"Erasing", {erase("10, 20, 250"), kFloat + erase("0"), flip + kHalf + erase("0.5, -1, 2") + kPlanes}},
      {"Dtypes",
       {flip + kFloat + kPlanes, flip + kHalf + kPlanes, flip + kBfloat, flip + std::string(kBfloat) + kPlanes}},
      {"MixUp", {flip + kFloat + mix_up + kPlanes, kHalf + mix_up, std::string(kFloat) + erase("1") + mix_up}},
      {"CutMix", {cut_mix, flip + kFloat + cut_mix + kPlanes, kBfloat + cut_mix}},
      {"Labels",
       {flip + kFloat + "ops { mix_up { num_classes: 11 per_sample: true } } " + kPlanes,
        "ops { cut_mix { num_classes: 11 per_sample: true } } ",
        std::string(kHalf) + "ops { random_choice { transforms { mix_up { field: 'soft' per_sample: true } } "
                             "transforms { cut_mix { field: 'soft' per_sample: true } } } } ",
        "ops { one_hot { num_classes: 11 dtype: DTYPE_BFLOAT16 } } ops { label_smoothing { smoothing: 0.1 } } "
        "ops { cut_mix { per_sample: true } } ops { label_smoothing { smoothing: 0.3 } } ",
        "ops { one_hot { num_classes: 11 dtype: DTYPE_FLOAT16 } } ops { label_smoothing { smoothing: 0.2 } } ",
        "ops { label_smoothing { smoothing: 0.1 field: 'soft' } } ops { cut_mix { field: 'soft' } } "
        "ops { label_smoothing { smoothing: 0.3 field: 'soft' } } ",
        "ops { to_dtype { field: 'soft' dtype: DTYPE_FLOAT16 } } "
        "ops { normalize { field: 'soft' mean: 1 std: [ 1, 2, 3, 4, 5, 6, 7 ] } } ops { cut_mix { field: 'soft' } } ",
        "ops { label_smoothing { smoothing: 1 field: 'soft' } } "}},
      {"Padded",
       {"ops { to_padded { field: 'rows' rows: 2 fill: 3 } } ops { to_padded { field: 'text' rows: 9 fill: 255 } } ",
        "ops { to_dtype { field: 'rows' dtype: DTYPE_BFLOAT16 } } ops { normalize { field: 'rows' mean: [ 0, 1, 2 ] "
        "std: 3 } } ops { to_padded { field: 'rows' rows: 3 fill: -1.5 } } "}},
      {"OneHot",
       {"ops { one_hot { field: 'label' num_classes: 11 dtype: DTYPE_FLOAT32 } }",
        "ops { one_hot { field: 'label' num_classes: 11 dtype: DTYPE_BFLOAT16 } }",
        "ops { one_hot { field: 'label' num_classes: 11 dtype: DTYPE_INT64 } }",
        "ops { one_hot { field: 'label' num_classes: 11 dtype: DTYPE_UINT8 } }"}},
      {"UnpackBits",
       {"ops { unpack_bits { field: 'bits' shape: [ 3, 7 ] } }",
        "ops { unpack_bits { field: 'bits' shape: [ 24 ] bit_order: BIT_ORDER_LITTLE } }"}},
      {"MovedMaps",
       {flip, flip + Op("random_rotation { degrees: 30 map_fill: 7 }") + colors + Op("random_vertical_flip {}"),
        Op("random_crop { size: [ 10, 8 ] padding: [ 3 ] map_fill: 255 }") + Op("resize { size: [ 7, 22 ] }") + flip +
            kHalf}},
      {"Maps", {"", kFloat, "ops { one_hot { field: 'map' num_classes: 256 dtype: DTYPE_UINT8 } }"}},
      {"Numbers",
       {"ops { to_dtype { field: 'vector' dtype: DTYPE_BFLOAT16 } }",
        "ops { to_dtype { field: 'bits' dtype: DTYPE_FLOAT16 scale: true } }",
        "ops { to_dtype { field: 'vector' dtype: DTYPE_FLOAT16 } } "
        "ops { normalize { field: 'vector' mean: [ 0, 1, 2, 3, 4 ] std: 3 } }",
        "ops { to_dtype { field: 'vector' dtype: DTYPE_FLOAT32 } } "
        "ops { normalize { field: 'vector' mean: 9 std: [ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ] } }"}},
      {"Rows",
       {"ops { to_dtype { field: 'rows' dtype: DTYPE_BFLOAT16 } }",
        "ops { to_dtype { field: 'rows' dtype: DTYPE_FLOAT32 } } "
        "ops { normalize { field: 'rows' mean: [ 0, 1, 2 ] std: 3 } }"}},
      {"Dense",
       {"ops { to_dense { field: 'words' } }",
        "ops { to_dtype { field: 'words' dtype: DTYPE_BFLOAT16 } } ops { to_dense { field: 'words' } } ",
        "ops { to_dense { field: 'tags' } }"}},
      {"Views",
       {"views { name: 'two' count: 2 " + flip + colors + "} ",
        "views { name: 'none' count: 3 } views { name: 'two' count: 2 " + warps[0] + blur + erase("0") + flip +
            "} ops { to_dtype { field: 'two' dtype: DTYPE_FLOAT16 scale: true } } ops { normalize { field: 'two' mean: "
            "[ "
            "0.4, 0.5, 0.6 ] std: 0.2 } } ",
        "views { name: 'two' count: 2 " + resamplings[0] + Op("rand_augment {}") +
            "} ops { to_dtype { field: 'two' dtype: DTYPE_FLOAT32 } } "}},
      {"Together",
       {warps[0] + colors + blur + mask + erase("0") + flip + kFloat + erase("0") + mix_up + kPlanes +
        "ops { unpack_bits { field: 'bits' shape: [ 23 ] } }"}},
  };
  OpPipelines warped = {"Warps", {}};
  for (const std::string& gather : warps) {
    warped.texts.push_back(gather);
    warped.texts.push_back(flip + gather + colors + kFloat + kPlanes);
  }
  all.push_back(warped);
  return all;
}

void ExpectTheHosts(CudaRuntime& runtime, Device& device, const std::string& text, int64_t most, uint64_t seed) {
  std::mt19937_64 random(seed);
  const int64_t rows = 1 + random() % 5, height = 12 + random() % (most - 11), width = 12 + random() % (most - 11);
  SCOPED_TRACE(text + "\n" + std::to_string(rows) + " of " + std::to_string(height) + "×" + std::to_string(width));
  v1::Pipeline spec;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &spec));
  const bool wide_labels = random() % 2 == 0;
  v1::Field image, label, bits;
  image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
  for (int64_t extent : {height, width, int64_t{3}}) image.add_shape(extent);
  label.set_name("label"), label.set_dtype(wide_labels ? v1::DTYPE_INT64 : v1::DTYPE_INT32);
  bits.set_name("bits"), bits.set_dtype(v1::DTYPE_UINT8), bits.add_shape(3);
  const bool wide_map = random() % 2 == 0;
  v1::Field map, binary;
  map.set_name("map"), map.set_dtype(wide_map ? v1::DTYPE_INT16 : v1::DTYPE_UINT8);
  map.set_kind(v1::FIELD_KIND_LABEL_MAP);
  binary.set_name("binary"), binary.set_dtype(v1::DTYPE_UINT8), binary.set_kind(v1::FIELD_KIND_BINARY_MAP);
  for (v1::Field* field : {&map, &binary})
    for (int64_t extent : {height, width}) field->add_shape(extent);
  constexpr v1::Dtype kNumbers[] = {v1::DTYPE_UINT8,   v1::DTYPE_INT16,    v1::DTYPE_INT32,   v1::DTYPE_INT64,
                                    v1::DTYPE_FLOAT16, v1::DTYPE_BFLOAT16, v1::DTYPE_FLOAT32, v1::DTYPE_FLOAT64};
  v1::Field vector;
  vector.set_name("vector"), vector.set_dtype(kNumbers[random() % std::size(kNumbers)]);
  for (int64_t extent : {2, 5}) vector.add_shape(extent);
  RandomRows values{FieldOf("rows", v1::FIELD_KIND_RAGGED, kNumbers[random() % std::size(kNumbers)])};
  values.field.add_shape(3);
  RandomRows text_field{FieldOf("text", v1::FIELD_KIND_TEXT, v1::DTYPE_UINT8)};
  v1::Field soft;
  soft.set_name("soft"), soft.set_dtype(v1::DTYPE_FLOAT32), soft.add_shape(7);
  // Maps are there where they need not move.
  RandomRows words{FieldOf("words", v1::FIELD_KIND_SPARSE, v1::DTYPE_INT32)};
  RandomRows word_values{FieldOf("words.values", v1::FIELD_KIND_RAGGED, kNumbers[random() % std::size(kNumbers)])};
  RandomRows tags{FieldOf("tags", v1::FIELD_KIND_SPARSE, v1::DTYPE_INT64)};
  for (int64_t extent : {3, 5}) words.field.add_dense_shape(extent);
  tags.field.add_dense_shape(int64_t{1} << 33);
  if (text.find("'tags'") != std::string::npos) tags.field = words.field, tags.field.set_name("tags");
  v1::Field two;
  two.set_name("two"), two.set_dtype(v1::DTYPE_UINT8);
  for (int64_t extent : {int64_t{2}, height, width, int64_t{3}}) two.add_shape(extent);
  const std::vector<v1::Field> without_maps = {
      image,      label, values.field, bits, vector, text_field.field, words.field, word_values.field,
      tags.field, soft,  two};
  std::vector<v1::Field> fields = without_maps;
  fields.insert(fields.end(), {map, binary});
  auto pipeline = DevicePipeline::Create(spec, fields);
  const bool has_maps = pipeline.ok();
  EXPECT_TRUE(has_maps || text.find("placement") != std::string::npos || text.find("mix") != std::string::npos) << text;
  if (!has_maps) pipeline = DevicePipeline::Create(spec, without_maps);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();

  std::vector<uint8_t> images(rows * height * width * 3), views(2 * images.size()), packed(rows * 3), labels;
  std::vector<uint8_t> maps(rows * height * width * (wide_map ? 2 : 1)), binaries(rows * ((height * width + 7) / 8));
  for (auto* bytes : {&images, &views, &packed, &maps, &binaries})
    for (uint8_t& value : *bytes) value = static_cast<uint8_t>(random());
  const bool has_classes = text.find("field: 'map'") != std::string::npos;  // They are not negative then.
  for (size_t i = 1; has_classes && i < maps.size(); i += 2) maps[i] = wide_map ? 0 : maps[i];
  for (int64_t row = 0; row < rows; ++row) {
    labels.push_back(random() % 11);
    labels.resize((row + 1) * (wide_labels ? 8 : 4));
  }
  std::vector<uint64_t> positions(rows);
  std::iota(positions.begin(), positions.end(), random() % 1000);
  std::vector<uint8_t> vectors(rows * 10 * ByteSize(vector.dtype()));
  // The highest byte of a float lacks a bit of the exponent, so that no float is NaN, whose bits nobody promises.
  const size_t number_bytes = ByteSize(vector.dtype());
  const bool are_floats = !IsWholeNumber(vector.dtype());
  for (size_t i = 0; i < vectors.size(); ++i)
    vectors[i] = static_cast<uint8_t>(random()) & (are_floats && (i + 1) % number_bytes == 0 ? 0xbb : 0xff);
  std::vector<float> soft_labels(rows * 7);
  for (float& number : soft_labels) number = static_cast<float>(random() % 1000) / 999;
  const auto* soft_bytes = reinterpret_cast<const uint8_t*>(soft_labels.data());
  MakeRows(rows, random, values);
  MakeRows(rows, random, text_field);
  MakeSparse(rows, random, words, &word_values);
  MakeSparse(rows, random, tags, nullptr);
  values.rows.field = 2, text_field.rows.field = 5;
  words.rows.field = 6, word_values.rows.field = 7, tags.rows.field = 8;
  HostBatch batch = {9,
                     3,
                     positions,
                     {images, labels, {}, packed, vectors, {}, {}, {}, {}, {soft_bytes, soft_labels.size() * 4}, views},
                     nullptr};
  batch.variable = {values.rows, text_field.rows, words.rows, word_values.rows, tags.rows};
  if (has_maps) batch.fields.insert(batch.fields.end(), {maps, binaries});

  const auto made = device.Submit(*pipeline, batch), expected = HostDevice()->Submit(*pipeline, batch);
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (size_t t = 0; t < expected->size(); ++t) {
    const Tensor &one = (*made)[t], &other = (*expected)[t];
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.dtype, other.dtype);
    EXPECT_EQ(one.shape, other.shape);
    ASSERT_EQ(one.bytes, other.bytes);
    std::vector<uint8_t> seen(one.bytes);
    ASSERT_TRUE(one.memory->UseOn(0).ok());
    if (one.bytes > 0) {  // A batch may have no rows.
      ASSERT_TRUE(runtime.CopyToHost(seen.data(), static_cast<const uint8_t*>(one.data), one.bytes, 0).ok());
    }
    ASSERT_TRUE(runtime.Synchronize(Stream{0}).ok());
    const auto* data = static_cast<const uint8_t*>(other.data);
    EXPECT_EQ(seen, std::vector<uint8_t>(data, data + other.bytes)) << one.name;
  }
  while (device.Reclaim()) {
  }
}

}  // namespace stoker
