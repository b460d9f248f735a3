#include "server/main/prepare_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/config/byte_size.h"
#include "common/config/yaml_proto.h"
#include "common/status_macros.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "server/config/settings.h"
#include "server/main/chosen_dataset.h"
#include "server/main/progress_line.h"
#include "server/main/server.h"
#include "server/observe/log.h"
#include "server/read/registry/open_source.h"
#include "server/read/registry/sharded.h"

namespace stoker {
namespace {

constexpr char kAboutPrepare[] = R"(
Without --short-side or --pipeline, JPEGs keep their pixels and get another layout: a single scan with restart markers
every few blocks. A server then decodes little more of a file than a crop needs. Files of other formats are copied.

The copy has the same class folders, names, labels and order, and is served like any image folder; or by --format it is
shards of many files, in the same order, beside classes.txt with a class name a line, in the order of labels:
  webdataset  shard-000000.tar, …: of each sample KEY.jpg and KEY.cls, the label's number, where KEY is the file's path
  mds         shard.00000.mds, … and index.json, with the columns image and label

Datasets of other kinds (tar, TFRecord, MDS, Parquet, LMDB, .npy, in buckets, mixed) are prepared too. Their further
fields become KEY.FIELD.npy, or KEY.FIELD.jpg of a further image, and columns of their own. Class folders of them need
an image and a label and no more: they have the classes' names where the dataset knows these, or else the label in
digits. A field that cannot be written is named before anything is.

Whole shards appear one after another, and are never changed: files that --data got since go into new ones. A file that
cannot be prepared (damaged, or of 12 bits) is copied as it is and named at the end. Run again, the same command goes on
where it was stopped, and does nothing when all is done.

Examples:
  stokerd prepare --data /data/imagenet/train --out /data/imagenet-fast/train
      The same pixels, cheaper to read in part.
  stokerd prepare --data photos --out photos-512 --short-side 512 --quality 95
      Reduce images whose shorter side is above 512 pixels to 512, as torchvision's Resize(512) does, and encode
      them as JPEG, 4:2:0, whatever they were. Smaller images are treated as above.
  stokerd prepare --data photos --out shards --format webdataset --shard-size 256MiB
      The first again, in few large files for a bucket or a slow file system.
  stokerd prepare --data s3://bucket/records/ --out shards --format mds --short-side 256
      Records in a bucket as MDS shards on this disk, with smaller images.
  stokerd prepare --config stokerd.yaml --dataset both --out shards --format webdataset
      One of a configuration's datasets, with the fields that it maps.
  stokerd prepare --data val --out val-224 --pipeline eval.yaml
      Run the ops of a pipeline once, and store the pixels. No op may be random, as in
          ops:
            - Resize: {size: 256}
            - CenterCrop: {size: 224}
      A pipeline that begins with these ops is then served without decoding, with the same bytes as from the originals.
      Any other pipeline is refused. Files keep their names, but no other program can read them.)";

std::string TextOf(const PrepareProgress& progress, const CommandPace& pace) {
  return absl::StrFormat("%d of %d files, %s -> %s, %.0f files/s, %s left", progress.done, progress.files,
                         FormatByteSize(progress.bytes_in), FormatByteSize(progress.bytes_out),
                         pace.PerSecond(progress.made), pace.TimeLeft(progress.made, progress.files - progress.done));
}

std::string Growth(const PrepareProgress& progress) {
  const double in = static_cast<double>(std::max<uint64_t>(progress.bytes_in, 1));
  return absl::StrFormat("%s -> %s, %+.1f%%", FormatByteSize(progress.bytes_in), FormatByteSize(progress.bytes_out),
                         (static_cast<double>(progress.bytes_out) / in - 1) * 100);
}

void Print(const PrepareReport& report, const std::string& out, bool pixels) {
  const PrepareProgress& progress = report.progress;
  for (const auto& [file, reason] : report.problems)
    std::fprintf(stderr, "not prepared: %s: %s\n", file.c_str(), reason.c_str());
  const std::string shards = report.shards == 0 ? "" : absl::StrCat(" in ", report.shards, " shards");
  if (report.was_complete) {
    std::printf("%s: complete already, %lu files%s; nothing to do\n", out.c_str(), progress.files, shards.c_str());
  } else if (report.stopped) {
    std::printf("%s: stopped, with %lu of %lu files; the same command goes on from here\n", out.c_str(), progress.done,
                progress.files);
  } else {
    std::printf("%s: %lu files%s, %lu of them made now (%s)\n", out.c_str(), progress.files, shards.c_str(),
                progress.made, Growth(progress).c_str());
  }
  if (!report.problems.empty())
    std::printf("%zu files could not be prepared, see above: %s\n", report.problems.size(),
                pixels ? "they are served as bad samples, with that reason" : "they are copies of the originals");
  if (report.might_be_scaled > 0)
    std::printf(
        "%lu images were not reduced. If a pipeline goes on with a resize, a server of the originals decodes them at a "
        "smaller size, to slightly other pixels. For equal bytes set jpeg_scaling: exact.\n",
        report.might_be_scaled);
}

// Returns the path of the class folders on a disk that `config` names, or that are where it names nothing else; empty
// where it is another dataset.
std::string FolderOf(const v1::DatasetConfig& config) {
  if (config.has_image_folder()) return IsUrl(config.image_folder().path()) ? "" : config.image_folder().path();
  if (!config.has_data() || IsUrl(config.data())) return "";
  const auto found = FindFormat(config);
  // What is wrong with a folder is said as of a folder of images.
  if (!found.ok()) return config.data().find_first_of("{*?[") == std::string::npos ? config.data() : "";
  return found->has_image_folder() ? config.data() : "";
}

// Adds the folders on disks that `config` names paths in.
void AddRoots(const v1::DatasetConfig& config, std::vector<std::string>& roots) {
  const auto add = [&](const std::string& path) {
    if (path.empty() || IsUrl(path)) return;
    const auto is_folder = [](const std::string& local) { return std::filesystem::is_directory(local); };
    std::error_code error;
    const auto canonical = std::filesystem::weakly_canonical(Split(path, is_folder).root, error);
    if (!error) roots.push_back(canonical);
  };
  if (config.has_data()) add(config.data());
  const google::protobuf::Reflection& reflection = *config.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> set;
  reflection.ListFields(config, &set);
  for (const google::protobuf::FieldDescriptor* field : set) {
    if (field->is_repeated() || field->message_type() == nullptr) continue;
    const google::protobuf::Message& source = reflection.GetMessage(config, field);
    const auto* path = source.GetDescriptor()->FindFieldByName("path");
    if (path == nullptr || path->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_STRING) continue;
    if (!path->is_repeated()) add(source.GetReflection()->GetString(source, path));
    for (int i = 0; path->is_repeated() && i < source.GetReflection()->FieldSize(source, path); ++i)
      add(source.GetReflection()->GetRepeatedString(source, path, i));
  }
}

}  // namespace

PrepareCommand::PrepareCommand(CLI::App& app)
    : command_(app.add_subcommand("prepare", "Copy a dataset into a layout that serves faster")) {
  command_->footer(kAboutPrepare);
  auto* data =
      command_->add_option("--data", data_, "The folder, file or URL to prepare; never written to")->type_name("PATH");
  auto* config = command_->add_option("--config", config_file_, "Configuration in YAML, of stores, fields and datasets")
                     ->type_name("FILE");
  command_->add_option("--dataset", dataset_, "Which of the configuration's datasets to prepare")
      ->needs(config)
      ->excludes(data)
      ->type_name("NAME");
  command_->add_option("--cache-dir", cache_dir_, "Where dataset indexes are kept [~/.cache/stoker]")
      ->envname("STOKER_CACHE_DIR")
      ->type_name("DIR");
  command_->add_option("--out", out_, "The folder to make; neither in --data nor around it")
      ->required()
      ->type_name("DIR");
  auto* interval = command_->add_option("--restart-interval", restart_interval_,
                                        "Number of MCUs (16 pixels wide for 4:2:0) between restart markers, about [8]");
  auto* strip = command_->add_flag("--strip", strip_, "Drop EXIF, color profiles and comments");
  auto* short_side = command_->add_option("--short-side", short_side_, "Reduce images to this shorter side, in pixels");
  command_->add_option("--quality", quality_, "Quality of the JPEGs that --short-side makes, 1 to 100 [95]")
      ->needs(short_side);
  command_->add_option("--pipeline", pipeline_file_, "Run the server ops of this pipeline, in YAML, and store pixels")
      ->type_name("FILE")
      ->excludes(short_side)
      ->excludes(interval)
      ->excludes(strip);
  auto* format = command_->add_option("--format", format_, "folder, or shards: webdataset or mds [folder]");
  command_->add_option("--shard-size", shard_size_, "The most that a shard has; it is kept in memory [128MiB]")
      ->needs(format)
      ->type_name("SIZE");
  command_->add_option("--workers", workers_, "Number of threads [the CPUs that this process may use]")
      ->envname("STOKER_WORKERS")
      ->type_name("N");
  command_->add_flag("--overwrite", overwrite_,
                     "Replace what --out holds from other settings or another source; files of other names stay");
}

bool PrepareCommand::parsed() const { return command_->parsed(); }

absl::StatusOr<v1::ServerConfig> PrepareCommand::Configuration() const {
  v1::ServerConfig config;
  if (data_.empty() && config_file_.empty())
    return absl::InvalidArgumentError("--data is required, or --config with the dataset to prepare");
  if (!config_file_.empty()) STOKER_RETURN_IF_ERROR(ReadYamlFile(config_file_, config));
  if (!data_.empty()) {
    config.clear_datasets();
    config.add_datasets()->set_data(data_);
  }
  if (workers_ != 0) config.set_workers(workers_);
  if (!cache_dir_.empty()) config.set_cache_dir(cache_dir_);
  return config;
}

absl::StatusOr<PrepareOptions> PrepareCommand::Options(const v1::ServerConfig& config) const {
  STOKER_ASSIGN_OR_RETURN(const Settings settings, Resolve(config));
  PrepareOptions options = {.data = data_,
                            .out = out_,
                            .workers = settings.workers,
                            .overwrite = overwrite_,
                            .tool = BuildDescription(),
                            .stop = &StopRequested()};
  STOKER_RETURN_IF_ERROR(SetFormat(options));
  if (!pipeline_file_.empty()) {
    STOKER_RETURN_IF_ERROR(ReadYamlFile(pipeline_file_, *options.mode.mutable_pipeline()));
  } else if (command_->count("--short-side") > 0) {
    v1::PreparedShortSide& mode = *options.mode.mutable_short_side();
    mode.set_size(short_side_);
    mode.set_quality(quality_);
    mode.set_restart_interval(restart_interval_);
    mode.set_strip(strip_);
  } else {
    options.mode.mutable_lossless()->set_restart_interval(restart_interval_);
    options.mode.mutable_lossless()->set_strip(strip_);
  }
  return options;
}

absl::Status PrepareCommand::SetFormat(PrepareOptions& options) const {
  if (format_ == "webdataset") {
    options.format = PreparedFormat::kWebDataset;
  } else if (format_ == "mds") {
    options.format = PreparedFormat::kMds;
  } else if (format_ != "folder") {
    return absl::InvalidArgumentError(absl::StrCat("--format ", format_, ": is none of folder, webdataset and mds"));
  } else if (!shard_size_.empty()) {
    return absl::InvalidArgumentError("--shard-size: a folder has no shards; give --format webdataset or mds");
  }
  if (shard_size_.empty()) return absl::OkStatus();
  const auto bytes = ParseByteSize(shard_size_);
  if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("--shard-size: ", bytes.status().message()));
  options.shard_bytes = *bytes;
  return absl::OkStatus();
}

absl::Status PrepareCommand::SetSource(const v1::ServerConfig& config, PrepareOptions& options) const {
  if (!data_.empty() && !FolderOf(config.datasets(0)).empty()) return absl::OkStatus();
  STOKER_ASSIGN_OR_RETURN(const std::string name, ChosenName(config, dataset_, "prepare"));
  const std::set<std::string> names = WithParts(config, name);
  for (const v1::DatasetConfig& dataset : config.datasets()) {
    const std::string own = DatasetName(dataset).value_or("");
    if (own == name) options.data = FolderOf(dataset);
    if (own == name && !options.data.empty()) return absl::OkStatus();
    if (names.contains(own)) AddRoots(dataset, options.roots);
  }
  STOKER_ASSIGN_OR_RETURN(const Settings settings, Resolve(config));
  STOKER_ASSIGN_OR_RETURN(OpenedDataset opened, OpenChosen(config, settings, name));
  options.data = data_.empty() ? name : data_;
  options.dataset = std::move(opened.dataset);
  return absl::OkStatus();
}

absl::StatusOr<PrepareReport> PrepareCommand::Prepare() const {
  STOKER_ASSIGN_OR_RETURN(const v1::ServerConfig config, Configuration());
  STOKER_ASSIGN_OR_RETURN(PrepareOptions options, Options(config));
  STOKER_RETURN_IF_ERROR(SetSource(config, options));
  StopOnSignals();
  ProgressLine line;
  options.indexing = [&line](uint64_t files) {
    if (line.IsDue()) line.Show(absl::StrFormat("indexing: %d files so far", files));
  };
  options.labels = [&line](uint64_t samples) {
    if (line.IsDue()) line.Show(absl::StrFormat("reading labels: %d samples so far", samples));
  };
  std::optional<CommandPace> pace;
  options.progress = [&](const PrepareProgress& progress) {
    if (!pace.has_value()) pace.emplace();
    if (line.IsDue()) line.Show(progress.done, progress.files, TextOf(progress, *pace));
  };
  auto report = stoker::Prepare(options);
  line.Clear();
  return report;
}

int PrepareCommand::Run() const {
  v1::LogConfig quiet;
  quiet.set_level(v1::LOG_LEVEL_WARNING);
  SetUpLog(quiet);
  const auto report = Prepare();
  FlushLog();
  if (!report.ok()) {
    std::fprintf(stderr, "stokerd: %s\n", std::string(report.status().message()).c_str());
    return 1;
  }
  Print(*report, out_, !pipeline_file_.empty());
  return report->stopped ? StatusOfSignal() : 0;
}

}  // namespace stoker
