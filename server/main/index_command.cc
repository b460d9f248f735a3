#include "server/main/index_command.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/config/byte_size.h"
#include "common/config/yaml_proto.h"
#include "common/status_macros.h"
#include "server/config/resources.h"
#include "server/main/progress_line.h"
#include "server/observe/log.h"
#include "server/read/index/published_index.h"
#include "server/read/registry/open_dataset.h"
#include "server/read/stores/local/file.h"

namespace stoker {
namespace {

constexpr char kAboutIndex[] = R"(
Writes where the samples of a dataset's shards are, as stoker.index in the folder that the shards have in common. Servers
that open the dataset find it there and read no shard before the first sample is asked for, where each would else read
the shards' headers. They compare it with what the store says: an index that does not fit costs a warning, and the
dataset is opened without it. Fingerprint and samples are the same with and without it.

Of tar files (WebDataset), TFRecord, MDS, LMDB, Parquet and .npy files. What lies in a bucket or behind HTTP is written
to --output FILE; upload it to the place that the command names. Over HTTP, which cannot list, the folder's URL with a
slash at its end is then all that a configuration needs. Whenever shards change, run the command again.

Examples:
  stokerd index --data /data/train
      Write /data/train/stoker.index.
  stokerd index --data s3://bucket/train --output stoker.index && aws s3 cp stoker.index s3://bucket/train/
      The same for a bucket.
  stokerd index --config /etc/stoker/stokerd.yaml --dataset imagenet
      One of a configuration's datasets, with the fields that are configured for it.)";

std::string TextOf(const MakeIndexProgress& progress, const CommandPace& pace) {
  return absl::StrFormat("%d of %d shards, %d samples, %s left", progress.shards, progress.of, progress.samples,
                         pace.TimeLeft(progress.shards, progress.of - progress.shards));
}

}  // namespace

IndexCommand::IndexCommand(CLI::App& app)
    : command_(app.add_subcommand("index", "Write the index of a dataset's shards beside them, for all servers")) {
  command_->footer(kAboutIndex);
  auto* data = command_->add_option("--data", data_, "A folder, file or URL to index, instead of what --config lists")
                   ->type_name("PATH");
  auto* config = command_->add_option("--config", config_file_, "Configuration in YAML")
                     ->envname("STOKER_CONFIG")
                     ->type_name("FILE");
  command_->add_option("--dataset", dataset_, "Which of the configuration's datasets to index")
      ->needs(config)
      ->excludes(data)
      ->type_name("NAME");
  command_
      ->add_option("--output", output_, "Where to write it [stoker.index in the dataset's folder, if that is local]")
      ->type_name("FILE");
  command_->add_option("--threads", threads_, "Shards that are read at once [16]")->type_name("N");
}

bool IndexCommand::parsed() const { return command_->parsed(); }

absl::StatusOr<v1::DatasetConfig> IndexCommand::Dataset() const {
  v1::DatasetConfig dataset;
  if (!data_.empty()) {
    dataset.set_data(data_);
    return dataset;
  }
  v1::ServerConfig config;
  if (!config_file_.empty()) STOKER_RETURN_IF_ERROR(ReadYamlFile(config_file_, config));
  std::vector<std::string> names;
  for (const v1::DatasetConfig& one : config.datasets()) {
    STOKER_ASSIGN_OR_RETURN(names.emplace_back(), DatasetName(one));
  }
  if (names.empty()) return absl::InvalidArgumentError("name what to index: --data PATH, or --config FILE");
  const auto found =
      dataset_.empty() && names.size() == 1 ? names.begin() : std::find(names.begin(), names.end(), dataset_);
  if (found != names.end()) return config.datasets(static_cast<int>(found - names.begin()));
  return absl::InvalidArgumentError(absl::StrCat("--dataset ", dataset_.empty() ? "is missing" : dataset_,
                                                 ": the configuration has ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<std::string> IndexCommand::Write(const MadeIndex& made) const {
  const std::string path = output_.empty() ? made.place : output_;
  const absl::Status written = WriteFileAtomically(path, made.bytes);
  if (written.ok()) return path;
  return absl::Status(written.code(), absl::StrCat("cannot write ", path, ": ", written.message(),
                                                   output_.empty() ? "; --output FILE writes it elsewhere" : ""));
}

absl::StatusOr<int> IndexCommand::Index() const {
  STOKER_ASSIGN_OR_RETURN(const v1::DatasetConfig dataset, Dataset());
  StopOnSignals();
  ProgressLine line;
  const CommandPace pace;
  MakeIndexOptions options = {.threads = static_cast<int>(std::clamp(threads_, 1u, 1024u)),
                              .must_be_local = output_.empty(),
                              .stop = &StopRequested()};
  options.progress = [&](const MakeIndexProgress& progress) {
    if (line.IsDue()) line.Show(progress.shards, progress.of, TextOf(progress, pace));
  };
  const auto made = MakeIndex(dataset, options);
  line.Clear();
  if (absl::IsCancelled(made.status())) {
    std::fprintf(stderr, "stopped; nothing was written\n");
    return StatusOfSignal();
  }
  STOKER_RETURN_IF_ERROR(made.status());
  for (const std::string& warning : made->warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  STOKER_ASSIGN_OR_RETURN(const std::string path, Write(*made));
  std::printf("%s: %lu samples in %lu shards, %s; %s\n", path.c_str(), made->samples, made->shards,
              FormatByteSize(made->bytes.size()).c_str(), made->description.c_str());
  if (path != made->place) std::printf("upload it as %s\n", made->place.c_str());
  return 0;
}

int IndexCommand::Run() const {
  v1::LogConfig quiet;
  quiet.set_level(v1::LOG_LEVEL_WARNING);
  SetUpLog(quiet);
  RaiseFileLimit();
  const auto status = Index();
  FlushLog();
  if (status.ok()) return *status;
  std::fprintf(stderr, "stokerd: %s\n", std::string(status.status().message()).c_str());
  return 1;
}

}  // namespace stoker
