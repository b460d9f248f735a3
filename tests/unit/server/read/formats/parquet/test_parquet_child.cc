// Stands in for stoker-parquet. A footer is a text with a letter for each row group, all of which have one column
// "label" and its 8 bytes at 4: two rows of these bytes, of which all come out of what was asked
//
//   o  as they should       c  by a crash       r  refused: "it is odd"       n  as nulls
//   l  with a row too many  g  as garbage       e  there is no row            b  it lies beyond the file
//   h  there are 2^62 rows
//   d  as `t`, but refused where "label" is among what is asked for
//   t  as they should, and so does a column "low" of the first 4 of these bytes, which every row group has then

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "server/read/child/serve.h"
#include "server/read/formats/parquet/messages.h"

namespace stoker {
namespace {

ChildReply Describe(std::string_view letters) {
  ParquetFooter footer{
      .columns = {{.name = "label", .type = ColumnType::kInt64, .width = 8}, {.name = "caption", .why = "is text"}}};
  if (letters[0] == 't') footer.columns.push_back({.name = "low", .type = ColumnType::kInt32, .width = 4});
  for (const char letter : letters) {
    if (letter == 'x') throw std::runtime_error("it is no footer");
    const uint64_t rows = letter == 'e' ? 0 : letter == 'h' ? uint64_t{1} << 62 : 2;
    footer.row_groups.push_back(
        {rows, std::string(1, letter), {{letter == 'b' ? uint64_t{1} << 40 : 4, 8, 16}, {4, 1, 1}}});
    if (letter == 't' || letter == 'd') footer.row_groups.back().chunks.push_back({4, 4, 8});
  }
  return {ChildVerdict::kDone, SerializeFooter(footer)};
}

ChildReply Decode(const DecodeRequest& request, std::string_view bytes) {
  DecodedColumns columns{.rows = 2};
  const std::string twice = std::string(bytes) + std::string(bytes);
  switch (request.footer[0]) {
    case 'c': std::signal(SIGABRT, SIG_DFL); std::abort();
    case 'r': throw std::runtime_error("it is odd");
    case 'g': return {ChildVerdict::kDone, "garbage"};
    case 'n': columns.columns = {{.sizes = {8, kNullRow}, .bytes = bytes}}; break;
    case 'l':
      columns.rows = 3;
      columns.columns = {{.sizes = {8, 8, 0}, .bytes = twice}};
      break;
    case 'd':
      for (const DecodeRequest::Wanted& wanted : request.columns)
        if (wanted.column == 0) throw std::runtime_error("it is odd");
      [[fallthrough]];
    case 't': {
      std::vector<std::string> values;
      for (const DecodeRequest::Wanted& wanted : request.columns) {
        const std::string value(bytes.substr(0, wanted.column == 0 ? 8 : 4));
        values.push_back(value + value);
      }
      for (const std::string& value : values)
        columns.columns.push_back({.sizes = std::vector(2, static_cast<uint32_t>(value.size() / 2)), .bytes = value});
      return {ChildVerdict::kDone, SerializeColumns(columns)};
    }
    default: columns.columns = {{.sizes = {8, 8}, .bytes = twice}}; break;
  }
  return {ChildVerdict::kDone, SerializeColumns(columns)};
}

ChildReply Answer(std::span<const uint8_t> bytes) {
  const std::string_view message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (message[0] == 'f') return Describe(message.substr(9));
  DecodeRequest request;
  std::string_view ranges;
  if (!ParseRequest(message, request, ranges)) throw std::runtime_error("no request");
  return Decode(request, ranges);
}

}  // namespace
}  // namespace stoker

int main() { return stoker::ServeRequests(stoker::Answer); }
