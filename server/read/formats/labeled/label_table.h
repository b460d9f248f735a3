#ifndef STOKER_SERVER_READ_FORMATS_LABELED_LABEL_TABLE_H_
#define STOKER_SERVER_READ_FORMATS_LABELED_LABEL_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// A row of a file of labels.
struct LabelRow {
  std::string file, label;
  uint64_t line = 0;  // where the row begins, counted from 1; in a .json file the number of the entry
};

// The names of the two columns that are wanted. Where one is empty, the default of config.proto's LabeledFolder counts.
struct LabelColumns {
  std::string file, label;
};

// These parse the text of a file, any text, by what config.proto's LabeledFolder says of it. Errors are InvalidArgument
// and name the line and what was expected there. Pure functions.
//
// CSV is that of RFC 4180: fields between commas, those in quotes may hold commas, line breaks and doubled quotes.
// Lines end in \n or \r\n, a byte-order mark is skipped, and so are empty lines. In JSON a label is a string or a whole
// number, and other keys of an object do not matter.
absl::StatusOr<std::vector<LabelRow>> ParseCsv(std::string_view text, const LabelColumns& columns);
absl::StatusOr<std::vector<LabelRow>> ParseJson(std::string_view text, const LabelColumns& columns);
absl::StatusOr<std::vector<LabelRow>> ParseJsonLines(std::string_view text, const LabelColumns& columns);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_LABELED_LABEL_TABLE_H_
