#include "server/read/synthetic/synthetic_rows.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/fields/companions.h"
#include "common/identity/mix.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/mapping/variable_field.h"

namespace stoker {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
constexpr uint64_t kCountDomain = 0x726f775f636f756e;  // "row_coun"
constexpr uint64_t kStepsOfPixel = 4, kStepsOfUnit = 1024;

// A side that points lie on, in steps, and how many steps are a pixel, or 1 where there is no image.
struct Side {
  uint64_t steps = kStepsOfUnit;
  float each = kStepsOfUnit;
};

Side SideOf(int64_t pixels) { return {static_cast<uint64_t>(pixels) * kStepsOfPixel, kStepsOfPixel}; }

// A run of steps that is not empty. The middle of one is exact: it is a multiple of half a step.
struct Run {
  float begin = 0, end = 0;
};

// Draws a run from 32 bits.
Run DrawRun(uint64_t bits, const Side& side) {
  const uint64_t begin = (bits & 0xffff) * side.steps >> 16;
  const uint64_t end = begin + 1 + ((bits >> 16 & 0xffff) * (side.steps - begin) >> 16);
  return {static_cast<float>(begin) / side.each, static_cast<float>(end) / side.each};
}

std::array<float, 4> BoxOf(const Run& x, const Run& y, v1::BoxFormat format) {
  const float width = x.end - x.begin, height = y.end - y.begin;
  if (format == v1::BOX_FORMAT_XYWH) return {x.begin, y.begin, width, height};
  if (format == v1::BOX_FORMAT_CXCYWH) return {(x.begin + x.end) / 2, (y.begin + y.end) / 2, width, height};
  return {x.begin, y.begin, x.end, y.end};
}

void MakeBoxes(uint64_t key, v1::BoxFormat format, const Side& width, const Side& height, std::span<uint8_t> bytes) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(std::array<float, 4>)) {
    const uint64_t bits = Mix(key += kGolden);
    const std::array<float, 4> box = BoxOf(DrawRun(bits, width), DrawRun(bits >> 32, height), format);
    std::memcpy(bytes.data() + at, box.data(), sizeof box);
  }
}

void MakePoints(uint64_t key, const Side& width, const Side& height, std::span<uint8_t> bytes) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(std::array<float, 2>)) {
    const uint64_t bits = Mix(key += kGolden);
    const uint64_t x = (bits & 0xffffffff) * (width.steps + 1) >> 32, y = (bits >> 32) * (height.steps + 1) >> 32;
    const std::array<float, 2> point = {static_cast<float>(x) / width.each, static_cast<float>(y) / height.each};
    std::memcpy(bytes.data() + at, point.data(), sizeof point);
  }
}

// Draws how many rows a sample has.
uint64_t DrawCount(uint64_t key, const SourceField& field) {
  const uint64_t most = field.max_bytes / DenseBytes(field), typical = field.typical_bytes / DenseBytes(field);
  const uint64_t first = 2 * typical > most ? 2 * typical - most : 0, last = 2 * typical - first;
  return first + MixAll({kCountDomain, key}) % (last - first + 1);
}

v1::FieldFrom AskedOf(const v1::SyntheticField& config) {
  v1::FieldFrom asked;
  asked.set_kind(config.kind());
  *asked.mutable_shape() = config.shape();
  asked.set_max_bytes(config.max_bytes());
  asked.set_typical_bytes(config.typical_bytes());
  asked.set_box_format(config.box_format());
  *asked.mutable_dense_shape() = config.dense_shape();
  return asked;
}

v1::Field DenseOf(const std::vector<int64_t>& shape) {
  v1::Field field;
  for (const int64_t extent : shape) field.add_dense_shape(extent);
  return field;
}

// One place lies in each of as many parts of the array as a sample has places.
std::vector<uint8_t> MakePlaces(uint64_t key, const SourceField& field) {
  const uint64_t elements = DenseElements(DenseOf(field.dense_shape).dense_shape());
  const uint64_t count = std::min(DrawCount(key, field), elements), bytes = DenseBytes(field);
  std::vector<uint8_t> places(count * bytes);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t begin = elements / count * i, place = begin + Mix(key += kGolden) % (elements / count);
    std::memcpy(places.data() + i * bytes, &place, bytes);
  }
  return places;
}

}  // namespace

uint64_t ValueMask(v1::Dtype dtype) {
  switch (dtype) {
    case v1::DTYPE_FLOAT16:
    case v1::DTYPE_BFLOAT16: return 0xbfffbfffbfffbfff;
    case v1::DTYPE_FLOAT32: return 0xbfffffffbfffffff;
    case v1::DTYPE_FLOAT64: return 0xbfffffffffffffff;
    default: return ~uint64_t{0};
  }
}

void Fill(uint64_t key, uint64_t mask, std::span<uint8_t> bytes) {
  uint8_t* out = bytes.data();
  size_t left = bytes.size();
  for (; left >= sizeof(key); left -= sizeof(key), out += sizeof(key)) {
    const uint64_t word = Mix(key += kGolden) & mask;
    std::memcpy(out, &word, sizeof(word));
  }
  const uint64_t word = Mix(key + kGolden) & mask;
  if (left > 0) std::memcpy(out, &word, left);
}

absl::StatusOr<SourceField> SyntheticRows(const v1::SyntheticField& config) {
  const bool are_bytes = config.kind() == v1::FIELD_KIND_BYTES || config.kind() == v1::FIELD_KIND_TEXT;
  if (config.kind() == v1::FIELD_KIND_AUDIO)
    return absl::InvalidArgumentError("kind: audio is not made here, for it would need files; take ragged int16");
  v1::Dtype dtype = are_bytes ? v1::DTYPE_UINT8 : v1::DTYPE_FLOAT32;
  if (config.encoding() == v1::SYNTHETIC_ENCODING_JPEG)
    return absl::InvalidArgumentError(absl::StrCat("encoding: a jpeg is no ", KindName(config.kind())));
  if (config.kind() == v1::FIELD_KIND_SPARSE) {
    dtype = IndexDtype(config.dense_shape());
    if (dtype == v1::DTYPE_UNSPECIFIED) dtype = v1::DTYPE_INT64;  // What is wrong is told below.
  } else if (config.kind() == v1::FIELD_KIND_RAGGED) {
    if (ByteSize(config.dtype()) == 0)
      return absl::InvalidArgumentError("dtype: missing; expected one such as uint8, int64 or float32");
    dtype = config.dtype();
  } else if (config.dtype() != v1::DTYPE_UNSPECIFIED && config.dtype() != dtype) {
    return absl::InvalidArgumentError(absl::StrCat("dtype: ", KindName(config.kind()), " is ", DtypeName(dtype)));
  }
  SourceField field;
  STOKER_RETURN_IF_ERROR(SetRows(AskedOf(config), {.are_bytes = are_bytes, .dtype = dtype}, field));
  return field;
}

absl::StatusOr<SourceField> SyntheticValues(const v1::SyntheticField& config) {
  if (ByteSize(config.dtype()) == 0) return absl::InvalidArgumentError("dtype: expected one such as float32");
  v1::FieldFrom asked = AskedOf(config);
  asked.set_kind(v1::FIELD_KIND_RAGGED);
  SourceField field;
  STOKER_RETURN_IF_ERROR(SetRows(asked, {.dtype = config.dtype()}, field));
  return field;
}

std::vector<uint8_t> MakeRows(uint64_t key, const SourceField& field, const std::optional<ImageSize>& image) {
  if (field.meaning == v1::FIELD_KIND_SPARSE) return MakePlaces(key, field);
  const Side width = image.has_value() ? SideOf(image->width) : Side();
  const Side height = image.has_value() ? SideOf(image->height) : Side();
  std::vector<uint8_t> rows(DrawCount(key, field) * DenseBytes(field));
  if (field.meaning == v1::FIELD_KIND_BOXES) {
    MakeBoxes(key, field.box_format, width, height, rows);
  } else if (field.meaning == v1::FIELD_KIND_KEYPOINTS) {
    MakePoints(key, width, height, rows);
  } else {
    Fill(key, ValueMask(field.dtype), rows);
  }
  if (field.meaning == v1::FIELD_KIND_TEXT)
    for (uint8_t& byte : rows) byte = ' ' + byte % 95;
  return rows;
}

}  // namespace stoker
