#include "common/config/yaml_tree.h"

#include <exception>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/config/text.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

namespace stoker {
namespace {

constexpr char kNotText[] = "not text in UTF-8, or with a zero byte";

bool IsText(std::string_view text) { return IsUtf8(text) && text.find('\0') == text.npos; }

YamlPosition PositionOf(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Throws, since that is the only way to stop yaml-cpp's parser. ParseYamlTree catches it.
[[noreturn]] void Refuse(const YAML::Mark& mark, const std::string& why) { throw YAML::ParserException(mark, why); }

// Builds the tree from the parser's events. The parser announces each level before it recurses, so refusing deep levels
// here bounds its stack too.
class TreeBuilder : public YAML::EventHandler {
 public:
  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(in_document_, true)) Refuse(mark, "a second document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    RequireNoKeyIsDue(mark);
    Add(mark, YamlNode::Kind::kNothing);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Refuse(mark, "aliases are not supported"); }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override { Refuse(mark, "anchors are not supported"); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& text) override {
    RequireNoTag(mark, tag);
    if (!IsText(text))
      Refuse(mark, kNotText);  // An escape can make invalid UTF-8: yaml-cpp turns \N into a lone byte 0x85.
    if (KeyIsDue()) {
      key_ = Key{text, PositionOf(mark)};
    } else {
      Add(mark, YamlNode::Kind::kScalar).text = text;
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, YamlNode::Kind::kList);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    Open(mark, tag, YamlNode::Kind::kMapping);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Key {
    std::string text;
    YamlPosition position;
  };

  bool KeyIsDue() const { return !open_.empty() && open_.back()->kind == YamlNode::Kind::kMapping && !key_; }

  void RequireNoKeyIsDue(const YAML::Mark& mark) const {
    if (KeyIsDue()) Refuse(mark, "a key must be text");
  }

  // Refuses explicit tags. The parser itself gives plain scalars the tag "?" and quoted ones "!".
  void RequireNoTag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") Refuse(mark, "tags are not supported");
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YamlNode::Kind kind) {
    RequireNoTag(mark, tag);
    RequireNoKeyIsDue(mark);
    if (open_.size() == kMaxYamlLevels) Refuse(mark, absl::StrCat("nested deeper than ", kMaxYamlLevels, " levels"));
    open_.push_back(&Add(mark, kind));
  }

  YamlNode& Add(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode& node = open_.empty() ? root_ : open_.back()->children.emplace_back();
    node.kind = kind;
    node.position = PositionOf(mark);
    if (!key_) return node;
    node.key = std::move(key_->text);
    node.key_position = key_->position;
    if (kind == YamlNode::Kind::kNothing) node.position = node.key_position;
    key_.reset();
    return node;
  }

  YamlNode root_;
  // Lists and mappings that have not ended, outermost first. Each is the last child of the one before, so its address
  // stays valid.
  std::vector<YamlNode*> open_;
  std::optional<Key> key_;  // the key of the value to come
  bool in_document_ = false;
};

absl::Status Error(const std::string& file, const YAML::Mark& mark, const std::string& what) {
  if (mark.is_null()) return absl::InvalidArgumentError(absl::StrCat(file, ": ", what));
  const YamlPosition position = PositionOf(mark);
  return absl::InvalidArgumentError(absl::StrCat(file, ":", position.line, ":", position.column, ": ", what));
}

}  // namespace

absl::StatusOr<YamlNode> ParseYamlTree(std::string_view text, const std::string& file) {
  if (text.size() > kMaxYamlBytes)
    return absl::InvalidArgumentError(absl::StrCat(file, ": exceeds ", kMaxYamlBytes, " bytes"));
  if (!IsText(text)) return absl::InvalidArgumentError(absl::StrCat(file, ": ", kNotText));
  try {
    TreeBuilder builder;
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) continue;
    return builder.TakeRoot();
  } catch (const YAML::Exception& error) {
    return Error(file, error.mark, absl::CHexEscape(error.msg));  // The message may quote bytes of the text.
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", error.what()));
  }
}

}  // namespace stoker
