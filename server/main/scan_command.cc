#include "server/main/scan_command.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/config/yaml_proto.h"
#include "common/status_macros.h"
#include "server/main/chosen_dataset.h"
#include "server/main/progress_line.h"
#include "server/observe/log.h"
#include "server/read/stores/local/file.h"

namespace stoker {
namespace {

// What a pipeline takes by default.
constexpr uint64_t kMaxPixels = uint64_t{1} << 26;

constexpr char kAboutScan[] = R"(
Decodes every sample from end to end, whatever a crop would need of it, and names each of these:
  truncated     an image or audio file that ends before its image or audio does
  not-an-image  a file that should be an image and is of no known format
  damaged       an image or audio that cannot be decoded
  warning       an image that can be decoded, though its data is damaged: decode_warnings says if it is served
  over-limits   an image of more than --max-pixels, a JPEG of more than 100 scans, or audio above its max_bytes
  wrong-field   a record that does not parse, or lacks a field
  duplicate     a sample whose images have the same bytes as those of an earlier one
  unreadable    samples whose storage fails; those of a lost shard are one finding
Exits with 0 where there is nothing to name, 1 where there is, and 128 + signal where it was stopped.

Stopped or killed, the same command goes on where it was: what is done stands in FILE.unfinished beside --out FILE, or in
the cache folder. The report comes whole at the end, and is the same however often the scan was stopped.

Examples:
  stokerd scan --data /data/imagenet/train
      Print what is wrong with a folder's images.
  stokerd scan --data s3://bucket/train --out bad.csv
      Write it to a file: .json or .jsonl (a JSON object a line), .csv, or text.
  stokerd scan --config /etc/stoker/stokerd.yaml --dataset imagenet --format json | jq -r .sample
      The names of the samples of one of a configuration's datasets.)";

std::string TextOf(const ScanProgress& progress, const CommandPace& pace) {
  const uint64_t done = progress.known + progress.scanned;
  return absl::StrFormat("%d of %d samples, %d findings, %.0f images/s, %s left", done, progress.samples,
                         progress.found, pace.PerSecond(progress.images),
                         pace.TimeLeft(progress.scanned, progress.samples - done));
}

// Says what was found, by kinds.
std::string SummaryOf(const ScanReport& report, const CommandPace& pace) {
  std::vector<std::string> kinds;
  const auto counts = report.Counts();
  for (int kind = 0; kind < kFindingKinds; ++kind)
    if (counts[kind] > 0) kinds.push_back(absl::StrCat(counts[kind], " ", NameOf(static_cast<FindingKind>(kind))));
  const std::string known =
      report.progress.known == 0 ? "" : absl::StrCat(", ", report.progress.known, " of them by an earlier run");
  return absl::StrFormat("%d samples%s: %s; %.0f images/s\n", report.progress.samples, known,
                         kinds.empty() ? "nothing found" : absl::StrJoin(kinds, ", "),
                         pace.PerSecond(report.progress.images));
}

}  // namespace

ScanCommand::ScanCommand(CLI::App& app)
    : command_(app.add_subcommand("scan", "Decode every sample of a dataset and name those that are bad")) {
  command_->footer(kAboutScan);
  command_->add_option("--data", data_, "A folder, file or URL to scan, instead of what --config lists")
      ->type_name("PATH");
  auto* config = command_->add_option("--config", config_file_, "Configuration in YAML")
                     ->envname("STOKER_CONFIG")
                     ->type_name("FILE");
  command_->add_option("--dataset", dataset_, "Which of the configuration's datasets to scan")
      ->needs(config)
      ->type_name("NAME");
  command_->add_option("--out", out_, "Where to write the report [stdout]")->type_name("FILE");
  command_->add_option("--format", format_, "text, json or csv [by the ending of --out, or text]");
  command_
      ->add_option("--max-pixels", max_pixels_,
                   "The largest image that is not over the limits [the configuration's, or 67108864]")
      ->type_name("N");
  command_->add_option("--workers", workers_, "Number of threads that decode [the CPUs that this process may use]")
      ->envname("STOKER_WORKERS")
      ->type_name("N");
  command_->add_option("--cache-dir", cache_dir_, "Where dataset indexes are kept [~/.cache/stoker]")
      ->envname("STOKER_CACHE_DIR")
      ->type_name("DIR");
}

bool ScanCommand::parsed() const { return command_->parsed(); }

absl::StatusOr<v1::ServerConfig> ScanCommand::Configuration() const {
  v1::ServerConfig config;
  if (!config_file_.empty()) STOKER_RETURN_IF_ERROR(ReadYamlFile(config_file_, config));
  if (!data_.empty()) {
    config.clear_datasets();
    config.add_datasets()->set_data(data_);
  }
  if (max_pixels_ != 0) config.set_max_pixels(max_pixels_);
  if (config.max_pixels() == 0) config.set_max_pixels(kMaxPixels);
  if (workers_ != 0) config.set_workers(workers_);
  if (!cache_dir_.empty()) config.set_cache_dir(cache_dir_);
  return config;
}

absl::StatusOr<ReportFormat> ScanCommand::Format() const {
  const bool json = absl::EndsWith(out_, ".json") || absl::EndsWith(out_, ".jsonl");
  if (format_ == "json" || (format_.empty() && json)) return ReportFormat::kJson;
  if (format_ == "csv" || (format_.empty() && absl::EndsWith(out_, ".csv"))) return ReportFormat::kCsv;
  if (format_ == "text" || format_.empty()) return ReportFormat::kText;
  return absl::InvalidArgumentError(absl::StrCat("--format ", format_, ": is none of text, json and csv"));
}

std::string ScanCommand::StateFile(const Dataset& dataset, const Settings& settings) const {
  if (!out_.empty()) return out_ + ".unfinished";
  if (settings.cache_dir.empty()) return "";
  const std::string id = absl::BytesToHexString(dataset.fingerprint()).substr(0, 16);
  return absl::StrCat(settings.cache_dir, "/scan-", id, "-", settings.max_pixels, ".unfinished");
}

absl::Status ScanCommand::Write(const ScanReport& report, const Dataset& dataset) const {
  STOKER_ASSIGN_OR_RETURN(const ReportFormat format, Format());
  const std::string text = ReportOf(report.findings, dataset, format);
  if (!out_.empty()) {
    const absl::Status written = WriteFileAtomically(out_, text);
    if (written.ok()) return written;
    return absl::Status(written.code(), absl::StrCat("--out: cannot write ", out_, ": ", written.message()));
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return absl::OkStatus();
  return absl::UnavailableError("cannot write the report to stdout");
}

absl::StatusOr<int> ScanCommand::Scan() const {
  STOKER_ASSIGN_OR_RETURN(const ReportFormat format, Format());
  STOKER_ASSIGN_OR_RETURN(const v1::ServerConfig config, Configuration());
  STOKER_ASSIGN_OR_RETURN(const Settings settings, Resolve(config));
  STOKER_ASSIGN_OR_RETURN(const std::string name, ChosenName(config, dataset_, "scan"));
  STOKER_ASSIGN_OR_RETURN(const OpenedDataset opened, OpenChosen(config, settings, name));
  const Dataset& dataset = *opened.dataset;
  ScanOptions options = {.workers = settings.workers,
                         .max_pixels = settings.max_pixels,
                         .state_file = StateFile(dataset, settings),
                         .stop = &StopRequested()};
  StopOnSignals();
  ProgressLine line;
  const CommandPace pace;
  options.progress = [&](const ScanProgress& progress) {
    if (line.IsDue()) line.Show(progress.known + progress.scanned, progress.samples, TextOf(progress, pace));
  };
  const auto report = stoker::Scan(dataset, options);
  line.Clear();
  STOKER_RETURN_IF_ERROR(report.status());
  const ScanProgress& progress = report->progress;
  if (report->stopped) {
    std::fprintf(stderr, "stopped, with %lu of %lu samples scanned and %lu findings; the same command goes on\n",
                 progress.known + progress.scanned, progress.samples, progress.found);
    return StatusOfSignal();
  }
  STOKER_RETURN_IF_ERROR(Write(*report, dataset));
  STOKER_RETURN_IF_ERROR(RemoveState(options, *report));
  // Programs that read a report on stdout want nothing after it.
  const bool apart = out_.empty() && format != ReportFormat::kText;
  std::fputs(SummaryOf(*report, pace).c_str(), apart ? stderr : stdout);
  return report->findings.empty() ? 0 : 1;
}

int ScanCommand::Run() const {
  v1::LogConfig quiet;
  quiet.set_level(v1::LOG_LEVEL_WARNING);
  SetUpLog(quiet);
  const auto status = Scan();
  FlushLog();
  if (status.ok()) return *status;
  std::fprintf(stderr, "stokerd: %s\n", std::string(status.status().message()).c_str());
  return 1;
}

}  // namespace stoker
