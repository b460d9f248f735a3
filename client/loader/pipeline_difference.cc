#include "client/loader/pipeline_difference.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/text.h"
#include "common/config/yaml_scalar.h"
#include "common/ops/ops.h"
#include "common/pipeline/pipeline.h"
#include "google/protobuf/descriptor.h"

namespace stoker {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr size_t kMaxTextBytes = 300;

bool IsMessage(const FieldDescriptor& field) { return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE; }

bool IsSet(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(message, &field) > 0 : reflection.HasField(message, &field);
}

// Texts come from whoever wrote the pipeline.
std::string ScalarOf(const Message& message, const FieldDescriptor& field, int index) {
  const std::string text = PrintScalar(message, field, index);
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING ? Shown(text) : text;
}

std::string TextOf(const Message& message);

std::vector<std::string> ElementsOf(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  std::vector<std::string> elements;
  elements.reserve(reflection.FieldSize(message, &field));
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i)
    elements.push_back(IsMessage(field) ? TextOf(reflection.GetRepeatedMessage(message, &field, i))
                                        : ScalarOf(message, field, i));
  return elements;
}

// "224", "[0.08, 1]", "[Resize(size=256), CenterCrop(size=224)]"; empty where the field is not set.
std::string TextOf(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  if (!IsSet(message, field)) return "";
  if (!field.is_repeated())
    return IsMessage(field) ? TextOf(reflection.GetMessage(message, &field)) : ScalarOf(message, field, -1);
  const std::vector<std::string> elements = ElementsOf(message, field);
  return elements.size() == 1 ? elements[0] : absl::StrCat("[", absl::StrJoin(elements, ", "), "]");
}

// The same, as people write it: "224" for a height and width of 224.
std::string ShortOf(const Message& message, const FieldDescriptor& field) {
  if (!field.is_repeated() || !IsSet(message, field)) return TextOf(message, field);
  const std::vector<std::string> elements = ElementsOf(message, field);
  const bool equal = std::count(elements.begin(), elements.end(), elements[0]) == std::ssize(elements);
  return equal ? elements[0] : TextOf(message, field);
}

// "size=224". `other` is what it must not look equal to, if any.
std::string Assigned(const Message& message, const FieldDescriptor& field, const Message* other) {
  const std::string text = TextOf(message, field), brief = ShortOf(message, field);
  if (text.empty()) return absl::StrCat(field.name(), "=none");
  return absl::StrCat(field.name(), "=", other != nullptr && brief == ShortOf(*other, field) ? text : brief);
}

// The fields that are set in `message`, or those of them that `other` does not have so: "size=224, scale=[0.5, 1]".
std::string FieldsOf(const Message& message, const Message* other) {
  std::vector<std::string> texts;
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    if (other != nullptr ? TextOf(message, field) != TextOf(*other, field) : IsSet(message, field))
      texts.push_back(Assigned(message, field, other));
  }
  return absl::StrJoin(texts, ", ");
}

// The op that is set, or null.
const Message* SetOp(const v1::Op& op) {
  const auto& reflection = *op.GetReflection();
  const FieldDescriptor* field = reflection.GetOneofFieldDescriptor(op, op.GetDescriptor()->FindOneofByName("op"));
  return field == nullptr ? nullptr : &reflection.GetMessage(op, field);
}

std::string Cut(std::string text) {
  if (text.size() > kMaxTextBytes) text = text.substr(0, kMaxTextBytes) + "…";
  return text;
}

// "RandomResizedCrop(size=224)".
std::string TextOf(const Message& message) {
  const auto* op = dynamic_cast<const v1::Op*>(&message);
  const Message* arguments = op == nullptr ? &message : SetOp(*op);
  const std::string fields = arguments == nullptr ? "" : FieldsOf(*arguments, nullptr);
  return absl::StrCat(op == nullptr ? "" : OpName(*op), fields.empty() ? "" : absl::StrCat("(", fields, ")"));
}

// Two ops that differ: by name, or else in arguments.
PipelineDifference OpDifference(const std::string& place, const v1::Op& one, const v1::Op& other) {
  const Message *a = SetOp(one), *b = SetOp(other);
  if (a == nullptr || b == nullptr || OpName(one) != OpName(other)) return {place, OpName(one), OpName(other)};
  const auto text = [](const v1::Op& op, const Message& arguments, const Message& others) {
    return Cut(absl::StrCat(OpName(op), "(", FieldsOf(arguments, &others), ")"));
  };
  return {place, text(one, *a, *b), text(other, *b, *a)};
}

std::optional<PipelineDifference> Compare(const std::string& path, const Message& one, const Message& other);

std::optional<PipelineDifference> CompareElements(const std::string& place, const Message& one, const Message& other) {
  const auto *a = dynamic_cast<const v1::Op*>(&one), *b = dynamic_cast<const v1::Op*>(&other);
  if (a == nullptr || b == nullptr) return Compare(place + ".", one, other);
  if (TextOf(*a) == TextOf(*b)) return std::nullopt;
  return OpDifference(place, *a, *b);
}

std::string NameOf(const Message& element) {
  if (const auto* op = dynamic_cast<const v1::Op*>(&element)) return OpName(*op);
  if (const auto* views = dynamic_cast<const v1::Views*>(&element))
    return absl::StrCat("the view '", Shown(views->name()), "'");
  return Cut(TextOf(element));
}

std::optional<PipelineDifference> CompareLists(const std::string& path, const Message& one, const Message& other,
                                               const FieldDescriptor& field) {
  const auto &in_one = *one.GetReflection(), &in_other = *other.GetReflection();
  const int size = in_one.FieldSize(one, &field), other_size = in_other.FieldSize(other, &field);
  for (int i = 0; i < std::max(size, other_size); ++i) {
    const std::string place = absl::StrCat(path, field.name(), "[", i, "]");
    if (i >= size) return PipelineDifference{place, "", NameOf(in_other.GetRepeatedMessage(other, &field, i))};
    if (i >= other_size) return PipelineDifference{place, NameOf(in_one.GetRepeatedMessage(one, &field, i)), ""};
    auto found = CompareElements(place, in_one.GetRepeatedMessage(one, &field, i),
                                 in_other.GetRepeatedMessage(other, &field, i));
    if (found.has_value()) return found;
  }
  return std::nullopt;
}

std::optional<PipelineDifference> Compare(const std::string& path, const Message& one, const Message& other) {
  for (int i = 0; i < one.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *one.GetDescriptor()->field(i);
    if (field.is_repeated() && IsMessage(field)) {
      if (auto found = CompareLists(path, one, other, field)) return found;
    } else if (const std::string a = TextOf(one, field), b = TextOf(other, field); a != b) {
      return PipelineDifference{path + field.name(), a.empty() ? "none" : Cut(a), b.empty() ? "none" : Cut(b)};
    }
  }
  return std::nullopt;
}

void AddNames(const google::protobuf::RepeatedPtrField<v1::Op>& ops, const std::string& prefix,
              std::vector<std::string>& names) {
  for (const v1::Op& op : ops) names.push_back(prefix + OpName(op));
}

}  // namespace

std::optional<PipelineDifference> FindDifference(const v1::Pipeline& one, const v1::Pipeline& other) {
  return Compare("", WithDefaults(one), WithDefaults(other));
}

std::vector<std::string> OpNames(const v1::Pipeline& pipeline) {
  std::vector<std::string> names;
  AddNames(pipeline.ops(), "", names);
  for (const v1::Views& views : pipeline.views()) AddNames(views.ops(), views.name() + ": ", names);
  return names;
}

}  // namespace stoker
