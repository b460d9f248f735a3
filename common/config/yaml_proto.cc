#include "common/config/yaml_proto.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/check.h"
#include "common/config/key_names.h"
#include "common/config/nearest_word.h"
#include "common/config/text.h"
#include "common/config/yaml_scalar.h"
#include "common/config/yaml_tree.h"
#include "common/status_macros.h"
#include "google/protobuf/descriptor.h"

namespace stoker {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Describes a value for an error: "'abc'", "a list".
std::string Found(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kScalar: return absl::StrCat("'", Shown(node.text), "'");
    case YamlNode::Kind::kList: return "a list";
    case YamlNode::Kind::kMapping: return "a mapping";
    case YamlNode::Kind::kNothing: break;
  }
  return "nothing";
}

bool IsMessage(const FieldDescriptor& field) { return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE; }

// Fills a message from a tree. Paths in it lead from the document to a node, as in "datasets[0].name"; the document's
// own is empty.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  absl::Status ReadMessage(const YamlNode& node, const std::string& path, Message& message) const {
    if (node.kind == YamlNode::Kind::kNothing) return absl::OkStatus();
    if (node.kind != YamlNode::Kind::kMapping) return NotAMapping(node, path, *message.GetDescriptor());
    std::map<const FieldDescriptor*, const YamlNode*> seen;
    for (const YamlNode& child : node.children) {
      const std::string child_path = path.empty() ? Shown(child.key) : absl::StrCat(path, ".", Shown(child.key));
      const FieldDescriptor* field = FindField(*message.GetDescriptor(), child.key);
      const bool own_op = field == nullptr && IsOwnOp(child, *message.GetDescriptor());
      if (own_op) field = message.GetDescriptor()->FindFieldByName("own_op");
      if (field == nullptr) return UnknownKey(child, child_path, *message.GetDescriptor());
      if (const auto first = seen.find(field); own_op && first != seen.end())
        return Rivals(child, child_path, *first->second);
      if (!seen.emplace(field, &child).second) return RepeatedKey(child, child_path, *seen[field]);
      if (const FieldDescriptor* rival = RivalOf(*field, message)) return Rivals(child, child_path, *seen[rival]);
      STOKER_RETURN_IF_ERROR(own_op ? ReadOwnOp(child, child_path, *field, message)
                                    : ReadField(child, child_path, *field, message));
    }
    return absl::OkStatus();
  }

 private:
  // Whether a key that is no op's may be that of an op which a server's operator brings. What looks like a mistake in
  // writing a known key is one.
  static bool IsOwnOp(const YamlNode& node, const Descriptor& type) {
    const auto in_name = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_'; };
    if (type.FindFieldByName("own_op") == nullptr || node.key.empty() || !absl::ascii_islower(node.key[0]) ||
        !std::all_of(node.key.begin(), node.key.end(), in_name))
      return false;
    return DidYouMean(node.key, Candidates(type)).empty();
  }

  // Reads `fog: {amount: 0.2}` into the message's `field`, own_op, which has a name and arguments. Values stay as they
  // are written, since only the op knows their types.
  absl::Status ReadOwnOp(const YamlNode& node, const std::string& path, const FieldDescriptor& field,
                         Message& message) const {
    Message& op = *message.GetReflection()->MutableMessage(&message, &field);
    const Descriptor& type = *op.GetDescriptor();
    op.GetReflection()->SetString(&op, type.FindFieldByName("name"), node.key);
    if (node.kind == YamlNode::Kind::kNothing) return absl::OkStatus();
    if (node.kind != YamlNode::Kind::kMapping) return Expected("a mapping of arguments", node, path);
    for (const YamlNode& child : node.children) {
      const std::string child_path = absl::StrCat(path, ".", Shown(child.key));
      if (child.kind != YamlNode::Kind::kScalar) return Expected("a number, a text, true or false", child, child_path);
      Message& argument = *op.GetReflection()->AddMessage(&op, type.FindFieldByName("arguments"));
      const auto set = [&](const char* name, const std::string& value) {
        argument.GetReflection()->SetString(&argument, argument.GetDescriptor()->FindFieldByName(name), value);
      };
      set("name", child.key);
      set("value", child.text);
    }
    return absl::OkStatus();
  }

  absl::Status ReadField(const YamlNode& node, const std::string& path, const FieldDescriptor& field,
                         Message& message) const {
    if (field.is_map()) return ReadMap(node, path, field, message);
    if (field.is_repeated()) return ReadList(node, path, field, message);
    if (!IsMessage(field)) return ReadScalar(node, path, field, message);
    Message& child = *message.GetReflection()->MutableMessage(&message, &field);
    const FieldDescriptor* from = child.GetDescriptor()->FindFieldByName("from");
    if (from != nullptr && node.kind == YamlNode::Kind::kScalar) return ReadScalar(node, path, *from, child);
    const FieldDescriptor* parts = child.GetDescriptor()->FindFieldByName("parts");
    if (parts != nullptr && node.kind == YamlNode::Kind::kList) return ReadList(node, path, *parts, child);
    return ReadMessage(node, path, child);
  }

  absl::Status ReadMap(const YamlNode& node, const std::string& path, const FieldDescriptor& field,
                       Message& message) const {
    if (node.kind == YamlNode::Kind::kNothing) return absl::OkStatus();
    if (node.kind != YamlNode::Kind::kMapping) return Expected("a mapping", node, path);
    std::map<std::string, const YamlNode*> seen;
    for (const YamlNode& child : node.children) {
      const std::string child_path = absl::StrCat(path, ".", Shown(child.key));
      if (!seen.emplace(child.key, &child).second) return RepeatedKey(child, child_path, *seen[child.key]);
      Message& entry = *message.GetReflection()->AddMessage(&message, &field);
      // Storing the key cannot fail, since every map of the schema has text keys.
      STOKER_CHECK(StoreScalar(child.key, *field.message_type()->map_key(), entry).ok());
      STOKER_RETURN_IF_ERROR(ReadField(child, child_path, *field.message_type()->map_value(), entry));
    }
    return absl::OkStatus();
  }

  absl::Status ReadList(const YamlNode& node, const std::string& path, const FieldDescriptor& field,
                        Message& message) const {
    if (node.kind == YamlNode::Kind::kNothing) return absl::OkStatus();
    if (node.kind == YamlNode::Kind::kScalar && !IsMessage(field)) return ReadScalar(node, path, field, message);
    if (node.kind == YamlNode::Kind::kMapping && IsMessage(field))
      return Expected("a list", node, path, "; begin each entry with '- '");
    if (node.kind != YamlNode::Kind::kList) return Expected("a list", node, path);
    for (size_t i = 0; i < node.children.size(); ++i)
      STOKER_RETURN_IF_ERROR(ReadItem(node.children[i], absl::StrCat(path, "[", i, "]"), field, message));
    return absl::OkStatus();
  }

  absl::Status ReadItem(const YamlNode& node, const std::string& path, const FieldDescriptor& field,
                        Message& message) const {
    if (!IsMessage(field)) return ReadScalar(node, path, field, message);
    return ReadMessage(node, path, *message.GetReflection()->AddMessage(&message, &field));
  }

  absl::Status ReadScalar(const YamlNode& node, const std::string& path, const FieldDescriptor& field,
                          Message& message) const {
    if (node.kind != YamlNode::Kind::kScalar) return Expected(WantOf(field), node, path);
    const absl::Status status = StoreScalar(node.text, field, message);
    return status.ok() ? status : Error(node.position, path, std::string(status.message()));
  }

  // Returns the member of the field's oneof that the message has already, or null.
  const FieldDescriptor* RivalOf(const FieldDescriptor& field, const Message& message) const {
    if (field.real_containing_oneof() == nullptr) return nullptr;
    return message.GetReflection()->GetOneofFieldDescriptor(message, field.containing_oneof());
  }

  absl::Status NotAMapping(const YamlNode& node, const std::string& path, const Descriptor& type) const {
    const bool lacks_colon = node.kind == YamlNode::Kind::kScalar && FindField(type, node.text) != nullptr;
    return Expected("a mapping", node, path, lacks_colon ? absl::StrCat("; write '", node.text, ":'") : "");
  }

  static std::vector<std::string> Candidates(const Descriptor& type) {
    std::vector<std::string> candidates = KeysOf(type);
    for (int i = 0; i < type.field_count(); ++i) candidates.push_back(type.field(i)->name());
    return candidates;
  }

  absl::Status UnknownKey(const YamlNode& node, const std::string& path, const Descriptor& type) const {
    const std::vector<std::string> keys = KeysOf(type);
    std::string hint = DidYouMean(node.key, Candidates(type));
    if (hint.empty()) hint = keys.empty() ? "; none is known here" : "; known are " + absl::StrJoin(keys, ", ");
    return Error(node.key_position, path, "unknown key" + hint);
  }

  absl::Status RepeatedKey(const YamlNode& node, const std::string& path, const YamlNode& first) const {
    return Error(node.key_position, path, absl::StrCat("repeated key; it is also in line ", first.key_position.line));
  }

  absl::Status Rivals(const YamlNode& node, const std::string& path, const YamlNode& first) const {
    return Error(node.key_position, path,
                 absl::StrCat("only one of '", Shown(first.key), "' (line ", first.key_position.line, ") and '",
                              Shown(node.key), "' may be given"));
  }

  absl::Status Expected(const std::string& want, const YamlNode& node, const std::string& path,
                        const std::string& hint = "") const {
    return Error(node.position, path, absl::StrCat("expected ", want, ", found ", Found(node), hint));
  }

  absl::Status Error(const YamlPosition& position, const std::string& path, const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ":", position.line, ":", position.column, ": ", path, path.empty() ? "" : ": ", what));
  }

  const std::string& file_;
};

// Reads a file, but stops soon after the largest size that a configuration may have.
absl::StatusOr<std::string> ReadBounded(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return absl::ErrnoToStatus(errno, path);
  const absl::Cleanup close_file = [file] { close(file); };
  std::string text;
  char block[16 << 10];
  while (text.size() <= kMaxYamlBytes) {
    const ssize_t bytes = read(file, block, sizeof block);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return absl::ErrnoToStatus(errno, path);
    if (bytes == 0) break;
    text.append(block, bytes);
  }
  return text;
}

}  // namespace

absl::Status ParseYaml(std::string_view text, const std::string& file, Message& message) {
  message.Clear();
  STOKER_ASSIGN_OR_RETURN(const YamlNode document, ParseYamlTree(text, file));
  return Reader(file).ReadMessage(document, "", message);
}

absl::Status ReadYamlFile(const std::string& path, Message& message) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadBounded(path));
  return ParseYaml(text, path, message);
}

}  // namespace stoker
