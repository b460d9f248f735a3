#include "server/main/check.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/config/settings.h"
#include "server/decode/decoder.h"
#include "server/main/server.h"

namespace stoker {
namespace {

constexpr uint64_t kProbes = 64;  // samples that are read and decoded of each dataset

absl::Status Named(const Dataset& dataset, uint64_t id, const absl::Status& status) {
  return {status.code(), absl::StrCat("sample '", dataset.SampleName(id), "' (id ", id, "): ", status.message())};
}

absl::Status Probe(const Dataset& dataset, uint64_t id, SampleBytes& sample, Decoder& decoder, DecodedImage& image) {
  STOKER_RETURN_IF_ERROR(dataset.Read(id, sample));
  for (size_t i = 0; i < dataset.schema().size(); ++i) {
    if (dataset.schema()[i].kind != SourceField::Kind::kEncodedImage) continue;
    STOKER_ASSIGN_OR_RETURN(const ImageSize size, decoder.Open(sample.fields[i], {}));
    STOKER_RETURN_IF_ERROR(decoder.Decode({{.size = size}}, image));
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

absl::Status HashContent(const std::string& name, const Dataset& dataset) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> sha(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(sha.get(), EVP_sha256(), nullptr);
  SampleBytes sample;
  for (uint64_t id = 0; id < dataset.size(); ++id) {
    if (auto status = dataset.Read(id, sample); !status.ok())
      return absl::Status(status.code(), absl::StrCat("dataset '", name, "': ", Named(dataset, id, status).message()));
    for (const auto& field : sample.fields) EVP_DigestUpdate(sha.get(), field.data(), field.size());
    if (id % 1000 == 999) std::fprintf(stderr, "\r  %lu of %lu samples read", id + 1, dataset.size());
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(sha.get(), digest, &size);
  std::fprintf(stderr, "\r\033[K");
  std::printf("  content SHA-256 %s\n",
              absl::BytesToHexString(std::string(reinterpret_cast<char*>(digest), size)).c_str());
  return absl::OkStatus();
}

}  // namespace

absl::Status Check(const v1::ServerConfig& config, bool content) {
  STOKER_ASSIGN_OR_RETURN(const Settings settings, Resolve(config));
  STOKER_ASSIGN_OR_RETURN(const Datasets datasets, OpenDatasets(config, settings));
  STOKER_RETURN_IF_ERROR(CreateEngine(config, settings, datasets).status());
  for (const auto& [name, dataset] : datasets) {
    STOKER_RETURN_IF_ERROR(ProbeSome(name, *dataset));
    if (content) STOKER_RETURN_IF_ERROR(HashContent(name, *dataset));
  }
  return absl::OkStatus();
}

}  // namespace stoker
