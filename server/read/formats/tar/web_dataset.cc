#include "server/read/formats/tar/web_dataset.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/fields/schema.h"
#include "common/status_macros.h"
#include "server/read/formats/mapping/variable_field.h"
#include "server/read/formats/tar/dali_index.h"
#include "server/read/formats/tar/tar_reader.h"
#include "server/read/formats/tar/wids_index.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr size_t kLearnFrom = 64;  // samples
constexpr uint64_t kMostListBytes = uint64_t{64} << 20;

// The members of one sample, by their extensions, in their order.
using Sample = std::vector<std::pair<std::string, TarMember>>;

absl::StatusOr<std::vector<Sample>> FirstSamples(Store& store, const ObjectInfo& shard) {
  TarReader reader(store, shard);
  std::vector<Sample> samples;
  std::string key;
  for (;;) {
    STOKER_ASSIGN_OR_RETURN(auto member, reader.Next());
    if (!member.has_value()) return samples;
    auto name = SplitMemberName(member->name);
    if (!name.has_value()) continue;
    if (samples.empty() || name->key != key) {
      if (samples.size() == kLearnFrom) return samples;
      samples.emplace_back();
      key = name->key;
    }
    samples.back().emplace_back(std::move(name->extension), *std::move(member));
  }
}

std::vector<Extensions> ExtensionsOf(const std::vector<Sample>& samples) {
  std::vector<Extensions> all;
  for (const Sample& sample : samples) {
    all.emplace_back();
    for (const auto& [extension, member] : sample) all.back().push_back(extension);
  }
  return all;
}

std::string AllExtensions(const std::vector<Sample>& samples) {
  std::set<std::string> all;
  for (const Sample& sample : samples)
    for (const auto& [extension, member] : sample) all.insert("." + ShortPrintableName(extension));
  return absl::StrJoin(all, ", ");
}

// Returns the sample's member that the field is taken from, if it has one.
const TarMember* MemberOf(const Sample& sample, const TarField& field) {
  for (const std::string& extension : field.extensions)
    for (const auto& [has, member] : sample)
      if (has == extension) return &member;
  return nullptr;
}

absl::Status LearnField(Store& store, const ObjectInfo& shard, const std::vector<Sample>& samples, TarField& field) {
  const auto error = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat("fields.", ShortPrintableName(field.field.name), ": ", what));
  };
  const Learning learning = LearningOf(field);
  std::vector<std::vector<uint8_t>> members;
  for (const Sample& sample : samples) {
    const TarMember* member = MemberOf(sample, field);
    if (member == nullptr) continue;
    members.emplace_back(std::min(member->size, learning.bytes));
    if (!members.back().empty()) STOKER_RETURN_IF_ERROR(ReadNow(store, {&shard, member->offset, members.back()}));
    if (members.size() == learning.members) break;
  }
  if (members.empty())
    return error(absl::StrCat("none of the first samples of ", ShortPrintableName(shard.name), " has a member ",
                              WordsOf(field.extensions), "; they have ", AllExtensions(samples)));
  const absl::Status learned = Learn(members, field);
  if (!learned.ok())
    return error(absl::StrCat("the first member ", WordsOf(field.extensions), " of ", ShortPrintableName(shard.name),
                              ": ", learned.message()));
  return absl::OkStatus();
}

// Replaces the list of shards by those that it lists.
absl::StatusOr<std::map<std::string, uint64_t>> TakeList(Store& store, std::vector<ObjectInfo>& objects) {
  const ObjectInfo list = objects[0];
  if (list.size > kMostListBytes) return NamedError(list.name, absl::InvalidArgumentError("is too large for a list"));
  std::vector<uint8_t> bytes(list.size);
  STOKER_RETURN_IF_ERROR(ReadNow(store, {&list, 0, bytes}));
  auto shards = ParseWidsIndex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!shards.ok()) return NamedError(list.name, shards.status());
  const std::string folder = list.name.substr(0, list.name.rfind('/') + 1);
  std::map<std::string, uint64_t> listed;
  std::vector<std::string> names;
  for (const WidsShard& shard : *shards) {
    if (!listed.emplace(folder + shard.name, shard.samples).second)
      return NamedError(list.name,
                        absl::InvalidArgumentError(absl::StrCat("lists ", ShortPrintableName(shard.name), " twice")));
  }
  names.reserve(listed.size());
  for (const auto& [name, count] : listed) names.push_back(name);
  STOKER_ASSIGN_OR_RETURN(objects, store.Describe(names));
  std::map<std::string, uint64_t> samples;  // A shard that is listed compressed is described as it is decompressed.
  for (size_t i = 0; i < names.size(); ++i) samples.emplace(objects[i].name, listed.at(names[i]));
  return samples;
}

std::vector<Extensions> WantedBy(const std::vector<TarField>& fields) {
  std::vector<Extensions> wanted;
  for (const TarField& field : fields)
    if (std::find(wanted.begin(), wanted.end(), field.extensions) == wanted.end()) wanted.push_back(field.extensions);
  return wanted;
}

std::vector<size_t> PartsOf(const std::vector<TarField>& fields, const std::vector<Extensions>& wanted) {
  std::vector<size_t> parts;
  parts.reserve(fields.size());
  for (const TarField& field : fields)
    parts.push_back(std::find(wanted.begin(), wanted.end(), field.extensions) - wanted.begin());
  return parts;
}

// Returns of which wanted members an empty one is a field's value.
std::vector<bool> EmptyAmong(const std::vector<TarField>& fields, const std::vector<size_t>& parts, size_t count) {
  std::vector<bool> may_be_empty(count);
  for (size_t i = 0; i < fields.size(); ++i)
    if (MayBeEmpty(fields[i])) may_be_empty[parts[i]] = true;
  return may_be_empty;
}

SourceSchema SchemaOf(const std::vector<TarField>& fields) {
  SourceSchema schema;
  for (const TarField& field : fields) schema.push_back(field.field);
  return schema;
}

}  // namespace

WebDataset::WebDataset(std::vector<TarField> fields, std::map<std::string, uint64_t> samples,
                       std::vector<std::string> warnings)
    : fields_(std::move(fields)),
      schema_(SchemaOf(fields_)),
      wanted_(WantedBy(fields_)),
      part_of_(PartsOf(fields_, wanted_)),
      may_be_empty_(EmptyAmong(fields_, part_of_, wanted_.size())),
      samples_(std::move(samples)),
      warnings_(std::move(warnings)) {}

absl::StatusOr<std::unique_ptr<WebDataset>> WebDataset::Create(const v1::WebDataset& config, Store& store,
                                                               std::vector<ObjectInfo>& objects) {
  std::map<std::string, uint64_t> counts;
  if (objects.size() == 1 && absl::EndsWith(objects[0].name, ".json")) {
    STOKER_ASSIGN_OR_RETURN(counts, TakeList(store, objects));
  }
  STOKER_ASSIGN_OR_RETURN(auto fields, FieldsOf(config.fields()));
  std::vector<Sample> samples;
  size_t shard = 0;
  for (; shard < objects.size(); ++shard) {
    STOKER_ASSIGN_OR_RETURN(samples, FirstSamples(store, objects[shard]));
    if (!samples.empty()) break;
  }
  if (samples.empty())
    return NamedError(objects[0].name, absl::InvalidArgumentError("there is no sample in the shards: a member's name "
                                                                  "needs an extension, as in 0001.jpg"));
  std::vector<std::string> warnings;
  if (fields.empty()) {
    FoundFields found = FindFields(ExtensionsOf(samples));
    if (!found.left_out.empty())
      warnings.push_back(absl::StrCat("left out the members ", ShortPrintableName(WordsOf(found.left_out)),
                                      ": they have no fixed size, or their field is not known; `fields` can name one, "
                                      "by {kind: text, max_bytes: …} or the like where samples differ in size"));
    if (found.fields.empty())
      return NamedError(objects[shard].name,
                        absl::InvalidArgumentError(absl::StrCat("no member has a known kind: there are ",
                                                                AllExtensions(samples), "; name some in `fields`")));
    fields = std::move(found.fields);
  }
  for (TarField& field : fields) STOKER_RETURN_IF_ERROR(LearnField(store, objects[shard], samples, field));
  return std::unique_ptr<WebDataset>(new WebDataset(std::move(fields), std::move(counts), std::move(warnings)));
}

std::string WebDataset::identity() const {
  std::string identity = "webdataset.v1";
  for (const TarField& field : fields_) {
    absl::StrAppend(&identity, "\n", field.field.name, "=", absl::StrJoin(field.extensions, ";"));
    if (!field.path_text.empty()) absl::StrAppend(&identity, " ", field.path_text);
    if (field.field.kind == SourceField::Kind::kRows) {
      absl::StrAppend(&identity, " ", RowWords(field.field));
      continue;
    }
    if (IsMap(field.field.meaning)) absl::StrAppend(&identity, " ", KindName(field.field.meaning));
    if (field.kind == MemberKind::kImage) {
      if (IsMap(field.field.meaning)) absl::StrAppend(&identity, " ", DtypeName(field.field.dtype));
      continue;
    }
    absl::StrAppend(&identity, " ", DtypeName(field.field.dtype), " [", absl::StrJoin(field.field.shape, ", "), "]");
  }
  return identity;
}

absl::StatusOr<ShardIndex::Rows> WebDataset::Index(Store& store, const ObjectInfo& shard) const {
  SampleRows rows(wanted_, may_be_empty_);
  absl::Status status;
  if (const auto members = MembersByDaliIndex(store, shard); members.ok()) {
    for (const TarMember& member : *members)
      if (status = rows.Add(member); !status.ok()) break;
  } else {
    TarReader reader(store, shard);
    for (;;) {
      STOKER_ASSIGN_OR_RETURN(const auto member, reader.Next());
      if (!member.has_value()) break;
      if (status = rows.Add(*member); !status.ok()) break;
    }
  }
  if (!status.ok()) return NamedError(shard.name, status);
  auto finished = rows.Finish();
  if (!finished.ok()) return NamedError(shard.name, finished.status());
  const auto told = samples_.find(shard.name);
  if (told != samples_.end() && told->second != rows.groups())
    return NamedError(shard.name, absl::DataLossError(absl::StrCat("has ", rows.groups(),
                                                                   " samples, where the list of "
                                                                   "shards tells of ",
                                                                   told->second)));
  return finished;
}

absl::Status WebDataset::Parse(std::span<const uint8_t> stored, std::span<const StoredPart> parts,
                               SampleBytes& sample) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (!sample.wanted.Has(i)) continue;
    const StoredPart part = parts[part_of_[i]];
    const auto error = [&](absl::string_view what) {
      return absl::DataLossError(absl::StrCat("its member ", WordsOf(fields_[i].extensions), " ", what));
    };
    const bool is_empty_value = MayBeEmpty(fields_[i]) && part.offset > 0;
    if (part.size == 0 && !is_empty_value) return error("is missing or empty");
    if (part.offset > stored.size() || part.size > stored.size() - part.offset) return error("is cut short");
    const absl::Status taken = Take(fields_[i], stored.subspan(part.offset, part.size), sample.fields[i]);
    if (!taken.ok()) return error(taken.message());
  }
  return absl::OkStatus();
}

}  // namespace stoker
