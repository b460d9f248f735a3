#include "server/read/synthetic/synthetic.h"

#include <bit>
#include <ctime>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/check.h"
#include "common/fields/companions.h"
#include "common/identity/fingerprint.h"
#include "common/identity/mix.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/variable_field.h"
#include "server/read/printable_name.h"
#include "server/read/synthetic/photograph.h"
#include "server/read/synthetic/synthetic_rows.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kDomain = 0x73796e74685f7631;  // "synth_v1"
constexpr uint64_t kDefaultSamples = 1 << 20;
constexpr uint64_t kMaxSamples = uint64_t{1} << 63;  // the most that Permutation takes
constexpr uint64_t kMaxMicroseconds = 60'000'000;
constexpr int kMaxFields = 64;
constexpr int kMaxExtents = 8;
constexpr int kJpegQuality = 90;

bool IsFieldName(const std::string& name) {
  if (name.empty() || name.size() > 64 || absl::ascii_isdigit(name[0])) return false;
  for (char c : name)
    if (!absl::ascii_isalnum(c) && c != '_') return false;
  return true;
}

bool IsJpeg(const v1::SyntheticField& field) { return field.encoding() == v1::SYNTHETIC_ENCODING_JPEG; }

absl::Status CheckName(const v1::SyntheticField& field, std::set<std::string>& names) {
  if (field.name().empty()) return absl::InvalidArgumentError("name: missing");
  const std::string shown = ShortPrintableName(field.name());
  if (!IsFieldName(field.name()))
    return absl::InvalidArgumentError(absl::StrCat(
        "name: '", shown, "' is not made of up to 64 letters, digits and underscores, or begins with a digit"));
  if (!names.insert(field.name()).second)
    return absl::InvalidArgumentError(absl::StrCat("name: '", shown, "' is the name of two fields"));
  return absl::OkStatus();
}

absl::Status CheckJpeg(const v1::SyntheticField& field) {
  if (field.name() != "image")
    return absl::InvalidArgumentError("encoding: jpeg is for the field `image` only, since no other field is decoded");
  if (field.dtype() != v1::DTYPE_UINT8 && field.dtype() != v1::DTYPE_UNSPECIFIED)
    return absl::InvalidArgumentError("dtype: a jpeg is uint8");
  if (field.shape_size() != 3 || field.shape(2) != 3)
    return absl::InvalidArgumentError("shape: a jpeg needs height, width, 3");
  if (field.shape(0) > kMaxJpegSide || field.shape(1) > kMaxJpegSide)
    return absl::InvalidArgumentError(absl::StrCat("shape: a jpeg's sides are at most ", kMaxJpegSide, " pixels"));
  return absl::OkStatus();
}

absl::Status RefuseKeysOfRows(const v1::SyntheticField& field) {
  v1::FieldFrom keys;
  keys.set_max_bytes(field.max_bytes());
  keys.set_typical_bytes(field.typical_bytes());
  keys.set_box_format(field.box_format());
  return RefuseRowKeys(keys);
}

// Whether the field is sparse, and other numbers than 1 stand at its places.
bool HasValues(const v1::SyntheticField& field) {
  return field.kind() == v1::FIELD_KIND_SPARSE && field.dtype() != v1::DTYPE_UNSPECIFIED;
}

// Checks a field and returns its bytes before encoding, the most of them where samples differ in size.
absl::StatusOr<uint64_t> CheckField(const v1::SyntheticField& field, std::set<std::string>& names) {
  STOKER_RETURN_IF_ERROR(CheckName(field, names));
  if (!v1::SyntheticEncoding_IsValid(field.encoding()))
    return absl::InvalidArgumentError(absl::StrCat("encoding: unknown value ", field.encoding()));
  if (field.kind() != v1::FIELD_KIND_SPARSE && !field.dense_shape().empty())
    return absl::InvalidArgumentError("dense_shape: is for the kind sparse; leave it out");
  if (IsVariable(field.kind())) {
    STOKER_ASSIGN_OR_RETURN(const SourceField rows, SyntheticRows(field));
    if (!HasValues(field)) return rows.max_bytes;
    STOKER_ASSIGN_OR_RETURN(const SourceField values, SyntheticValues(field));
    return rows.max_bytes + values.max_bytes;
  }
  STOKER_RETURN_IF_ERROR(RefuseKeysOfRows(field));
  if (IsJpeg(field)) STOKER_RETURN_IF_ERROR(CheckJpeg(field));
  if (!IsJpeg(field) && ByteSize(field.dtype()) == 0)
    return absl::InvalidArgumentError("dtype: missing; expected one such as uint8, int64 or float32");
  if (field.shape_size() > kMaxExtents)
    return absl::InvalidArgumentError(absl::StrCat("shape: more than ", kMaxExtents, " extents"));
  uint64_t bytes = IsJpeg(field) ? 1 : ByteSize(field.dtype());
  for (int64_t extent : field.shape()) {
    if (extent < 1 || bytes > kMaxSampleBytes / extent)
      return absl::InvalidArgumentError(
          absl::StrCat("shape: ", absl::StrJoin(field.shape(), "×"), " is empty or above ", kMaxSampleBytes, " bytes"));
    bytes *= extent;
  }
  if (!v1::FieldKind_IsValid(field.kind()))
    return absl::InvalidArgumentError(absl::StrCat("kind: unknown value ", field.kind()));
  const bool can_be_map = !IsJpeg(field) && field.shape_size() == 2 &&
                          (field.dtype() == v1::DTYPE_UINT8 || field.dtype() == v1::DTYPE_INT16);
  if (IsMap(field.kind()) && !can_be_map)
    return absl::InvalidArgumentError(
        absl::StrCat("kind: a ", KindName(field.kind()), " is uint8 or int16 of height × width"));
  return bytes;
}

absl::Status CheckFields(const v1::Synthetic& config) {
  if (config.fields().empty()) return absl::InvalidArgumentError("fields: missing; expected at least one");
  if (config.fields_size() > kMaxFields)
    return absl::InvalidArgumentError(absl::StrCat("fields: more than ", kMaxFields));
  std::set<std::string> names;
  uint64_t total = 0;
  for (int i = 0; i < config.fields_size(); ++i) {
    const auto bytes = CheckField(config.fields(i), names);
    if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("fields[", i, "].", bytes.status().message()));
    total += *bytes;
  }
  if (total <= kMaxSampleBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("fields: ", total, " bytes in all; a sample has at most ", kMaxSampleBytes));
}

absl::Status CheckCounts(const v1::Synthetic& config) {
  if (config.samples() > kMaxSamples) return absl::InvalidArgumentError("samples: at most 2^63");
  if (config.spin_us() > kMaxMicroseconds)
    return absl::InvalidArgumentError(absl::StrCat("spin_us: at most ", kMaxMicroseconds));
  if (config.sleep_us() > kMaxMicroseconds)
    return absl::InvalidArgumentError(absl::StrCat("sleep_us: at most ", kMaxMicroseconds));
  return absl::OkStatus();
}

SourceSchema Schema(const v1::Synthetic& config) {
  SourceSchema schema;
  for (const v1::SyntheticField& field : config.fields()) {
    SourceField& source = schema.emplace_back();
    if (IsVariable(field.kind())) source = *SyntheticRows(field);
    source.name = field.name();
    if (HasValues(field)) {
      schema.push_back(*SyntheticValues(field));
      schema.back().name = ValuesName(field.name());
    }
    if (IsVariable(field.kind())) continue;
    source.kind = IsJpeg(field) ? SourceField::Kind::kEncodedImage : SourceField::Kind::kDense;
    source.dtype = IsJpeg(field) ? v1::DTYPE_UINT8 : field.dtype();
    source.shape.assign(field.shape().begin(), field.shape().end());
    source.meaning = field.kind();
  }
  return schema;
}

// Returns the size of the image that samples have, if they have one.
std::optional<ImageSize> ImageSizeOf(const SourceSchema& schema) {
  for (const SourceField& field : schema)
    if (field.name == "image" && field.kind != SourceField::Kind::kRows && field.shape.size() == 3)
      return ImageSize{field.shape[0], field.shape[1]};
  return std::nullopt;
}

std::string ConfigFingerprint(uint64_t samples, const SourceSchema& schema) {
  Fingerprint fingerprint("stoker.synthetic.v1");
  fingerprint.AddNumber(samples);
  fingerprint.AddNumber(schema.size());
  for (const SourceField& field : schema) {
    const bool jpeg = field.kind == SourceField::Kind::kEncodedImage;
    fingerprint.AddNumber(field.name.size());
    fingerprint.AddBytes(field.name);
    fingerprint.AddNumber(field.dtype);
    fingerprint.AddNumber(jpeg ? v1::SYNTHETIC_ENCODING_JPEG : v1::SYNTHETIC_ENCODING_RAW);
    fingerprint.AddNumber(field.shape.size());
    for (int64_t extent : field.shape) fingerprint.AddNumber(extent);
    if (IsMap(field.meaning)) fingerprint.AddBytes(KindName(field.meaning));
    if (field.kind == SourceField::Kind::kRows)
      fingerprint.AddBytes(absl::StrCat(RowWords(field), ", typically ", field.typical_bytes));
  }
  return fingerprint.Finish();
}

uint64_t Bytes(const SourceField& field) {
  uint64_t bytes = ByteSize(field.dtype);
  for (int64_t extent : field.shape) bytes *= extent;
  return bytes;
}

absl::Duration ThreadCpuTime() {
  timespec now;
  STOKER_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return absl::DurationFromTimespec(now);
}

// Spends `duration` of the thread's own CPU time. A thread that shares its CPU takes longer, as real work would.
void Spin(absl::Duration duration) {
  const absl::Duration end = ThreadCpuTime() + duration;
  while (ThreadCpuTime() < end) {
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Synthetic>> Synthetic::Create(const v1::Synthetic& config) {
  STOKER_RETURN_IF_ERROR(CheckFields(config));
  STOKER_RETURN_IF_ERROR(CheckCounts(config));
  return std::unique_ptr<Synthetic>(new Synthetic(config, Schema(config)));
}

absl::StatusOr<v1::Synthetic> Synthetic::ParseShape(const std::string& shape) {
  v1::Synthetic config;
  v1::SyntheticField& field = *config.add_fields();
  field.set_name("image");
  field.set_dtype(v1::DTYPE_UINT8);
  for (absl::string_view part : absl::StrSplit(shape, 'x')) {
    int64_t extent = 0;
    if (!absl::SimpleAtoi(part, &extent) || extent < 1)
      return absl::InvalidArgumentError(
          absl::StrCat("'", ShortPrintableName(shape), "' is no shape; expected extents such as 1024x1024x3"));
    field.add_shape(extent);
  }
  return config;
}

Synthetic::Synthetic(const v1::Synthetic& config, SourceSchema schema)
    : samples_(config.samples() == 0 ? kDefaultSamples : config.samples()),
      schema_(std::move(schema)),
      spin_(absl::Microseconds(config.spin_us())),
      sleep_(absl::Microseconds(config.sleep_us())),
      image_(ImageSizeOf(schema_)),
      fingerprint_(ConfigFingerprint(samples_, schema_)) {}

std::string Synthetic::description() const {
  const auto describe = [](std::string* out, const SourceField& field) {
    const bool jpeg = field.kind == SourceField::Kind::kEncodedImage;
    absl::StrAppend(out, field.name, " ", jpeg ? "jpeg" : DtypeName(field.dtype));
    if (field.meaning != v1::FIELD_KIND_UNSPECIFIED) absl::StrAppend(out, " ", KindName(field.meaning));
    if (!field.shape.empty()) absl::StrAppend(out, " ", absl::StrJoin(field.shape, "×"));
  };
  return absl::StrCat("synthetic: ", absl::StrJoin(schema_, ", ", describe));
}

std::string Synthetic::SampleName(uint64_t id) const {
  STOKER_CHECK(id < size());
  return absl::StrFormat("synthetic/%012d", id);
}

absl::Status Synthetic::Read(uint64_t id, SampleBytes& sample) const {
  STOKER_CHECK(id < size());
  if (sleep_ > absl::ZeroDuration()) absl::SleepFor(sleep_);
  if (spin_ > absl::ZeroDuration()) Spin(spin_);
  sample.fields.resize(schema_.size());
  for (size_t i = 0; i < schema_.size(); ++i) {
    const SourceField& field = schema_[i];
    const uint64_t key = MixAll({kDomain, id, i});
    const bool is_counted = i + 1 < schema_.size() && IsCompanion(schema_[i + 1].name);
    if (!sample.wanted.Has(i) && !is_counted) continue;
    if (field.kind == SourceField::Kind::kEncodedImage) {
      const ImageSize size = {field.shape[0], field.shape[1]};
      sample.fields[i] = EncodeJpeg(PaintPhotograph(key, key, size), size, kJpegQuality);
    } else if (IsCompanion(field.name)) {  // There are as many as the indices before them.
      sample.fields[i].resize(sample.fields[i - 1].size() / ByteSize(schema_[i - 1].dtype) * ByteSize(field.dtype));
      Fill(key, ValueMask(field.dtype), sample.fields[i]);
    } else if (field.kind == SourceField::Kind::kRows) {
      sample.fields[i] = MakeRows(key, field, image_);
    } else {
      sample.fields[i].resize(Bytes(field));
      Fill(key, ValueMask(field.dtype), sample.fields[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace stoker
