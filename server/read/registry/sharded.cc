#include "server/read/registry/sharded.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/formats/features/feature_vectors.h"
#include "server/read/formats/hdf5/hdf5_dataset.h"
#include "server/read/formats/lmdb/lmdb.h"
#include "server/read/formats/mds/mds.h"
#include "server/read/formats/tar/web_dataset.h"
#include "server/read/formats/tfrecord/foreign_index.h"
#include "server/read/formats/tfrecord/record.h"
#include "server/read/formats/tfrecord/tfrecord.h"
#include "server/read/printable_name.h"
#include "server/read/registry/index_beside.h"
#include "server/read/registry/open_source.h"
#include "server/read/registry/prepared_shards.h"
#include "server/read/staged/staged_store.h"

namespace stoker {
namespace {

// So many objects of a folder show which format they have.
constexpr uint64_t kEnough = 1000;

constexpr char kMdsIndex[] = "index.json";
constexpr char kHdf5Signature[] = "\x89HDF\r\n\x1a\n";

template <typename Format>
std::vector<std::string> PathsOf(const Format& format) {
  return {format.path().begin(), format.path().end()};
}

// Returns the paths of the index.json files, which name the shards, so that stores need not list.
std::vector<std::string> MdsPathsOf(const v1::Mds& config) {
  std::vector<std::string> paths;
  for (const std::string& path : config.path()) {
    const bool is_index = path == kMdsIndex || absl::EndsWith(path, absl::StrCat("/", kMdsIndex));
    paths.push_back(is_index || path.empty() ? path
                                             : absl::StrCat(path, absl::EndsWith(path, "/") ? "" : "/", kMdsIndex));
  }
  return paths;
}

// Returns the paths of the data files. What cannot be listed has one of the usual name.
std::vector<std::string> LmdbPathsOf(const v1::Lmdb& config) {
  std::vector<std::string> paths = PathsOf(config);
  for (std::string& path : paths)
    if (absl::StartsWith(path, "http") && IsUrl(path) && absl::EndsWith(path, "/")) path += "data.mdb";
  return paths;
}

// Returns the paths of a dataset of shards.
std::vector<std::string> PathsOf(const v1::DatasetConfig& config) {
  switch (config.source_case()) {
    case v1::DatasetConfig::kWebdataset: return PathsOf(config.webdataset());
    case v1::DatasetConfig::kTfrecord: return PathsOf(config.tfrecord());
    case v1::DatasetConfig::kMds: return MdsPathsOf(config.mds());
    case v1::DatasetConfig::kLmdb: return LmdbPathsOf(config.lmdb());
    case v1::DatasetConfig::kFeatureVectors: return PathsOf(config.feature_vectors());
    case v1::DatasetConfig::kParquet: return PathsOf(config.parquet());
    case v1::DatasetConfig::kHdf5: return PathsOf(config.hdf5());
    default: return {};
  }
}

// Keeps the objects of a folder whose names end with one of `suffixes`. What paths name one by one is kept whatever its
// name.
absl::Status KeepOnly(const std::vector<std::string>& suffixes, Source& source) {
  const auto keeps = [&](const ObjectInfo& object) {
    return std::any_of(suffixes.begin(), suffixes.end(),
                       [&](const std::string& suffix) { return absl::EndsWith(object.name, suffix); });
  };
  if (source.is_folder) std::erase_if(source.objects, [&](const ObjectInfo& object) { return !keeps(object); });
  if (!source.objects.empty()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(source.store->description(), ": there is no ", suffixes[0], " file"));
}

// Makes the format for TFRecord files, and leaves these in `source`.
absl::StatusOr<std::unique_ptr<ShardFormat>> CreateTfRecord(const v1::TfRecord& config, StagedStore& staged,
                                                            Source& source) {
  TfRecord::Indexes indexes{.all_found = source.is_folder};
  for (const ObjectInfo& object : source.objects)
    if (IsForeignIndexName(object.name)) indexes.found.emplace(object.name, object);
  std::erase_if(source.objects, [&](const ObjectInfo& object) {
    return source.is_folder ? !TfRecord::IsShardName(PlainName(object.name)) : IsForeignIndexName(object.name);
  });
  if (source.objects.empty())
    return absl::NotFoundError(absl::StrCat(source.store->description(), ": there is no TFRecord file"));
  STOKER_ASSIGN_OR_RETURN(source.objects, staged.Stage(source.objects, /*by_beginning=*/true));
  return TfRecord::Create(config, *source.store, source.objects, std::move(indexes));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ShardFormat>> CreateFormat(const v1::DatasetConfig& config, StagedStore& staged,
                                                          Source& source) {
  switch (config.source_case()) {
    case v1::DatasetConfig::kFeatureVectors:
      STOKER_RETURN_IF_ERROR(KeepOnly({".npy"}, source));
      return FeatureVectors::Create(config.feature_vectors(), *source.store, source.objects);
    case v1::DatasetConfig::kMds: {
      const std::vector<ObjectInfo> indexes = std::move(source.objects);
      return Mds::Create(config.mds(), *source.store, indexes, source.objects);
    }
    case v1::DatasetConfig::kLmdb:
      // An environment keeps its locks in a file beside its data.
      std::erase_if(source.objects, [](const ObjectInfo& object) {
        return absl::EndsWith(object.name, "lock.mdb") || absl::EndsWith(object.name, "-lock");
      });
      STOKER_RETURN_IF_ERROR(KeepOnly({".mdb", ".lmdb"}, source));
      return Lmdb::Create(config.lmdb(), *source.store, source.objects);
    case v1::DatasetConfig::kTfrecord: return CreateTfRecord(config.tfrecord(), staged, source);
    case v1::DatasetConfig::kWebdataset: {
      STOKER_RETURN_IF_ERROR(KeepOnly({".tar", ".tar.gz", ".tgz", ".tar.zst"}, source));
      STOKER_ASSIGN_OR_RETURN(source.objects, staged.Stage(source.objects, /*by_beginning=*/false));
      return WebDataset::Create(config.webdataset(), *source.store, source.objects);
    }
    default: return absl::InternalError("the configuration names no format of shards");
  }
}

namespace {

// Whether a source has TFRecord files: by their names, or by what they are where these alone do not tell.
absl::StatusOr<bool> HasRecords(const Source& source) {
  const auto shard = std::find_if(source.objects.begin(), source.objects.end(), [](const ObjectInfo& object) {
    return TfRecord::IsShardName(PlainName(object.name));
  });
  if (shard == source.objects.end()) return false;
  if (absl::StrContains(shard->name, ".tfrec") || CompressionOf(shard->name).has_value()) return true;
  std::vector<uint8_t> begin(std::min<uint64_t>(shard->size, 4));
  STOKER_RETURN_IF_ERROR(ReadNow(*source.store, {&*shard, 0, begin}));
  if (CompressionByBeginning(begin).has_value()) return true;
  return BeginsWithRecord(*source.store, *shard);
}

// Returns `config` with the format that the index beside the shards names. The listing's error where there is none.
absl::StatusOr<v1::DatasetConfig> FormatByIndex(const Source& source, const v1::DatasetConfig& config) {
  const IndexBeside beside = IndexBeside::Find(source);
  if (!beside.is_there()) return source.listed;
  STOKER_RETURN_IF_ERROR(beside.status());
  v1::DatasetConfig found = config;
  const auto* const key = found.GetDescriptor()->FindFieldByName(beside.source());
  const bool is_source = key != nullptr && key->containing_oneof() != nullptr && key->message_type() != nullptr;
  const auto* const path = is_source ? key->message_type()->FindFieldByName("path") : nullptr;
  if (path == nullptr || !path->is_repeated() || key->containing_oneof()->name() != "source")
    return NamedError(kPublishedIndex, absl::InvalidArgumentError(
                                           absl::StrCat("is of the format ", ShortPrintableName(beside.source()),
                                                        ", which this server does not know; is it of a newer one?")));
  auto* const message = found.GetReflection()->MutableMessage(&found, key);
  message->GetReflection()->AddString(message, path, config.data());
  return found;
}

// Whether a source is a file that begins as HDF5, whatever its name.
absl::StatusOr<bool> IsHdf5(const Source& source) {
  const ObjectInfo& object = source.objects[0];
  if (source.is_folder || object.size < sizeof kHdf5Signature - 1) return false;
  std::string begin(sizeof kHdf5Signature - 1, '\0');
  STOKER_RETURN_IF_ERROR(
      ReadNow(*source.store, {&object, 0, {reinterpret_cast<uint8_t*>(begin.data()), begin.size()}}));
  return begin == kHdf5Signature;
}

}  // namespace

std::vector<std::string> ShardPaths(const v1::DatasetConfig& config) { return PathsOf(config); }

std::string SourceKey(const v1::DatasetConfig& config) {
  const auto* const field = config.GetDescriptor()->FindFieldByNumber(config.source_case());
  return field == nullptr ? "" : field->name();
}

absl::StatusOr<std::unique_ptr<StoredDataset>> OpenShards(const v1::DatasetConfig& config,
                                                          const StoredDataset::Options& options,
                                                          std::shared_ptr<Staging> staging) {
  STOKER_ASSIGN_OR_RETURN(Source source,
                          OpenSource(PathsOf(config), config, {.progress = options.progress, .may_be_unlisted = true}));
  IndexBeside beside = IndexBeside::Find(source);
  STOKER_RETURN_IF_ERROR(beside.NameShards(source));
  StoredDataset::Options all = options;
  STOKER_ASSIGN_OR_RETURN(PreparedShards prepared, PreparedBeside(source));
  all.prepared = std::move(prepared.images);
  const auto plain = source.store;
  const auto replaying = beside.Replaying(plain);
  const auto staged = std::make_shared<StagedStore>(replaying != nullptr ? replaying : plain, std::move(staging));
  source.store = staged;
  STOKER_ASSIGN_OR_RETURN(auto format, CreateFormat(WithFields(config, prepared.columns), *staged, source));
  if (replaying != nullptr) replaying->Forget();
  if (!staged->has_staged()) source.store = plain;  // Reads need not go through it.
  if (beside.is_there() && !staged->has_staged())
    all.beside = [&beside, key = SourceKey(config)](const ShardFormat& of, const std::vector<ObjectInfo>& objects) {
      const auto body = beside.TakeBody(key);
      return body.ok() ? IndexFromBody(*body, beside.place(), of, objects) : body.status();
    };
  return StoredDataset::Open(std::move(source.store), std::move(source.objects), std::move(format), all);
}

absl::StatusOr<Source> FindParquet(const v1::DatasetConfig& config) {
  STOKER_ASSIGN_OR_RETURN(Source source, OpenSource(PathsOf(config), config, {}));
  STOKER_RETURN_IF_ERROR(KeepOnly({".parquet"}, source));
  return source;
}

absl::StatusOr<std::unique_ptr<ParquetDataset>> OpenParquet(const v1::DatasetConfig& config,
                                                            const ParquetDataset::Options& options) {
  STOKER_ASSIGN_OR_RETURN(Source source, OpenSource(PathsOf(config), config, {.may_be_unlisted = true}));
  IndexBeside beside = IndexBeside::Find(source);
  STOKER_RETURN_IF_ERROR(beside.NameShards(source));
  STOKER_RETURN_IF_ERROR(KeepOnly({".parquet"}, source));
  ParquetDataset::Options all = options;
  if (beside.is_there())
    all.beside = [&]() -> absl::StatusOr<ParquetTable> {
      STOKER_ASSIGN_OR_RETURN(const std::string body, beside.TakeBody(SourceKey(config)));
      STOKER_ASSIGN_OR_RETURN(ParquetTable table, ParseTable(body));
      STOKER_RETURN_IF_ERROR(KeepShards(source.objects, beside.place(), table));
      return table;
    };
  return ParquetDataset::Open(config.parquet(), source.store, source.objects, all);
}

absl::StatusOr<std::unique_ptr<Hdf5Dataset>> OpenHdf5(const v1::DatasetConfig& config,
                                                      const Hdf5Dataset::Options& options,
                                                      std::shared_ptr<Staging> staging) {
  STOKER_ASSIGN_OR_RETURN(Source source, OpenSource(PathsOf(config), config, {.progress = nullptr}));
  STOKER_RETURN_IF_ERROR(KeepOnly({".h5", ".hdf5", ".hdf", ".h5.gz", ".hdf5.gz"}, source));
  const auto staged = std::make_shared<StagedStore>(source.store, std::move(staging));
  STOKER_ASSIGN_OR_RETURN(source.objects, staged->StageWhole(source.objects));
  if (staged->has_staged()) source.store = staged;
  return Hdf5Dataset::Open(config.hdf5(), std::move(source.store), std::move(source.objects), options);
}

absl::StatusOr<v1::DatasetConfig> FindFormat(const v1::DatasetConfig& config) {
  v1::DatasetConfig found = config;
  const std::string& path = config.data();
  STOKER_ASSIGN_OR_RETURN(const Source source, OpenSource({path}, config, {.most = kEnough, .may_be_unlisted = true}));
  if (source.is_unlisted) return FormatByIndex(source, config);
  const auto ends_with = [&](const char* suffix) {
    return std::any_of(source.objects.begin(), source.objects.end(),
                       [&](const ObjectInfo& object) { return absl::EndsWith(object.name, suffix); });
  };
  STOKER_ASSIGN_OR_RETURN(const bool has_records, HasRecords(source));
  // Class folders may have an archive beside them.
  const bool has_images = source.is_folder && (ends_with(".jpg") || ends_with(".jpeg") || ends_with(".JPEG") ||
                                               ends_with(".png") || ends_with(".webp") || ends_with(".bmp"));
  const bool has_tars = ends_with(".tar") || ends_with(".tar.gz") || ends_with(".tgz") || ends_with(".tar.zst");
  const bool has_lmdb = std::any_of(source.objects.begin(), source.objects.end(),
                                    [](const ObjectInfo& object) { return Lmdb::IsShardName(object.name); });
  if (has_tars && !has_images) {
    found.mutable_webdataset()->add_path(path);
  } else if (ends_with(".npy")) {
    found.mutable_feature_vectors()->add_path(path);
  } else if (ends_with(".mds") || ends_with(".mds.zstd") || (!source.is_folder && ends_with(kMdsIndex))) {
    found.mutable_mds()->add_path(path);
  } else if (has_lmdb && !has_images) {
    found.mutable_lmdb()->add_path(path);
  } else if (ends_with(".parquet") && !has_images) {
    found.mutable_parquet()->add_path(path);
  } else if ((ends_with(".h5") || ends_with(".hdf5") || ends_with(".hdf")) && !has_images) {
    found.mutable_hdf5()->add_path(path);
  } else if (has_records) {
    found.mutable_tfrecord()->add_path(path);
  } else {
    // What has none of the suffixes is class folders, as it always was, unless its bytes say more.
    STOKER_ASSIGN_OR_RETURN(const bool is_hdf5, IsHdf5(source));
    if (is_hdf5) {
      found.mutable_hdf5()->add_path(path);
    } else {
      found.mutable_image_folder()->set_path(path);
    }
  }
  return found;
}

}  // namespace stoker
