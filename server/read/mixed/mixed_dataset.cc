#include "server/read/mixed/mixed_dataset.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/identity/fingerprint.h"
#include "common/identity/mixed_parts.h"
#include "common/status_macros.h"
#include "google/protobuf/util/message_differencer.h"
#include "server/read/formats/mapping/variable_field.h"

namespace stoker {
namespace {

// The most positions of an epoch.
constexpr uint64_t kMostPositions = uint64_t{1} << 62;

bool AreEqual(const SourceField& a, const SourceField& b) {
  using google::protobuf::util::MessageDifferencer;
  const bool is_image = a.kind == SourceField::Kind::kEncodedImage;
  const bool has_dtype = !is_image || IsMap(a.meaning);
  return a.name == b.name && a.kind == b.kind && a.meaning == b.meaning && a.max_bytes == b.max_bytes &&
         a.box_format == b.box_format && a.dense_shape == b.dense_shape && a.audio == b.audio &&
         (!has_dtype || a.dtype == b.dtype) && (is_image || a.shape == b.shape) &&
         MessageDifferencer::Equals(a.prepared_settings, b.prepared_settings) &&
         std::equal(a.prepared.begin(), a.prepared.end(), b.prepared.begin(), b.prepared.end(),
                    [](const v1::Op& x, const v1::Op& y) { return MessageDifferencer::Equals(x, y); });
}

std::string WordsOf(const SourceSchema& schema) {
  return absl::StrJoin(schema, ", ", [](std::string* out, const SourceField& field) {
    const bool is_image = field.kind == SourceField::Kind::kEncodedImage;
    absl::StrAppend(out, field.name, " ");
    if (field.kind == SourceField::Kind::kRows) {
      absl::StrAppend(out, RowWords(field));
      return;
    }
    if (IsMap(field.meaning)) absl::StrAppend(out, KindName(field.meaning), " ");
    absl::StrAppend(out, is_image && !IsMap(field.meaning) ? "image" : DtypeName(field.dtype));
    if (!is_image) absl::StrAppend(out, " [", absl::StrJoin(field.shape, ", "), "]");
    if (!field.prepared.empty()) absl::StrAppend(out, ", prepared");
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<MixedDataset>> MixedDataset::Create(const v1::Mix& config, const FindDataset& find) {
  if (config.parts().empty()) return absl::InvalidArgumentError("mix: name at least one dataset");
  if (config.parts_size() > kMostMixedParts)
    return absl::InvalidArgumentError(
        absl::StrCat("mix: it has ", config.parts_size(), " parts, and ", kMostMixedParts, " are the most"));
  std::unique_ptr<MixedDataset> mixed(new MixedDataset());
  const bool weighted = config.parts(0).weight() != 0;
  uint64_t sum = 0;
  for (int i = 0; i < config.parts_size(); ++i) {
    const std::string key = absl::StrCat("mix.parts[", i, "]");
    STOKER_RETURN_IF_ERROR(mixed->Add(config.parts(i), key, find));
    if ((config.parts(i).weight() != 0) != weighted)
      return absl::InvalidArgumentError(absl::StrCat(key, ".weight: give weights to all parts or to none"));
    sum += config.parts(i).weight();
  }
  if (sum > kMostMixedWeight)
    return absl::InvalidArgumentError(absl::StrCat("mix: the weights' sum is above ", kMostMixedWeight));
  if (config.samples() != 0 && !weighted)
    return absl::InvalidArgumentError("mix.samples: needs weights; without them an epoch has each sample once");
  if (config.samples() > kMostPositions) return absl::InvalidArgumentError("mix.samples: is above 2^62");
  if (weighted) mixed->weights_.positions = config.samples();
  mixed->TakeIdentity();
  return mixed;
}

absl::Status MixedDataset::Add(const v1::MixPart& config, const std::string& key, const FindDataset& find) {
  auto dataset = find(config.dataset());
  if (dataset == nullptr)
    return absl::InvalidArgumentError(absl::StrCat(key, ".dataset: there is no dataset '", config.dataset(),
                                                   "' before this one in the configuration"));
  if (dataset->part_weights() != nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat(key, ".dataset: '", config.dataset(), "' has weights of its own; mix its parts instead"));
  const SourceSchema& schema = dataset->schema();
  if (!parts_.empty() &&
      !std::equal(schema.begin(), schema.end(), this->schema().begin(), this->schema().end(), AreEqual))
    return absl::InvalidArgumentError(absl::StrCat(key, ".dataset: '", config.dataset(), "' has the fields ",
                                                   WordsOf(schema), ", where '", parts_[0].name, "' has ",
                                                   WordsOf(this->schema())));
  const uint64_t begin = parts_.empty() ? 0 : size();
  parts_.push_back({config.dataset(), dataset, begin + dataset->size()});
  if (config.weight() != 0) weights_.parts.push_back({parts_.back().end, config.weight()});
  return absl::OkStatus();
}

void MixedDataset::TakeIdentity() {
  Fingerprint fingerprint("stoker.mix.v1"), content("stoker.mix_content.v1");
  fingerprint.AddNumber(parts_.size());
  fingerprint.AddNumber(weights_.positions);
  bool all_known = true;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Dataset& dataset = *parts_[i].dataset;
    fingerprint.AddNumber(weights_.parts.empty() ? 0 : weights_.parts[i].weight);
    fingerprint.AddNumber(dataset.size());
    fingerprint.AddBytes(dataset.fingerprint());
    content.AddBytes(dataset.content());
    all_known = all_known && !dataset.content().empty();
  }
  fingerprint_ = fingerprint.Finish();
  if (all_known) content_ = content.Finish();
  has_stored_ =
      std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.dataset->stored() != nullptr; });
  const Labels* first = parts_[0].dataset->labels();
  has_labels_ = std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    const Labels* labels = part.dataset->labels();
    return first != nullptr && labels != nullptr && labels->classes() == first->classes();
  });
}

const MixedDataset::Part& MixedDataset::PartOf(uint64_t id, uint64_t& own_id) const {
  const auto part =
      std::upper_bound(parts_.begin(), parts_.end(), id, [](uint64_t i, const Part& one) { return i < one.end; });
  own_id = id - (part == parts_.begin() ? 0 : (part - 1)->end);
  return *part;
}

std::string MixedDataset::description() const {
  return absl::StrCat("mix of ", absl::StrJoin(parts_, ", ", [&](std::string* out, const Part& part) {
                        absl::StrAppend(out, part.name);
                        if (!weights_.parts.empty())
                          absl::StrAppend(out, " × ", weights_.parts[&part - parts_.data()].weight);
                      }));
}

std::vector<MixedPart> MixedDataset::parts() const {
  std::vector<MixedPart> parts;
  for (size_t i = 0; i < parts_.size(); ++i)
    parts.push_back({parts_[i].name, parts_[i].end, weights_.parts.empty() ? 0 : weights_.parts[i].weight});
  return parts;
}

std::string MixedDataset::SampleName(uint64_t id) const {
  uint64_t own_id = 0;
  const Part& part = PartOf(id, own_id);
  return absl::StrCat(part.name, "/", part.dataset->SampleName(own_id));
}

uint64_t MixedDataset::StoredBytes(uint64_t id) const {
  uint64_t own_id = 0;
  const Part& part = PartOf(id, own_id);
  return part.dataset->StoredBytes(own_id);
}

bool MixedDataset::names_are_lasting() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.dataset->names_are_lasting(); });
}

LabelRun MixedDataset::RunAt(uint64_t id) const {
  uint64_t own_id = 0;
  const LabelRun run = PartOf(id, own_id).dataset->labels()->RunAt(own_id);
  return {.label = run.label, .end = run.end + (id - own_id)};
}

bool MixedDataset::Has(uint64_t id, FieldSet wanted) const {
  uint64_t own_id = 0;
  const StoredSamples* const stored = PartOf(id, own_id).dataset->stored();
  return stored != nullptr && stored->Has(own_id, wanted);
}

StoredSamples::Place MixedDataset::PlaceOf(uint64_t id, FieldSet wanted) const {
  uint64_t own_id = 0;
  const Part& part = PartOf(id, own_id);
  Place place = part.dataset->stored()->PlaceOf(own_id, wanted);
  place.object = place.object * parts_.size() + (&part - parts_.data());
  return place;
}

Store& MixedDataset::StoreOf(uint64_t object) const {
  return parts_[object % parts_.size()].dataset->stored()->StoreOf(object / parts_.size());
}

ObjectInfo MixedDataset::ObjectAt(uint64_t object) const {
  return parts_[object % parts_.size()].dataset->stored()->ObjectAt(object / parts_.size());
}

void MixedDataset::EndRead(uint64_t object) const {
  parts_[object % parts_.size()].dataset->stored()->EndRead(object / parts_.size());
}

absl::Status MixedDataset::Parse(uint64_t id, std::span<const uint8_t> stored, SampleBytes& sample) const {
  uint64_t own_id = 0;
  return PartOf(id, own_id).dataset->stored()->Parse(own_id, stored, sample);
}

absl::Status MixedDataset::ReadError(uint64_t id, const absl::Status& status) const {
  uint64_t own_id = 0;
  return PartOf(id, own_id).dataset->stored()->ReadError(own_id, status);
}

absl::Status MixedDataset::Read(uint64_t id, SampleBytes& sample) const {
  uint64_t own_id = 0;
  return PartOf(id, own_id).dataset->Read(own_id, sample);
}

}  // namespace stoker
