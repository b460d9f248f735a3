#include "server/read/formats/tar/tar_fields.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/status_macros.h"
#include "server/read/formats/features/npy_header.h"
#include "server/read/formats/mapping/field_mapping.h"
#include "server/read/formats/mapping/sparse_field.h"
#include "server/read/formats/mapping/variable_field.h"
#include "server/read/formats/tar/json_number.h"
#include "server/read/formats/tar/json_rows.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little);  // Numbers are copied as they are.

std::string_view TextOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename Number>
void Put(Number number, std::vector<uint8_t>& value) {
  value.resize(sizeof number);
  std::memcpy(value.data(), &number, sizeof number);
}

absl::StatusOr<NpyHeader> HeaderOf(std::span<const uint8_t> member, bool may_be_empty = false) {
  const std::string_view file = TextOf(member.first(std::min<size_t>(member.size(), kNpyHeaderBytes)));
  return ParseNpyHeader({file.data(), file.size()}, may_be_empty);
}

bool IsNpy(const std::string& extension) { return KindOfExtension(extension) == MemberKind::kArray; }

// Sets what a field is that is taken by a path into a JSON document.
absl::Status SetPath(const v1::FieldFrom& config, TarField& field) {
  field.kind = IsVariable(config.kind()) ? MemberKind::kJsonRows : MemberKind::kJson;
  if (config.kind() == v1::FIELD_KIND_TEXT) field.kind = MemberKind::kJsonText;
  if (config.kind() == v1::FIELD_KIND_BYTES || config.kind() == v1::FIELD_KIND_AUDIO)
    return absl::InvalidArgumentError(
        absl::StrCat("kind: a JSON document has no ", KindName(config.kind()), "; its texts are of kind: text"));
  field.path_text = config.json();
  auto path = ParseJsonPath(config.json());
  if (!path.ok()) return absl::InvalidArgumentError(absl::StrCat("json: ", path.status().message()));
  if (LeadsToMany(*path) && field.kind != MemberKind::kJsonRows)
    return absl::InvalidArgumentError(absl::StrCat(
        "json: '", config.json(), "' leads to many values, which `kind` ragged, boxes and keypoints take"));
  field.path = *std::move(path);
  return absl::OkStatus();
}

// Sets what a field is whose samples differ in size and that is taken from whole members.
absl::Status SetVariable(v1::FieldKind kind, TarField& field) {
  const bool wants_bytes = kind == v1::FIELD_KIND_BYTES || kind == v1::FIELD_KIND_TEXT || kind == v1::FIELD_KIND_AUDIO;
  field.kind = wants_bytes ? MemberKind::kBytes : MemberKind::kArrayOfRows;
  if (wants_bytes || std::all_of(field.extensions.begin(), field.extensions.end(), IsNpy)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("from: ", KindName(kind),
                                                 " are taken from a .npy, or by a path into "
                                                 "JSON, such as {json: $.",
                                                 KindName(kind), "}, not from ", WordsOf(field.extensions)));
}

// Returns the type of the numbers of rows in a JSON document.
absl::StatusOr<v1::Dtype> JsonDtype(const v1::FieldFrom& config) {
  switch (config.dtype()) {
    case v1::DTYPE_UNSPECIFIED:
      return HasPoints(config.kind()) || !config.shape().empty() ? v1::DTYPE_FLOAT32 : v1::DTYPE_INT64;
    case v1::DTYPE_UINT8:
    case v1::DTYPE_INT16:
    case v1::DTYPE_INT32:
    case v1::DTYPE_INT64:
    case v1::DTYPE_FLOAT32:
    case v1::DTYPE_FLOAT64: return config.dtype();
    default: break;
  }
  return absl::InvalidArgumentError(
      "dtype: numbers of a JSON document become uint8, int16, int32, int64, float32 or float64");
}

// Sets what the configuration alone tells of a field's kind.
absl::Status SetKind(const v1::FieldFrom& config, TarField& field) {
  switch (field.kind) {
    case MemberKind::kArray:
    case MemberKind::kArrayOfRows: return absl::OkStatus();  // What an array is, the first samples tell.
    case MemberKind::kBytes:
    case MemberKind::kJsonText: return SetRows(config, {.are_bytes = true}, field.field);
    case MemberKind::kJsonRows: {
      STOKER_ASSIGN_OR_RETURN(const v1::Dtype dtype, JsonDtype(config));
      v1::FieldFrom rows = config;
      rows.clear_dtype();
      return SetRows(rows, {.dtype = dtype}, field.field);
    }
    default: return SetMeaning(config, field.field);
  }
}

absl::StatusOr<TarField> FieldOf(const std::string& name, const v1::FieldFrom& config) {
  TarField field;
  field.field.name = name;
  field.asked = config;
  const std::string from = config.from().empty() && !config.json().empty() ? "json" : config.from();
  for (absl::string_view extension : absl::StrSplit(from, ';')) {
    extension = absl::StripAsciiWhitespace(extension);
    if (!extension.empty() && extension[0] == '.') extension.remove_prefix(1);
    if (extension.empty())
      return absl::InvalidArgumentError("from: expected an extension, or several with ';' between");
    field.extensions.push_back(absl::AsciiStrToLower(extension));
  }
  if (!config.json().empty() || IsVariable(config.kind())) {
    STOKER_RETURN_IF_ERROR(config.json().empty() ? SetVariable(config.kind(), field) : SetPath(config, field));
    return field;
  }
  field.kind = KindOfExtension(field.extensions[0]);
  for (const std::string& extension : field.extensions) {
    if (KindOfExtension(extension) == MemberKind::kOther)
      return absl::InvalidArgumentError(
          absl::StrCat("from: a member .", extension,
                       " is not taken: expected an image, .npy, .cls or another number in text; of "
                       "JSON give the path of a number, such as {json: $.class_id}; {kind: bytes, max_bytes: …} takes "
                       "any"));
    if (KindOfExtension(extension) != field.kind)
      return absl::InvalidArgumentError(
          absl::StrCat("from: .", field.extensions[0], " and .", extension, " are not of one kind"));
  }
  return field;
}

// Sets the schema that a kind alone tells.
void SetSchema(TarField& field) {
  if (field.kind == MemberKind::kImage) field.field.kind = SourceField::Kind::kEncodedImage;
  if (field.kind == MemberKind::kNumber) field.field.dtype = v1::DTYPE_INT64;
}

// Returns an error of the field's configuration.
absl::Status WrongField(const std::string& name, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat("fields.", ShortPrintableName(name), ".", status.message()));
}

absl::Status LearnArray(std::span<const uint8_t> member, TarField& field) {
  STOKER_ASSIGN_OR_RETURN(const NpyHeader header, HeaderOf(member));
  field.field.dtype = header.dtype;
  field.field.shape = header.shape;
  return SetMeaning(field.asked, field.field);
}

absl::Status LearnNumber(const std::vector<std::vector<uint8_t>>& members, TarField& field) {
  bool all_whole = true;
  for (const auto& member : members) {
    const auto number = NumberAt(TextOf(member), field.path);
    // One that has none is a bad sample, unless all have none.
    if (!number.ok() && &member == &members.back() && field.field.dtype == v1::DTYPE_UNSPECIFIED)
      return absl::InvalidArgumentError(absl::StrCat(field.path_text, ": ", number.status().message()));
    if (!number.ok()) continue;
    all_whole = all_whole && number->is_whole;
    field.field.dtype = all_whole ? v1::DTYPE_INT64 : v1::DTYPE_FLOAT64;
  }
  return absl::OkStatus();
}

absl::Status LearnArrayOfRows(const std::vector<std::vector<uint8_t>>& members, TarField& field) {
  absl::Status status;
  std::optional<NpyHeader> first;
  for (const auto& member : members) {
    auto header = HeaderOf(member, /*may_be_empty=*/true);
    status.Update(header.status());
    if (!header.ok()) continue;
    const bool is_empty = !header->shape.empty() && header->shape[0] == 0;
    // What is empty may be of any type, such as the float64 that NumPy gives an empty list.
    if (!first.has_value() || !is_empty) first = *std::move(header);
    if (!is_empty) break;
  }
  if (!first.has_value()) return status;
  return SetRows(field.asked, {.dtype = first->dtype, .shape = RowShapeOf(first->shape)}, field.field);
}

// Fails where no member has what the field takes. One that lacks it is a bad sample.
absl::Status TryJson(const std::vector<std::vector<uint8_t>>& members, const TarField& field) {
  absl::Status status;
  std::vector<uint8_t> value;
  for (const auto& member : members) {
    const absl::Status taken = Take(field, member, value);
    if (taken.ok()) return taken;
    status.Update(taken);
  }
  return absl::InvalidArgumentError(status.message());
}

absl::Status TakeArrayOfRows(const TarField& field, std::span<const uint8_t> member, std::vector<uint8_t>& value) {
  const auto header = HeaderOf(member, /*may_be_empty=*/true);
  if (!header.ok()) return absl::DataLossError(header.status().message());
  const SourceField array{.dtype = header->dtype, .shape = header->shape};
  if (member.size() - header->bytes != DenseBytes(array))
    return absl::DataLossError("has another size than its header tells");
  const bool is_empty = member.size() == header->bytes;
  if (!is_empty && (array.dtype != field.field.dtype || !IsArrayOfRows(array.shape, field.field)))
    return absl::DataLossError(
        absl::StrCat("is ", FieldWords(array), ", which is no array of rows: ", FieldWords(field.field)));
  value.assign(member.begin() + static_cast<ptrdiff_t>(header->bytes), member.end());
  return absl::OkStatus();
}

absl::Status TakeText(const TarField& field, std::span<const uint8_t> member, std::vector<uint8_t>& value) {
  const auto text = TextAt(TextOf(member), field.path);
  if (!text.ok()) return absl::DataLossError(absl::StrCat(field.path_text, ": ", text.status().message()));
  value.assign(text->begin(), text->end());
  return absl::OkStatus();
}

absl::Status TakeArray(const TarField& field, std::span<const uint8_t> member, std::vector<uint8_t>& value) {
  auto header = HeaderOf(member);
  if (!header.ok()) return absl::DataLossError(header.status().message());
  if (header->dtype != field.field.dtype || header->shape != field.field.shape)
    return absl::DataLossError(absl::StrCat("is ", DtypeName(header->dtype), " [", absl::StrJoin(header->shape, ", "),
                                            "], where the first sample's is ", DtypeName(field.field.dtype), " [",
                                            absl::StrJoin(field.field.shape, ", "), "]"));
  uint64_t left = (member.size() - header->bytes) / ByteSize(field.field.dtype), rest = left;
  for (const int64_t dimension : field.field.shape) {
    rest = left % dimension;
    left /= dimension;
    if (rest != 0) break;
  }
  if (left != 1 || (!field.field.shape.empty() && rest != 0) ||
      (member.size() - header->bytes) % ByteSize(field.field.dtype) != 0)
    return absl::DataLossError("has another size than its header tells");
  value.assign(member.begin() + static_cast<ptrdiff_t>(header->bytes), member.end());
  return absl::OkStatus();
}

}  // namespace

MemberKind KindOfExtension(std::string_view extension) {
  static const std::set<std::string_view> images = {"jpg", "jpeg", "jpe",  "png", "webp",
                                                    "bmp", "tif",  "tiff", "pgm", "ppm"};
  static const std::set<std::string_view> numbers = {"cls", "id", "index", "inx", "count", "txt", "text"};
  const std::string_view last = extension.substr(extension.rfind('.') + 1);
  if (images.contains(last)) return MemberKind::kImage;
  if (numbers.contains(last)) return MemberKind::kNumber;
  return last == "npy" ? MemberKind::kArray : MemberKind::kOther;
}

absl::StatusOr<std::vector<TarField>> FieldsOf(const google::protobuf::Map<std::string, v1::FieldFrom>& config) {
  std::vector<TarField> fields;
  STOKER_ASSIGN_OR_RETURN(const auto all, WithValuesOfSparse(config));
  for (const auto& [name, from] : std::map(all.begin(), all.end())) {
    auto field = FieldOf(name, from);
    if (!field.ok()) return WrongField(name, field.status());
    SetSchema(*field);
    const auto png = [](const std::string& one) { return one.substr(one.rfind('.') + 1) == "png"; };
    if (IsMap(from.kind()) && field->kind == MemberKind::kImage &&
        !std::all_of(field->extensions.begin(), field->extensions.end(), png))
      return WrongField(
          name, absl::InvalidArgumentError(absl::StrCat("from: a ", KindName(from.kind()), " is a .png or .npy, not ",
                                                        WordsOf(field->extensions))));
    if (const absl::Status status = SetKind(from, *field); !status.ok()) return WrongField(name, status);
    fields.push_back(*std::move(field));
  }
  return fields;
}

FoundFields FindFields(const std::vector<Extensions>& samples) {
  std::map<std::string, TarField> fields;
  std::set<std::string> left_out;
  const auto is_in = [](const Extensions& list, const std::string& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  for (const Extensions& sample : samples) {
    Extensions& images = fields["image"].extensions;
    const auto known = [&](const std::string& extension) { return is_in(images, extension); };
    const auto is_image = [](const std::string& one) { return KindOfExtension(one) == MemberKind::kImage; };
    const auto first = std::find_if(sample.begin(), sample.end(), is_image);
    if (first != sample.end() && std::none_of(sample.begin(), sample.end(), known)) images.push_back(*first);
  }
  fields["image"].kind = MemberKind::kImage;
  for (const Extensions& sample : samples)
    for (const std::string& extension : sample) {
      if (is_in(fields["image"].extensions, extension)) continue;
      const MemberKind kind = KindOfExtension(extension);
      const bool is_text = extension.ends_with("txt") || extension.ends_with("text");  // Mostly captions.
      const std::string name = extension == "cls" ? "label" : extension;
      if ((kind != MemberKind::kNumber && kind != MemberKind::kArray) || is_text || name == "image") {
        left_out.insert(extension);
        continue;
      }
      fields[name].kind = kind;
      fields[name].extensions = {extension};
    }
  if (fields["image"].extensions.empty()) fields.erase("image");
  FoundFields found;
  for (auto& [name, field] : fields) {
    field.field.name = name;
    SetSchema(field);
    found.fields.push_back(std::move(field));
  }
  found.left_out.assign(left_out.begin(), left_out.end());
  return found;
}

Learning LearningOf(const TarField& field) {
  constexpr size_t kMembers = 64;
  constexpr uint64_t kDocumentBytes = uint64_t{64} << 20;
  switch (field.kind) {
    case MemberKind::kArray: return {.members = 1, .bytes = kNpyHeaderBytes};
    case MemberKind::kArrayOfRows: return {.members = kMembers, .bytes = kNpyHeaderBytes};
    case MemberKind::kJson:
    case MemberKind::kJsonText:
    case MemberKind::kJsonRows: return {.members = kMembers, .bytes = kDocumentBytes};
    default: return {};
  }
}

bool MayBeEmpty(const TarField& field) { return field.kind == MemberKind::kBytes; }

absl::Status Learn(const std::vector<std::vector<uint8_t>>& members, TarField& field) {
  if (field.kind == MemberKind::kArray) return LearnArray(members[0], field);
  if (field.kind == MemberKind::kArrayOfRows) return LearnArrayOfRows(members, field);
  if (field.kind == MemberKind::kJsonText || field.kind == MemberKind::kJsonRows) return TryJson(members, field);
  if (field.kind != MemberKind::kJson) return absl::OkStatus();
  field.field.dtype = v1::DTYPE_UNSPECIFIED;
  return LearnNumber(members, field);
}

absl::Status Take(const TarField& field, std::span<const uint8_t> member, std::vector<uint8_t>& value) {
  switch (field.kind) {
    case MemberKind::kArray: return TakeArray(field, member, value);
    case MemberKind::kArrayOfRows: return TakeArrayOfRows(field, member, value);
    case MemberKind::kJsonText: return TakeText(field, member, value);
    case MemberKind::kJsonRows: {
      const absl::Status taken = RowsAt(TextOf(member), field.path, field.field, value);
      if (taken.ok()) return taken;
      return absl::DataLossError(absl::StrCat(field.path_text, ": ", taken.message()));
    }
    case MemberKind::kNumber: {
      const std::string_view text = TextOf(member);
      int64_t number = 0;
      if (!absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number))
        return absl::DataLossError(absl::StrCat("'", ShortPrintableName(text.substr(0, 32)), "' is no whole number"));
      Put(number, value);
      return absl::OkStatus();
    }
    case MemberKind::kJson: {
      auto number = NumberAt(TextOf(member), field.path);
      if (!number.ok()) return absl::DataLossError(absl::StrCat(field.path_text, ": ", number.status().message()));
      if (field.field.dtype == v1::DTYPE_FLOAT64) {
        Put(number->real, value);
        return absl::OkStatus();
      }
      if (!number->is_whole)
        return absl::DataLossError(absl::StrCat(field.path_text, ": is no whole number, as in the first samples"));
      Put(number->whole, value);
      return absl::OkStatus();
    }
    case MemberKind::kBytes:
    case MemberKind::kImage:
    case MemberKind::kOther: break;
  }
  value.assign(member.begin(), member.end());
  return absl::OkStatus();
}

std::string WordsOf(const Extensions& extensions) { return absl::StrCat(".", absl::StrJoin(extensions, " or .")); }

}  // namespace stoker
