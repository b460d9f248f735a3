// Fuzzes what reads tar shards: by the first byte the archive itself, DALI's .idx, the lists of wids, or numbers of a
// JSON document. All members that are taken lie in the archive, and all samples of an index are consistent.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "server/read/formats/tar/dali_index.h"
#include "server/read/formats/tar/json_number.h"
#include "server/read/formats/tar/json_rows.h"
#include "server/read/formats/tar/sample_rows.h"
#include "server/read/formats/tar/tar_reader.h"
#include "server/read/formats/tar/wids_index.h"

namespace stoker {
namespace {

// The input as the only object.
class Memory final : public Store {
 public:
  explicit Memory(std::string_view bytes) : bytes_(bytes) {}
  std::string description() const override { return "memory"; }
  bool is_remote() const override { return false; }
  absl::StatusOr<std::vector<ObjectInfo>> List(const Listing&) override { return absl::UnimplementedError("no list"); }
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>&) override {
    return absl::NotFoundError("nothing else");
  }
  void Read(const Range& range, Done done) override {
    if (range.offset > bytes_.size() || range.into.size() > bytes_.size() - range.offset) std::abort();
    if (!range.into.empty()) std::memcpy(range.into.data(), bytes_.data() + range.offset, range.into.size());
    done(absl::OkStatus());
  }

 private:
  const std::string_view bytes_;
};

void ReadTar(std::string_view bytes) {
  Memory store(bytes);
  const ObjectInfo object = {"a.tar", bytes.size(), ""};
  TarReader reader(store, object);
  const std::vector<Extensions> wanted = {{"jpg", "png"}, {"cls"}};
  SampleRows rows(wanted);
  for (;;) {
    const auto member = reader.Next();
    if (!member.ok() || !member->has_value()) break;
    if ((*member)->offset > bytes.size() || (*member)->size > bytes.size() - (*member)->offset) std::abort();
    if ((*member)->name.find('\0') != std::string::npos) std::abort();
    if (!rows.Add(**member).ok()) return;
  }
  const auto finished = rows.Finish();
  if (!finished.ok()) return;
  ShardIndex index;
  index.parts = 2;
  index.Append(object, *finished);
  if (!index.IsConsistent()) std::abort();
}

// All that is taken as rows is whole rows, and what has a number there has a row of one.
void ReadJson(std::string_view document, const JsonPath& path) {
  const SourceField numbers = {.kind = SourceField::Kind::kRows, .dtype = v1::DTYPE_FLOAT64},
                    boxes = {.kind = SourceField::Kind::kRows, .dtype = v1::DTYPE_INT16, .shape = {2, 2}};
  std::vector<uint8_t> rows;
  if (RowsAt(document, path, boxes, rows).ok() && rows.size() % 8 != 0) std::abort();
  const bool has_rows = RowsAt(document, path, numbers, rows).ok();
  if (LeadsToMany(path)) return;
  if (NumberAt(document, path).ok() && (!has_rows || rows.size() != sizeof(double))) std::abort();
  (void)TextAt(document, path);
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: stoker::ReadTar(text); break;
    case 1:
      if (const auto members = stoker::ParseDaliIndex(text); members.ok())
        for (const stoker::TarMember& member : *members)
          if (member.offset < stoker::kTarBlock || member.name.size() > size) std::abort();
      break;
    case 2:
      if (const auto shards = stoker::ParseWidsIndex(text); shards.ok())
        for (const stoker::WidsShard& shard : *shards)
          if (shard.name.empty() || shard.name[0] == '/' || shard.name.find("..") == 0) {
            if (shard.name.size() > 2 && shard.name[2] != '/') continue;  // "..a" is a name.
            std::abort();
          }
      break;
    default: {
      const size_t line = text.find('\n');
      const auto path = stoker::ParseJsonPath(text.substr(0, line));
      if (path.ok() && line != text.npos) stoker::ReadJson(text.substr(line + 1), *path);
    }
  }
  return 0;
}
