#include "server/read/registry/make_index.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "server/read/index/first_reads.h"
#include "server/read/index/index_file.h"
#include "server/read/registry/open_source.h"
#include "server/read/registry/prepared_shards.h"
#include "server/read/registry/sharded.h"
#include "server/read/staged/staged_store.h"
#include "server/read/stored/build_index.h"

namespace stoker {
namespace {

// The file beside the shards of `source`, but for what the format has in it.
PublishedIndex FileOf(const v1::DatasetConfig& config, const Source& source) {
  PublishedIndex file{.source = SourceKey(config), .store = source.store->identity()};
  for (const ObjectInfo& object : source.objects) file.names.push_back(object.name);
  return file;
}

std::string PlaceOf(const Store& store) { return absl::StrCat(store.description(), "/", kPublishedIndex); }

absl::Status CheckPlace(const Store& store, const MakeIndexOptions& options) {
  if (!options.must_be_local || !store.is_remote()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(PlaceOf(store), " cannot be written to from here: give --output FILE, and upload that"));
}

MadeIndex Made(const Source& source, const PublishedIndex& file) {
  return {.bytes = SerializePublished(file), .shards = file.names.size(), .place = PlaceOf(*source.store)};
}

absl::StatusOr<MadeIndex> IndexShards(const v1::DatasetConfig& config, const MakeIndexOptions& options) {
  STOKER_ASSIGN_OR_RETURN(Source source, OpenSource(ShardPaths(config), config, {}));
  STOKER_RETURN_IF_ERROR(CheckPlace(*source.store, options));
  STOKER_ASSIGN_OR_RETURN(const PreparedShards prepared, PreparedBeside(source));
  const auto plain = source.store;
  const auto recording = std::make_shared<RecordingStore>(plain);
  const auto staged = std::make_shared<StagedStore>(recording, nullptr);
  source.store = staged;
  STOKER_ASSIGN_OR_RETURN(const auto format, CreateFormat(WithFields(config, prepared.columns), *staged, source));
  source.store = plain;
  std::sort(source.objects.begin(), source.objects.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  MakeIndexProgress done{.of = source.objects.size()};
  const auto progress = [&](uint64_t samples) {
    done.samples = samples;
    ++done.shards;
    if (options.progress) options.progress(done);
  };
  STOKER_ASSIGN_OR_RETURN(const ShardIndex index,
                          BuildIndex(*plain, *format, source.objects, options.threads, progress, options.stop));
  if (index.size() == 0)
    return absl::InvalidArgumentError(absl::StrCat(plain->description(), ": there is no sample in its shards"));
  PublishedIndex file = FileOf(config, source);
  file.first_reads = recording->reads();
  file.body = SerializeIndex({plain->description(), format->identity()}, index);
  MadeIndex made = Made(source, file);
  made.samples = index.size();
  made.description = absl::StrCat(format->description(), " at ", plain->description());
  made.warnings = format->warnings();
  return made;
}

absl::StatusOr<MadeIndex> IndexParquet(const v1::DatasetConfig& config, const MakeIndexOptions& options) {
  STOKER_ASSIGN_OR_RETURN(const Source source, FindParquet(config));
  STOKER_RETURN_IF_ERROR(CheckPlace(*source.store, options));
  MakeIndexProgress done{.of = source.objects.size()};
  const auto progress = [&](uint64_t samples, uint64_t files) {
    done.samples = samples;
    done.shards = files;
    if (options.progress) options.progress(done);
  };
  STOKER_ASSIGN_OR_RETURN(const ParquetTable table,
                          ParquetDataset::MakeTable(config.parquet(), *source.store, source.objects,
                                                    {.threads = options.threads}, progress, options.stop));
  PublishedIndex file = FileOf(config, source);
  file.body = SerializeTable(table);
  MadeIndex made = Made(source, file);
  made.samples = done.samples;
  made.description = absl::StrCat("Parquet files at ", source.store->description());
  return made;
}

}  // namespace

absl::StatusOr<MadeIndex> MakeIndex(const v1::DatasetConfig& config, const MakeIndexOptions& options) {
  switch (config.source_case()) {
    case v1::DatasetConfig::kData: {
      STOKER_ASSIGN_OR_RETURN(const v1::DatasetConfig found, FindFormat(config));
      return MakeIndex(found, options);
    }
    case v1::DatasetConfig::kImageFolder:
    case v1::DatasetConfig::kLabeledFolder:
      return absl::UnimplementedError(
          "class folders have no index beside them: each server lists them, and keeps that in its cache_dir. "
          "`stokerd prepare --format webdataset` writes them as shards, which have one");
    case v1::DatasetConfig::kParquet: return IndexParquet(config, options);
    case v1::DatasetConfig::kHdf5:
      return absl::UnimplementedError("HDF5 files say by themselves where their rows are, and need no index");
    case v1::DatasetConfig::kSynthetic:
    case v1::DatasetConfig::kMix:
    case v1::DatasetConfig::SOURCE_NOT_SET:
      return absl::UnimplementedError("there are no shards to index; a mix has those of its parts: name one of them");
    default: return IndexShards(config, options);
  }
}

}  // namespace stoker
