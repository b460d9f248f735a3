// dump-samples CONFIG.yaml [FOLDER]: opens the dataset that a DatasetConfig in YAML names and writes it to stdout.
// Compressed shards are decompressed into FOLDER. It writes:
//
//   a line of text for each of: fingerprint (hexadecimal), number of samples, each field ("name dtype [shape]" or "name
//   image", and where samples differ in size "name rows dtype [shape]", "name text" or "name bytes"), each warning
//   ("warning: …"), and an empty line for each sample its name and its fields, each as u64 length, little-endian, and
//   bytes
//
// Exits with 1 and an error on stderr where it cannot be opened or read.

#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/yaml_proto.h"
#include "common/status_macros.h"
#include "server/read/registry/open_dataset.h"
#include "server/read/staged/staging.h"

namespace stoker {
namespace {

void Write(const void* bytes, uint64_t size) {
  std::fwrite(&size, sizeof size, 1, stdout);
  std::fwrite(bytes, 1, size, stdout);
}

std::string WordsOf(const SourceField& field) {
  if (field.kind == SourceField::Kind::kEncodedImage) return field.name + " image";
  if (field.meaning == v1::FIELD_KIND_TEXT || field.meaning == v1::FIELD_KIND_BYTES)
    return absl::StrCat(field.name, " ", KindName(field.meaning));
  const bool is_rows = field.kind == SourceField::Kind::kRows;
  return absl::StrCat(field.name, is_rows ? " rows " : " ", DtypeName(field.dtype), " [",
                      absl::StrJoin(field.shape, ", "), "]");
}

absl::Status Dump(const char* path, const char* folder) {
  v1::DatasetConfig config;
  STOKER_RETURN_IF_ERROR(ReadYamlFile(path, config));
  OpenDatasetOptions options;
  if (folder != nullptr) {
    STOKER_ASSIGN_OR_RETURN(options.staging, Staging::Open({.path = folder, .size_bytes = uint64_t{1} << 30}));
  }
  STOKER_ASSIGN_OR_RETURN(const OpenedDataset opened, OpenDataset(config, options));
  const Dataset& dataset = *opened.dataset;
  std::printf("%s\n%llu\n", absl::BytesToHexString(dataset.fingerprint()).c_str(),
              static_cast<unsigned long long>(dataset.size()));
  for (const SourceField& field : dataset.schema()) std::printf("%s\n", WordsOf(field).c_str());
  for (const std::string& warning : opened.warnings) std::printf("warning: %s\n", warning.c_str());
  std::printf("\n");
  SampleBytes sample;
  for (uint64_t id = 0; id < dataset.size(); ++id) {
    STOKER_RETURN_IF_ERROR(dataset.Read(id, sample));
    const std::string name = dataset.SampleName(id);
    Write(name.data(), name.size());
    for (const auto& field : sample.fields) Write(field.data(), field.size());
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  const absl::Status dumped = argc == 2 || argc == 3
                                  ? stoker::Dump(argv[1], argv[2])
                                  : absl::InvalidArgumentError("usage: dump-samples CONFIG.yaml [FOLDER]");
  if (!dumped.ok()) std::fprintf(stderr, "%s\n", std::string(dumped.message()).c_str());
  return dumped.ok() ? 0 : 1;
}
