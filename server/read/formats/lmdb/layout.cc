#include "server/read/formats/lmdb/layout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/read/formats/mapping/image_magic.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr std::string_view kImagePart = "image", kLabelPart = "label", kNumberedKey = "image-";

constexpr std::array<std::pair<LmdbLayout, const char*>, 5> kLayouts = {{{LmdbLayout::kImage, "image"},
                                                                         {LmdbLayout::kNumbered, "numbered"},
                                                                         {LmdbLayout::kPickle, "pickle"},
                                                                         {LmdbLayout::kMsgpack, "msgpack"},
                                                                         {LmdbLayout::kDatum, "datum"}}};

bool IsNumbered(std::string_view key) {
  return key.size() > kNumberedKey.size() && key.starts_with(kNumberedKey) &&
         key.find_first_not_of("0123456789", kNumberedKey.size()) == key.npos;
}

std::string WordsOf(const std::array<int64_t, 3>& shape) {
  return absl::StrCat(shape[0], "×", shape[1], "×", shape[2], " pixels");
}

// Copies planes of pixels to pixels of interleaved channels.
void Interleave(Bytes planes, const std::array<int64_t, 3>& shape, std::vector<uint8_t>& pixels) {
  pixels.resize(planes.size());
  const size_t channels = shape[2], plane_bytes = shape[0] * shape[1];
  for (size_t channel = 0; channel < channels; ++channel)
    for (size_t i = 0; i < plane_bytes; ++i) pixels[i * channels + channel] = planes[channel * plane_bytes + i];
}

}  // namespace

std::string_view NameOf(LmdbLayout layout) { return kLayouts[static_cast<size_t>(layout)].second; }

absl::StatusOr<LmdbLayout> LmdbLayoutOf(const std::string& name) {
  for (const auto& [layout, text] : kLayouts)
    if (name == text) return layout;
  return absl::InvalidArgumentError(absl::StrCat(
      "layout: there is no '", ShortPrintableName(name), "', but ",
      absl::StrJoin(kLayouts, ", ", [](std::string* out, const auto& layout) { out->append(layout.second); })));
}

bool IsLmdbMetadata(std::string_view key) {
  return key == "num-samples" || key == "length" || (key.size() > 4 && key.starts_with("__") && key.ends_with("__"));
}

bool IsLmdbSample(LmdbLayout layout, std::string_view key) {
  return layout == LmdbLayout::kNumbered ? IsNumbered(key) : !IsLmdbMetadata(key);
}

std::optional<LmdbLayout> FindLmdbLayout(std::string_view key, Bytes value) {
  if (BeginsAsImage(value)) return IsNumbered(key) ? LmdbLayout::kNumbered : LmdbLayout::kImage;
  for (const LmdbLayout layout : {LmdbLayout::kPickle, LmdbLayout::kMsgpack, LmdbLayout::kDatum}) {
    const auto parsed = ParseLmdbValue(layout, value);
    if (parsed.ok() && (parsed->pixels.has_value() || BeginsAsImage(parsed->image))) return layout;
  }
  return std::nullopt;
}

absl::StatusOr<LmdbValue> ParseLmdbValue(LmdbLayout layout, Bytes value) {
  switch (layout) {
    case LmdbLayout::kImage:
    case LmdbLayout::kNumbered: return LmdbValue{.image = value};
    case LmdbLayout::kPickle: return ParsePickle(value);
    case LmdbLayout::kMsgpack: return ParseMsgpack(value);
    case LmdbLayout::kDatum: return ParseDatum(value);
  }
  return absl::InternalError("no layout");
}

std::vector<StoredColumn> ColumnsOf(const LmdbValue& first) {
  SourceField image{.kind = SourceField::Kind::kEncodedImage};
  if (first.pixels.has_value())
    image = {.kind = SourceField::Kind::kDense,
             .dtype = v1::DTYPE_UINT8,
             .shape = {first.pixels->begin(), first.pixels->end()}};
  StoredColumn bytes = {std::string(kImagePart), image, StoredRows{.are_bytes = true}};
  if (first.pixels.has_value()) bytes.rows.reset();
  std::vector<StoredColumn> columns = {std::move(bytes)};
  if (first.label.has_value()) columns.push_back({std::string(kLabelPart), SourceField{.dtype = v1::DTYPE_INT64}});
  return columns;
}

absl::Status TakeLmdbPart(const LmdbValue& value, std::string_view from, const SourceField& schema,
                          std::vector<uint8_t>& field) {
  if (from == kLabelPart) {
    if (!value.label.has_value()) return absl::DataLossError("has no label");
    field.resize(sizeof(int64_t));
    std::memcpy(field.data(), &*value.label, sizeof(int64_t));
    return absl::OkStatus();
  }
  if (schema.kind != SourceField::Kind::kDense) {
    if (value.pixels.has_value()) return absl::DataLossError("has pixels, where the first sample has an image file");
    field.assign(value.image.begin(), value.image.end());
    return absl::OkStatus();
  }
  if (!value.pixels.has_value()) return absl::DataLossError("has an image file, where the first sample has pixels");
  if (!std::equal(schema.shape.begin(), schema.shape.end(), value.pixels->begin()))
    return absl::DataLossError(absl::StrCat("has ", WordsOf(*value.pixels), ", where the first sample has ",
                                            WordsOf({schema.shape[0], schema.shape[1], schema.shape[2]})));
  Interleave(value.image, *value.pixels, field);
  return absl::OkStatus();
}

}  // namespace stoker
