#include "server/read/formats/tar/tar_fields.h"

#include <algorithm>
#include <bit>
#include <cstring>
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

absl::StatusOr<NpyHeader> HeaderOf(std::span<const uint8_t> member) {
  const std::string_view file = TextOf(member.first(std::min<size_t>(member.size(), kNpyHeaderBytes)));
  return ParseNpyHeader({file.data(), file.size()});
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
  if (!config.json().empty()) {
    field.kind = MemberKind::kJson;
    field.path_text = config.json();
    auto path = ParseJsonPath(config.json());
    if (!path.ok()) return absl::InvalidArgumentError(absl::StrCat("json: ", path.status().message()));
    field.path = *std::move(path);
    return field;
  }
  field.kind = KindOfExtension(field.extensions[0]);
  for (const std::string& extension : field.extensions) {
    if (KindOfExtension(extension) == MemberKind::kOther)
      return absl::InvalidArgumentError(
          absl::StrCat("from: a member .", extension,
                       " is not taken: expected an image, .npy, .cls or another number in text; of "
                       "JSON give the path of a number, such as {json: $.class_id}"));
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
  for (const auto& [name, from] : std::map(config.begin(), config.end())) {
    auto field = FieldOf(name, from);
    if (!field.ok()) return WrongField(name, field.status());
    SetSchema(*field);
    const auto png = [](const std::string& one) { return one.substr(one.rfind('.') + 1) == "png"; };
    if (IsMap(from.kind()) && field->kind == MemberKind::kImage &&
        !std::all_of(field->extensions.begin(), field->extensions.end(), png))
      return WrongField(
          name, absl::InvalidArgumentError(absl::StrCat("from: a ", KindName(from.kind()), " is a .png or .npy, not ",
                                                        WordsOf(field->extensions))));
    // What an array is, the first sample tells.
    if (field->kind != MemberKind::kArray)
      if (const absl::Status status = SetMeaning(from, field->field); !status.ok()) return WrongField(name, status);
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

absl::Status Learn(const std::vector<std::vector<uint8_t>>& members, TarField& field) {
  if (field.kind == MemberKind::kArray) return LearnArray(members[0], field);
  if (field.kind != MemberKind::kJson) return absl::OkStatus();
  field.field.dtype = v1::DTYPE_UNSPECIFIED;
  return LearnNumber(members, field);
}

absl::Status Take(const TarField& field, std::span<const uint8_t> member, std::vector<uint8_t>& value) {
  switch (field.kind) {
    case MemberKind::kArray: return TakeArray(field, member, value);
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
    case MemberKind::kImage:
    case MemberKind::kOther: break;
  }
  value.assign(member.begin(), member.end());
  return absl::OkStatus();
}

std::string WordsOf(const Extensions& extensions) { return absl::StrCat(".", absl::StrJoin(extensions, " or .")); }

}  // namespace stoker
