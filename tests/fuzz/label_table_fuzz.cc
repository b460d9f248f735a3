// Fuzzes the files of labels that an operator names: CSV, JSON and JSON lines, by the first byte. Whatever is taken has
// as many rows as the parser says, each with a line.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/read/formats/labeled/label_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto parse = data[0] % 3 == 0   ? stoker::ParseCsv
                     : data[0] % 3 == 1 ? stoker::ParseJson
                                        : stoker::ParseJsonLines;
  const auto rows = parse(text, {});
  if (!rows.ok()) return 0;
  uint64_t last = 0;
  for (const stoker::LabelRow& row : *rows) {
    if (row.line <= last || row.file.size() > size || row.label.size() > size) std::abort();
    last = row.line;
  }
  return 0;
}
