#include "server/read/registry/prepared_shards.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/config/yaml_proto.h"
#include "common/pipeline/pipeline.h"
#include "common/status_macros.h"
#include "server/read/formats/folder/prepared_folder.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 20;  // what ParseYaml takes

std::string FolderOf(const std::string& name) { return name.substr(0, name.rfind('/') + 1); }

std::optional<ObjectInfo> Find(const Source& source) {
  if (source.is_folder) {
    const auto found = std::find_if(source.objects.begin(), source.objects.end(),
                                    [](const ObjectInfo& object) { return object.name == kPreparedFile; });
    return found == source.objects.end() ? std::nullopt : std::optional(*found);
  }
  if (source.objects.empty()) return std::nullopt;
  const std::string folder = FolderOf(source.objects[0].name);
  for (const ObjectInfo& object : source.objects) {
    const std::string base = object.name.substr(FolderOf(object.name).size());
    const bool ours = base == "index.json" || (absl::StartsWith(base, "shard-") && absl::EndsWith(base, ".tar"));
    if (FolderOf(object.name) != folder || !ours) return std::nullopt;
  }
  // A store that hides what is not there says that it is forbidden.
  const auto described = source.store->Describe({folder + kPreparedFile});
  return described.ok() ? std::optional(described->front()) : std::nullopt;
}

PreparedImages ImagesOf(const v1::Prepared& prepared) {
  PreparedImages images;
  images.ops.assign(prepared.pipeline().ops().begin(), prepared.pipeline().ops().end());
  images.settings = DecodeSettings(prepared.pipeline());
  for (const std::string& part :
       {prepared.folder_fingerprint(), prepared.pipeline().SerializeAsString(), prepared.pixel_check()})
    absl::StrAppend(&images.identity, part.size(), ":", part);
  absl::StrAppend(&images.identity, prepared.pixel_version());
  return images;
}

}  // namespace

absl::StatusOr<PreparedShards> PreparedBeside(const Source& source) {
  PreparedShards found;
  const auto object = Find(source);
  if (!object.has_value()) return found;
  if (object->size > kMostBytes) return NamedError(object->name, absl::InvalidArgumentError("is too large"));
  std::string text(object->size, '\0');
  STOKER_RETURN_IF_ERROR(ReadNow(*source.store, {&*object, 0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}}));
  v1::Prepared prepared;
  STOKER_RETURN_IF_ERROR(ParseYaml(text, ShortPrintableName(object->name), prepared));
  if (const absl::Status servable = CheckServable(prepared); !servable.ok())
    return NamedError(source.store->description(), servable);
  found.columns.assign(prepared.shards().columns().begin(), prepared.shards().columns().end());
  if (prepared.has_pipeline()) found.images = ImagesOf(prepared);
  return found;
}

v1::DatasetConfig WithFields(v1::DatasetConfig config, const std::vector<v1::PreparedColumn>& columns) {
  if (!config.has_webdataset() || !config.webdataset().fields().empty()) return config;
  for (const v1::PreparedColumn& column : columns)
    (*config.mutable_webdataset()->mutable_fields())[column.field()].set_from(column.member());
  return config;
}

}  // namespace stoker
