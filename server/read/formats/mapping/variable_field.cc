#include "server/read/formats/mapping/variable_field.h"

#include <algorithm>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/byte_size.h"
#include "common/config/text.h"
#include "common/fields/companions.h"
#include "common/ops/audio.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/mapping/sparse_field.h"

namespace stoker {
namespace {

constexpr int kMostExtents = 8;
constexpr uint32_t kMostChannels = 64;

template <typename... Words>
absl::Status Wrong(const Words&... words) {
  return absl::InvalidArgumentError(absl::StrCat(words...));
}

std::string Brackets(const std::vector<int64_t>& shape) { return absl::StrCat("[", absl::StrJoin(shape, ", "), "]"); }

// What a row is where the configuration does not say.
std::vector<int64_t> UsualShape(v1::FieldKind kind, const StoredRows& stored) {
  if (kind == v1::FIELD_KIND_BOXES) return {4};
  if (kind == v1::FIELD_KIND_KEYPOINTS) return {2};
  return kind == v1::FIELD_KIND_RAGGED ? stored.shape : std::vector<int64_t>();
}

// Fails where what is stored cannot be of that kind.
absl::Status CheckStored(v1::FieldKind kind, const StoredRows& stored) {
  const bool wants_bytes = kind == v1::FIELD_KIND_BYTES || kind == v1::FIELD_KIND_TEXT || kind == v1::FIELD_KIND_AUDIO;
  if (wants_bytes && !stored.are_bytes)
    return Wrong("kind: ", KindName(kind), " is of texts or bytes, and this is ", DtypeName(stored.dtype),
                 "; kind: ragged takes numbers");
  if (HasPoints(kind) && stored.are_bytes) return Wrong("kind: ", KindName(kind), " are numbers, and this is bytes");
  return absl::OkStatus();
}

absl::Status CheckShape(v1::FieldKind kind, const StoredRows& stored, const std::vector<int64_t>& shape) {
  if (kind == v1::FIELD_KIND_BOXES && shape != std::vector<int64_t>{4})
    return Wrong("shape: a box has 4 numbers; leave it out");
  if (kind == v1::FIELD_KIND_KEYPOINTS && (shape.empty() || shape.back() != 2))
    return Wrong("shape: ", Brackets(shape), " does not end in 2: the last dimension of keypoints is x, y");
  if ((kind == v1::FIELD_KIND_BYTES || kind == v1::FIELD_KIND_TEXT) && !shape.empty())
    return Wrong("shape: is for rows of numbers; leave it out");
  if (!stored.shape.empty() && stored.shape != shape)
    return Wrong("shape: ", Brackets(shape), " is not that of the stored rows, which is ", Brackets(stored.shape));
  if (shape.size() > kMostExtents) return Wrong("shape: more than ", kMostExtents, " extents");
  return absl::OkStatus();
}

// Returns what field a row is sent as.
v1::Field SentRow(const SourceField& field) {
  v1::Field sent;
  sent.set_kind(field.meaning);
  if (field.meaning == v1::FIELD_KIND_AUDIO) {
    sent.set_dtype(field.audio.dtype);
    sent.add_shape(field.audio.channels);
    return sent;
  }
  sent.set_dtype(HasPoints(field.meaning) ? v1::DTYPE_FLOAT32 : field.dtype);
  for (const int64_t extent : field.dense_shape) sent.add_dense_shape(extent);
  if (field.meaning == v1::FIELD_KIND_SPARSE) sent.set_dtype(IndexDtype(sent.dense_shape()));
  for (const int64_t extent : field.shape) sent.add_shape(extent);
  return sent;
}

absl::StatusOr<uint64_t> BytesAt(const char* key, const std::string& text) {
  const auto bytes = ParseByteSize(text);
  if (bytes.ok()) return *bytes;
  return Wrong(key, ": ", bytes.status().message());
}

absl::Status SetSizes(const v1::FieldFrom& asked, SourceField& field) {
  const auto elements = ElementCount(SentRow(field));
  if (!elements.ok() || DenseBytes(field) > kMaxSampleBytes)
    return Wrong("shape: ", Brackets(field.shape), " is empty or has more than ", kMaxSampleBytes, " bytes");
  constexpr uint64_t kMost = kMaxSampleBytes - kLengthBytes;
  const uint64_t row_bytes = RowBytes(SentRow(field));
  if (asked.max_bytes().empty())
    return Wrong("max_bytes: missing; say how many bytes a sample has at most, such as 16KiB: room is kept for them");
  STOKER_ASSIGN_OR_RETURN(field.max_bytes, BytesAt("max_bytes", asked.max_bytes()));
  if (field.max_bytes < row_bytes || field.max_bytes > kMost)
    return Wrong("max_bytes: ", field.max_bytes, " is not between ", row_bytes,
                 ", the bytes of one row as it is sent, and ", kMost);
  field.typical_bytes = std::max(field.max_bytes / 4, row_bytes);
  if (asked.typical_bytes().empty()) return absl::OkStatus();
  STOKER_ASSIGN_OR_RETURN(field.typical_bytes, BytesAt("typical_bytes", asked.typical_bytes()));
  if (field.typical_bytes <= field.max_bytes) return absl::OkStatus();
  return Wrong("typical_bytes: ", field.typical_bytes, " is above max_bytes, ", field.max_bytes);
}

// The values of a sparse field are as many as its indices, whose sizes `asked` has.
absl::Status SetSizesOfValues(const v1::FieldFrom& asked, SourceField& values) {
  if (!values.shape.empty()) return Wrong("values: there is one number for each index, and these have more");
  SourceField indices{.meaning = v1::FIELD_KIND_SPARSE};
  indices.dense_shape = {asked.dense_shape().begin(), asked.dense_shape().end()};
  STOKER_RETURN_IF_ERROR(SetSizes(asked, indices));
  const uint64_t index_bytes = RowBytes(SentRow(indices)), value_bytes = ByteSize(values.dtype);
  values.max_bytes = indices.max_bytes / index_bytes * value_bytes;
  values.typical_bytes = indices.typical_bytes / index_bytes * value_bytes;
  if (values.max_bytes <= kMaxSampleBytes - kLengthBytes) return absl::OkStatus();
  return Wrong("max_bytes: ", indices.max_bytes, " bytes of indices would have values of ", values.max_bytes);
}

// Sets what audio is sent as.
absl::Status SetAudio(const v1::FieldFrom& asked, const StoredRows& stored, SourceField& field) {
  STOKER_RETURN_IF_ERROR(CheckStored(asked.kind(), stored));
  if (asked.dtype() != v1::DTYPE_UNSPECIFIED && asked.dtype() != v1::DTYPE_INT16 && asked.dtype() != v1::DTYPE_FLOAT16)
    return Wrong("dtype: audio is sent as int16 or float16, not ", DtypeName(asked.dtype()));
  if (!asked.shape().empty()) return Wrong("shape: is for rows of numbers; `channels` says how many audio has");
  if (asked.channels() > kMostChannels) return Wrong("channels: ", asked.channels(), " is above ", kMostChannels);
  if (asked.sample_rate() > kMostSampleRate)
    return Wrong("sample_rate: ", asked.sample_rate(), " is above ", kMostSampleRate);
  field.kind = SourceField::Kind::kRows;
  field.meaning = asked.kind();
  field.dtype = v1::DTYPE_UINT8;
  field.audio = {.dtype = asked.dtype() == v1::DTYPE_UNSPECIFIED ? v1::DTYPE_INT16 : asked.dtype(),
                 .channels = std::max<int64_t>(asked.channels(), 1),
                 .sample_rate = asked.sample_rate()};
  return absl::OkStatus();
}

absl::Status RefuseAudioKeys(const v1::FieldFrom& asked) {
  if (asked.channels() != 0) return Wrong("channels: is for audio; leave it out");
  if (asked.sample_rate() != 0) return Wrong("sample_rate: is for audio; leave it out");
  return absl::OkStatus();
}

absl::Status SetBoxFormat(const v1::FieldFrom& asked, SourceField& field) {
  if (!v1::BoxFormat_IsValid(asked.box_format()))
    return Wrong("box_format: unknown value ", static_cast<int>(asked.box_format()));
  const bool is_asked = asked.box_format() != v1::BOX_FORMAT_UNSPECIFIED;
  if (field.meaning != v1::FIELD_KIND_BOXES)
    return is_asked ? Wrong("box_format: is for boxes; leave it out") : absl::OkStatus();
  field.box_format = is_asked ? asked.box_format() : v1::BOX_FORMAT_XYXY;
  return absl::OkStatus();
}

}  // namespace

absl::Status SetRows(const v1::FieldFrom& asked, const StoredRows& stored, SourceField& field) {
  if (asked.kind() == v1::FIELD_KIND_AUDIO) {
    STOKER_RETURN_IF_ERROR(SetAudio(asked, stored, field));
    STOKER_RETURN_IF_ERROR(SetBoxFormat(asked, field));
    return SetSizes(asked, field);
  }
  STOKER_RETURN_IF_ERROR(RefuseAudioKeys(asked));
  if (asked.dtype() != v1::DTYPE_UNSPECIFIED)
    return Wrong("dtype: what is stored tells the type of its numbers; leave it out");
  if (asked.kind() == v1::FIELD_KIND_RAGGED_IMAGE)
    return Wrong("kind: images are sent in sizes of their own where a pipeline gives native_size; leave it out");
  if (asked.kind() == v1::FIELD_KIND_SPARSE) STOKER_RETURN_IF_ERROR(CheckIndices(asked, stored));
  STOKER_RETURN_IF_ERROR(CheckStored(asked.kind(), stored));
  field.kind = SourceField::Kind::kRows;
  field.meaning = asked.kind();
  field.dtype = stored.are_bytes ? v1::DTYPE_UINT8 : stored.dtype;
  field.shape.assign(asked.shape().begin(), asked.shape().end());
  if (field.shape.empty()) field.shape = UsualShape(asked.kind(), stored);
  STOKER_RETURN_IF_ERROR(CheckShape(asked.kind(), stored, field.shape));
  STOKER_RETURN_IF_ERROR(SetBoxFormat(asked, field));
  if (asked.kind() != v1::FIELD_KIND_SPARSE && !asked.dense_shape().empty()) return SetSizesOfValues(asked, field);
  if (asked.kind() == v1::FIELD_KIND_SPARSE)
    field.dense_shape = {asked.dense_shape().begin(), asked.dense_shape().end()};
  return SetSizes(asked, field);
}

absl::Status RefuseRowKeys(const v1::FieldFrom& asked) {
  constexpr char kWhere[] = "text, bytes, ragged, boxes, keypoints or audio; say which by `kind`, or leave it out";
  if (!asked.max_bytes().empty()) return Wrong("max_bytes: is for the kinds ", kWhere);
  if (!asked.typical_bytes().empty()) return Wrong("typical_bytes: is for the kinds ", kWhere);
  if (!asked.shape().empty()) return Wrong("shape: is for the kinds ragged, boxes and keypoints; leave it out");
  if (asked.box_format() != v1::BOX_FORMAT_UNSPECIFIED) return Wrong("box_format: is for boxes; leave it out");
  return RefuseAudioKeys(asked);
}

std::vector<int64_t> RowShapeOf(const std::vector<int64_t>& array) {
  return {array.begin() + (array.empty() ? 0 : 1), array.end()};
}

bool IsArrayOfRows(const std::vector<int64_t>& array, const SourceField& field) {
  return array.size() == 1 || (!array.empty() && RowShapeOf(array) == field.shape);
}

absl::Status CheckRows(const SourceField& field, std::span<const uint8_t> bytes) {
  if (field.kind != SourceField::Kind::kRows) return absl::OkStatus();
  if (bytes.size() > kMaxSampleBytes)
    return absl::DataLossError(absl::StrCat("has ", bytes.size(), " bytes, and ", kMaxSampleBytes, " is the most"));
  if (bytes.size() % DenseBytes(field) != 0)
    return absl::DataLossError(absl::StrCat("has ", bytes.size() / ByteSize(field.dtype),
                                            " numbers, which are no whole rows of ", Brackets(field.shape)));
  if (field.meaning == v1::FIELD_KIND_TEXT &&
      !IsUtf8(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())))
    return absl::DataLossError("is not UTF-8, as a text has to be; kind: bytes takes any bytes");
  return absl::OkStatus();
}

std::string RowWords(const SourceField& field) {
  std::string words = KindName(field.meaning);
  if (field.meaning == v1::FIELD_KIND_AUDIO)
    return absl::StrCat(words, " ", DtypeName(field.audio.dtype), " of ", field.audio.channels, " channels, rate ",
                        field.audio.sample_rate, ", up to ", field.max_bytes, " bytes");
  if (field.meaning == v1::FIELD_KIND_BOXES) absl::StrAppend(&words, " ", BoxFormatName(field.box_format));
  if (field.meaning == v1::FIELD_KIND_SPARSE) absl::StrAppend(&words, " of ", Brackets(field.dense_shape));
  return absl::StrCat(words, " ", DtypeName(field.dtype), " ", Brackets(field.shape), " up to ", field.max_bytes,
                      " bytes");
}

std::string RowsHint(const StoredRows& stored) {
  return absl::StrCat("{kind: ", stored.are_bytes ? "text" : "ragged", ", max_bytes: …}");
}

}  // namespace stoker
