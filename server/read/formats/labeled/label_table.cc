#include "server/read/formats/labeled/label_table.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "nlohmann/json.hpp"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr char kFileKey[] = "file_name", kLabelKey[] = "label";

absl::Status LineError(uint64_t line, absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", reason));
}

// ---- CSV ----

// Splits a text into rows of fields.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : rest_(text.data(), text.size()) {
    absl::ConsumePrefix(&rest_, "\xef\xbb\xbf");
  }

  // The line at which the last row began.
  uint64_t line() const { return line_; }

  // Reads the next row that is not an empty line. Returns none at the end.
  absl::StatusOr<std::optional<std::vector<std::string>>> Next() {
    while (ConsumeLineBreak()) {
    }
    line_ = next_line_;
    if (rest_.empty()) return std::nullopt;
    std::vector<std::string> fields;
    do {
      STOKER_ASSIGN_OR_RETURN(std::string field, Field());
      fields.push_back(std::move(field));
    } while (absl::ConsumePrefix(&rest_, ","));
    if (!rest_.empty() && !ConsumeLineBreak()) return LineError(line_, "text after a closing quote");
    return fields;
  }

 private:
  bool ConsumeLineBreak() {
    if (!absl::ConsumePrefix(&rest_, "\r\n") && !absl::ConsumePrefix(&rest_, "\n")) return false;
    ++next_line_;
    return true;
  }

  absl::StatusOr<std::string> Field() {
    if (absl::ConsumePrefix(&rest_, "\"")) return Quoted();
    const size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    absl::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (!absl::StartsWith(rest_, ",")) absl::ConsumeSuffix(&field, "\r");
    return std::string(field);
  }

  absl::StatusOr<std::string> Quoted() {
    std::string field;
    while (true) {
      const size_t quote = rest_.find('"');
      if (quote == rest_.npos) return LineError(line_, "a quote is not closed");
      absl::StrAppend(&field, rest_.substr(0, quote));
      next_line_ += std::count(rest_.begin(), rest_.begin() + static_cast<int64_t>(quote), '\n');
      rest_.remove_prefix(quote + 1);
      if (!absl::ConsumePrefix(&rest_, "\"")) return field;
      field += '"';
    }
  }

  absl::string_view rest_;
  uint64_t line_ = 1, next_line_ = 1;
};

// Returns the place of the column `name` in the header, or `otherwise` where no name is given.
absl::StatusOr<size_t> Column(const std::vector<std::string>& header, const std::string& name, size_t otherwise) {
  if (name.empty()) {
    if (otherwise < header.size()) return otherwise;
    return LineError(1, "expected at least two columns, of files and labels");
  }
  const auto found = std::find(header.begin(), header.end(), name);
  if (found != header.end()) return found - header.begin();
  return LineError(1, absl::StrCat("there is no column '", ShortPrintableName(name),
                                   "'; the first row has: ", ShortPrintableName(absl::StrJoin(header, ", "))));
}

// ---- JSON ----

// Returns the text of a label, or of a file's path, at `key` of an object.
absl::StatusOr<std::string> TextAt(const Json& object, const std::string& key, uint64_t line, bool number_too) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end())
    return LineError(line, absl::StrCat("expected an object with the key '", ShortPrintableName(key), "'"));
  if (found->is_string()) return found->get<std::string>();
  if (number_too && found->is_number_integer()) return found->dump();
  return LineError(line, absl::StrCat("'", ShortPrintableName(key), "' is no text", number_too ? " or number" : ""));
}

absl::StatusOr<LabelRow> RowOf(const Json& object, const LabelColumns& columns, uint64_t line) {
  LabelRow row{.line = line};
  STOKER_ASSIGN_OR_RETURN(row.file, TextAt(object, columns.file.empty() ? kFileKey : columns.file, line, false));
  STOKER_ASSIGN_OR_RETURN(row.label, TextAt(object, columns.label.empty() ? kLabelKey : columns.label, line, true));
  return row;
}

// Parses one document, without exceptions and without deep nesting, which the parser would follow by recursion.
absl::StatusOr<Json> Document(std::string_view text, uint64_t line) {
  constexpr int kMostLevels = 64;
  bool too_deep = false;
  std::set<std::string> keys;  // holds those of the outermost object that were met
  std::string twice;           // is one that was met again
  const auto document = Json::parse(
      text,
      [&](int depth, Json::parse_event_t event, Json& value) {
        too_deep = too_deep || depth > kMostLevels;
        if (depth == 1 && event == Json::parse_event_t::key && !keys.insert(value.get<std::string>()).second)
          twice = value.get<std::string>();
        return !too_deep;
      },
      /*allow_exceptions=*/false);
  if (!twice.empty()) return LineError(line, absl::StrCat("'", ShortPrintableName(twice), "' is there twice"));
  if (too_deep) return LineError(line, "it is nested too deeply");
  if (document.is_discarded()) return LineError(line, "it is not JSON");
  return document;
}

}  // namespace

absl::StatusOr<std::vector<LabelRow>> ParseCsv(std::string_view text, const LabelColumns& columns) {
  CsvReader reader(text);
  STOKER_ASSIGN_OR_RETURN(const auto header, reader.Next());
  if (!header.has_value()) return LineError(1, "it is empty; its first row names the columns");
  STOKER_ASSIGN_OR_RETURN(const size_t file, Column(*header, columns.file, 0));
  STOKER_ASSIGN_OR_RETURN(const size_t label, Column(*header, columns.label, 1));
  std::vector<LabelRow> rows;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(auto fields, reader.Next());
    if (!fields.has_value()) return rows;
    if (fields->size() != header->size())
      return LineError(reader.line(),
                       absl::StrCat(fields->size(), " fields, where the first row has ", header->size()));
    rows.push_back({std::move((*fields)[file]), (*fields)[label], reader.line()});
  }
}

absl::StatusOr<std::vector<LabelRow>> ParseJson(std::string_view text, const LabelColumns& columns) {
  STOKER_ASSIGN_OR_RETURN(const Json document, Document(text, 1));
  std::vector<LabelRow> rows;
  uint64_t entry = 0;
  if (document.is_array()) {
    for (const Json& object : document) {
      STOKER_ASSIGN_OR_RETURN(LabelRow row, RowOf(object, columns, ++entry));
      rows.push_back(std::move(row));
    }
    return rows;
  }
  if (!document.is_object()) return LineError(1, "expected a list of objects, or an object whose keys are files");
  for (const auto& item : document.items()) {
    STOKER_ASSIGN_OR_RETURN(std::string label, TextAt(document, item.key(), ++entry, true));
    rows.push_back({item.key(), std::move(label), entry});
  }
  return rows;
}

absl::StatusOr<std::vector<LabelRow>> ParseJsonLines(std::string_view text, const LabelColumns& columns) {
  std::vector<LabelRow> rows;
  for (uint64_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view document = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (document.find_first_not_of(" \t\r") == document.npos) continue;
    STOKER_ASSIGN_OR_RETURN(const Json object, Document(document, line));
    STOKER_ASSIGN_OR_RETURN(LabelRow row, RowOf(object, columns, line));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stoker
