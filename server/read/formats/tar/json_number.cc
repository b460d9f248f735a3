#include "server/read/formats/tar/json_number.h"

#include <cstdint>
#include <optional>

namespace stoker {
namespace {

// Remembers the number or the text at one path.
class Finder final : public JsonWalk {
 public:
  using JsonWalk::JsonWalk;

  const std::optional<JsonNumber>& number() const { return number_; }
  const std::optional<std::string>& text() const { return text_; }

 private:
  void OnNumber(const JsonNumber& number) override {
    if (nesting() == 0) number_ = number;
  }
  void OnText(std::string_view text) override {
    if (nesting() == 0) text_ = std::string(text);
  }
  void OnOther() override {}
  void OnList() override {}
  void OnListEnd() override {}
  uint64_t Mark() const override { return 0; }
  void Rewind(uint64_t) override {
    number_.reset();
    text_.reset();
  }

  std::optional<JsonNumber> number_;
  std::optional<std::string> text_;
};

}  // namespace

absl::StatusOr<JsonNumber> NumberAt(std::string_view document, const JsonPath& path) {
  Finder finder(path);
  if (!finder.Walk(document)) return absl::DataLossError("is not JSON");
  if (!finder.number().has_value()) return absl::DataLossError("has no number there");
  return *finder.number();
}

absl::StatusOr<std::string> TextAt(std::string_view document, const JsonPath& path) {
  Finder finder(path);
  if (!finder.Walk(document)) return absl::DataLossError("is not JSON");
  if (!finder.text().has_value()) return absl::DataLossError("has no text there");
  return *finder.text();
}

}  // namespace stoker
