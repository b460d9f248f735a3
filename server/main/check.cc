#include "server/main/check.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <unordered_map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/identity/fingerprint.h"
#include "common/status_macros.h"
#include "server/augment/audio/audio_maker.h"
#include "server/augment/map.h"
#include "server/augment/sample_sizes.h"
#include "server/config/settings.h"
#include "server/decode/decoder.h"
#include "server/main/server.h"
#include "server/read/content/content_hashes.h"
#include "server/read/printable_name.h"
#include "server/scan/row_values.h"

namespace stoker {
namespace {

constexpr uint64_t kMostAudioBytes = uint64_t{1} << 30;
constexpr uint64_t kProbes = 64;  // samples that are read and decoded of each dataset

absl::Status Named(const Dataset& dataset, uint64_t id, const absl::Status& status) {
  return {status.code(), absl::StrCat("sample '", dataset.SampleName(id), "' (id ", id, "): ", status.message())};
}

absl::Status Probe(const Dataset& dataset, uint64_t id, SampleBytes& sample, Decoder& decoder, DecodedImage& image) {
  STOKER_RETURN_IF_ERROR(dataset.Read(id, sample));
  SampleSizes sizes;
  for (size_t i = 0; i < dataset.schema().size(); ++i) {
    const SourceField& field = dataset.schema()[i];
    if (const absl::Status rows = CheckRowValues(field, sample.fields[i]); !rows.ok())
      return NamedError(absl::StrCat("its field ", field.name), rows);
    if (field.meaning == v1::FIELD_KIND_AUDIO)
      if (const absl::Status audio = CheckAudio(field, sample.fields[i], {}, kMostAudioBytes); !audio.ok())
        return NamedError(absl::StrCat("its field ", field.name), audio);
    if (field.kind != SourceField::Kind::kEncodedImage) continue;
    const DecodeOptions options = {.content = ContentOf(field)};
    STOKER_ASSIGN_OR_RETURN(const ImageSize size, decoder.Open(sample.fields[i], options));
    STOKER_RETURN_IF_ERROR(decoder.Decode({{.size = size}}, image));
    STOKER_RETURN_IF_ERROR(sizes.Add(field.name, IsMap(field.meaning), size));
    if (IsMap(field.meaning)) STOKER_RETURN_IF_ERROR(CheckMapValues(image.view(), field.meaning, field.dtype));
  }
  return absl::OkStatus();
}

absl::Status ProbeSome(const std::string& name, const Dataset& dataset) {
  SampleBytes sample;
  Decoder decoder;
  DecodedImage image;
  const uint64_t probes = std::min(kProbes, dataset.size());
  for (uint64_t i = 0; i < probes; ++i) {
    const uint64_t id = dataset.size() / probes * i;
    if (auto status = Probe(dataset, id, sample, decoder, image); !status.ok())
      return absl::Status(status.code(), absl::StrCat("dataset '", name, "': ", Named(dataset, id, status).message()));
  }
  std::printf("dataset '%s': %s\n  %lu samples, fingerprint %s\n  %lu samples read and decoded\n", name.c_str(),
              dataset.description().c_str(), dataset.size(), absl::BytesToHexString(dataset.fingerprint()).c_str(),
              probes);
  return absl::OkStatus();
}

// Reads every sample of datasets, and compares them with what is known of them.
class ContentReader {
 public:
  static absl::StatusOr<ContentReader> Create(const ContentCheck& check) {
    ContentReader reader(check);
    if (!check.save.empty() && !(reader.save_ = std::ofstream(check.save)))
      return absl::UnavailableError(absl::StrCat("--save: cannot write ", check.save));
    if (check.against.empty()) return reader;
    std::ifstream file(check.against);
    if (!file) return absl::NotFoundError(absl::StrCat("--against: cannot read ", check.against));
    for (std::string line; std::getline(file, line);) {
      if (line.size() < kNameAt || line.substr(kNameAt - 2, 2) != "  ")
        return absl::InvalidArgumentError(
            absl::StrCat("--against: ", check.against, " is not what `stokerd check --save` writes"));
      reader.others_[line.substr(kNameAt)] = line.substr(0, kNameAt - 2);
    }
    return reader;
  }

  // Prints a hash of all bytes, and the first samples that are not as they should be. Returns how many they are, as an
  // error.
  absl::Status Read(const std::string& name, const Dataset& dataset) {
    Fingerprint all("");
    SampleBytes sample;
    uint64_t wrong = 0;
    for (uint64_t id = 0; id < dataset.size(); ++id) {
      absl::Status status = dataset.Read(id, sample);
      if (status.ok()) status = Compare(absl::StrCat(name, "/", dataset.SampleName(id)), sample);
      if (!status.ok() && ++wrong <= kMostNamed)
        std::printf("  %s\n", std::string(Named(dataset, id, status).message()).c_str());
      for (const auto& field : sample.fields) all.AddBytes({reinterpret_cast<const char*>(field.data()), field.size()});
      if (id % 1000 == 999) std::fprintf(stderr, "\r  %lu of %lu samples read", id + 1, dataset.size());
    }
    std::fprintf(stderr, "\r\033[K");
    if (wrong > 0)
      return absl::DataLossError(
          absl::StrCat("dataset '", name, "': ", wrong, " of ", dataset.size(),
                       " samples cannot be read, or have other bytes; the first are named above"));
    std::printf("  content SHA-256 %s\n", absl::BytesToHexString(all.Finish()).c_str());
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kNameAt = 66;  // in a line: after 64 digits and two spaces
  static constexpr uint64_t kMostNamed = 20;

  explicit ContentReader(const ContentCheck& check) : check_(check) {}

  absl::Status Compare(const std::string& name, const SampleBytes& sample) {
    if (check_.save.empty() && check_.against.empty()) return absl::OkStatus();
    const auto digest = HashesOf(sample).digest;
    const std::string hash = absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
    if (!check_.save.empty() && !(save_ << hash << "  " << name << "\n"))
      return absl::UnavailableError(absl::StrCat("--save: cannot write ", check_.save));
    if (check_.against.empty()) return absl::OkStatus();
    const auto other = others_.find(name);
    if (other == others_.end()) return absl::DataLossError(absl::StrCat("is not in ", check_.against));
    if (other->second == hash) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("its bytes are not those that ", check_.against, " has"));
  }

  const ContentCheck check_;
  std::ofstream save_;
  std::unordered_map<std::string, std::string> others_;  // hashes by "dataset/sample"
};

}  // namespace

absl::Status Check(const v1::ServerConfig& config, const ContentCheck& content) {
  STOKER_ASSIGN_OR_RETURN(ContentReader reader, ContentReader::Create(content));
  STOKER_ASSIGN_OR_RETURN(const Settings settings, Resolve(config));
  STOKER_ASSIGN_OR_RETURN(const Access::Options access, AccessOptions(config));
  STOKER_RETURN_IF_ERROR(Access::Create(access, absl::Now).status());
  STOKER_ASSIGN_OR_RETURN(const Datasets datasets, OpenDatasets(config, settings));
  Settings without_disk = settings;  // It may be in use.
  without_disk.raw_disk_path.clear();
  STOKER_RETURN_IF_ERROR(CreateEngine(config, settings, datasets, OpenRawCache(without_disk)).status());
  const bool all = content.read_all || !content.save.empty() || !content.against.empty();
  for (const auto& [name, dataset] : datasets) {
    absl::Status status = ProbeSome(name, *dataset);
    if (all)
      if (auto read = reader.Read(name, *dataset); !read.ok()) status = std::move(read);
    STOKER_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace stoker
