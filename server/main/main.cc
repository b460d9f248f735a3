// stokerd: serves datasets as streams of decoded and augmented samples.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/config/watched_file.h"
#include "common/config/yaml_proto.h"
#include "common/host/host_check.h"
#include "common/ops/loaded_ops.h"
#include "common/status_macros.h"
#include "server/config/effective.h"
#include "server/config/resources.h"
#include "server/config/settings.h"
#include "server/decode/other.h"
#include "server/main/check.h"
#include "server/main/config_watch.h"
#include "server/main/health_command.h"
#include "server/main/idle_exit.h"
#include "server/main/index_command.h"
#include "server/main/library_logs.h"
#include "server/main/passed_sockets.h"
#include "server/main/prepare_command.h"
#include "server/main/reload.h"
#include "server/main/role.h"
#include "server/main/scan_command.h"
#include "server/main/server.h"
#include "server/main/supervisor.h"
#include "server/main/warm_command.h"
#include "server/observe/log.h"
#include "server/plugin/op_library.h"
#include "server/read/synthetic/synthetic.h"
#include "spdlog/spdlog.h"

namespace stoker {
namespace {

// How often the log says what was done, where something was.
constexpr absl::Duration kReportPeriod = absl::Minutes(1);

// How long servers of --role auto wait for the job's next stream until it counts as over.
constexpr double kJobIsOverSeconds = 600;

constexpr char kExamples[] = R"(Examples:
  stokerd serve --data /data/imagenet/train
      Serve a folder of class folders on 127.0.0.1:7077, under the name `train`.
  stokerd serve --config /etc/stoker/stokerd.yaml
      Serve what a configuration file lists.
  stokerd serve --synthetic 224x224x3
      Serve made-up samples, to measure everything but decoding.
  stokerd serve --data /data/imagenet/train --ops my_ops.py
      Offer ops of your own too, which pipelines name as any other.
  stokerd serve --role auto --config stokerd.yaml -- python train.py
      On each machine of a heterogeneous SageMaker cluster: serve, or train from those that do.
  stokerd check --config /etc/stoker/stokerd.yaml
      Say what is wrong with a configuration, its datasets or their storage. Exits 0 or 1.
  stokerd config --config /etc/stoker/stokerd.yaml
      Print what it comes to, with the defaults of this machine.
  stokerd prepare --data /data/imagenet/train --out /data/imagenet-fast/train
      Copy a dataset into a layout that serves faster.
  stokerd warm --config /etc/stoker/stokerd.yaml
      Read what lies on slow storage into the disk of raw_cache, before jobs begin.
  stokerd scan --data /data/imagenet/train
      Decode every sample and name those that are bad.
  stokerd index --data /data/shards
      Write the index of shards beside them, so that servers need not build it.

A flag wins over its STOKER_* variable, that over the file, that over the default.)";

// The flags of `serve` and `check`. Empty or 0: not given.
struct Flags {
  std::string config_file;
  std::vector<std::string> data;
  std::string synthetic;
  std::string listen, tls_certificate, tls_key, memory_limit, span_cache, decoded_cache, cache_dir, log_format,
      log_level;
  std::string raw_memory, raw_disk, raw_disk_size;
  std::string admin, admin_token;
  std::vector<std::string> datasets;  // of `warm`: those to read
  uint32_t workers = 0;
  std::vector<std::string> ops;
  bool insecure = false;
  bool host = false;   // of `check`
  bool ready = false;  // of `health`
  // Of `serve`.
  std::string role;
  std::vector<std::string> server_groups, command;
  double idle_seconds = 0;  // 0: not given
  ContentCheck content;
};

void AddFlags(CLI::App& command, Flags& flags) {
  command.add_option("--config", flags.config_file, "Configuration in YAML")
      ->envname("STOKER_CONFIG")
      ->type_name("FILE");
  command.add_option("--data", flags.data, "A folder, file or URL to serve (may be repeated)")->type_name("PATH");
  command.add_option("--synthetic", flags.synthetic, "Serve made-up uint8 samples of this shape, such as 224x224x3")
      ->type_name("SHAPE");
  command.add_option("--listen", flags.listen, "Address to answer on; port 0 takes a free one [127.0.0.1:7077]")
      ->envname("STOKER_LISTEN")
      ->type_name("HOST:PORT");
  auto* admin =
      command
          .add_option("--admin", flags.admin,
                      "Address, or unix:/path, that tells operators how it fares: /metrics, /healthz, /status [none]")
          ->envname("STOKER_ADMIN")
          ->type_name("HOST:PORT");
  command.add_option("--admin-token", flags.admin_token, "File with the token that its requests must bear [none]")
      ->envname("STOKER_ADMIN_TOKEN")
      ->type_name("FILE")
      ->needs(admin);
  command.add_option("--workers", flags.workers, "Threads that make spans [the CPUs that this process may use]")
      ->envname("STOKER_WORKERS")
      ->type_name("N");
  command.add_option("--memory-limit", flags.memory_limit, "Peak resident memory, such as 8GiB [80% of what there is]")
      ->envname("STOKER_MEMORY_LIMIT")
      ->type_name("SIZE");
  command.add_option("--span-cache", flags.span_cache, "Of that, for spans that other jobs may ask for too [none]")
      ->envname("STOKER_SPAN_CACHE")
      ->type_name("SIZE");
  command.add_option("--decoded-cache", flags.decoded_cache, "Of that, for images as they were decoded [none]")
      ->envname("STOKER_DECODED_CACHE")
      ->type_name("SIZE");
  command.add_option("--raw-cache-memory", flags.raw_memory, "Of that, for samples as slow storage has them [none]")
      ->envname("STOKER_RAW_CACHE_MEMORY")
      ->type_name("SIZE");
  command.add_option("--raw-cache-disk", flags.raw_disk, "Folder on a local disk for such samples [none]")
      ->envname("STOKER_RAW_CACHE_DISK")
      ->type_name("DIR");
  command.add_option("--raw-cache-size", flags.raw_disk_size, "The most that it takes, such as 1TiB")
      ->envname("STOKER_RAW_CACHE_SIZE")
      ->type_name("SIZE");
  command.add_option("--ops", flags.ops, "A file with ops of your own: a shared object, or Python's (may be repeated)")
      ->type_name("FILE");
  command.add_option("--cache-dir", flags.cache_dir, "Where dataset indexes are kept [~/.cache/stoker]")
      ->envname("STOKER_CACHE_DIR")
      ->type_name("DIR");
  command.add_option("--log-format", flags.log_format, "text or json [text]")->envname("STOKER_LOG_FORMAT");
  command.add_option("--log-level", flags.log_level, "debug, info, warning or error [info]")
      ->envname("STOKER_LOG_LEVEL");
  auto* certificate =
      command.add_option("--tls-cert", flags.tls_certificate, "Certificate to answer by TLS with, in PEM")
          ->envname("STOKER_TLS_CERT")
          ->type_name("FILE");
  command.add_option("--tls-key", flags.tls_key, "Its key")
      ->envname("STOKER_TLS_KEY")
      ->type_name("FILE")
      ->needs(certificate);
  command.add_flag("--insecure", flags.insecure, "Answer without TLS on an address that other machines reach");
}

void AddServeFlags(CLI::App& command, Flags& flags) {
  command
      .add_option("--exit-when-idle", flags.idle_seconds,
                  "Stop, as SIGTERM does, when there were streams and there have been none for so long [never]")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
  auto* role =
      command
          .add_option("--role", flags.role,
                      "auto: in a heterogeneous SageMaker cluster, serve where there are no accelerators, "
                      "and elsewhere run the command behind --, with the servers' addresses in STOKER_SERVERS [serve]")
          ->check(CLI::IsMember({"auto", "serve"}));
  command.add_option("--server-group", flags.server_groups, "An instance group that serves (may be repeated)")
      ->needs(role)
      ->type_name("NAME");
}

// The file's configuration with the flags laid over it.
absl::StatusOr<v1::ServerConfig> Configuration(const Flags& flags) {
  v1::ServerConfig config;
  if (!flags.config_file.empty()) STOKER_RETURN_IF_ERROR(ReadYamlFile(flags.config_file, config));
  for (const std::string& path : flags.data) config.add_datasets()->set_data(path);
  if (!flags.synthetic.empty()) {
    STOKER_ASSIGN_OR_RETURN(*config.add_datasets()->mutable_synthetic(), Synthetic::ParseShape(flags.synthetic));
  }
  if (!flags.listen.empty()) config.set_listen(flags.listen);
  if (!flags.admin.empty()) config.mutable_admin()->set_listen(flags.admin);
  if (!flags.admin_token.empty()) config.mutable_admin()->set_token_file(flags.admin_token);
  if (!flags.memory_limit.empty()) config.set_memory_limit(flags.memory_limit);
  if (!flags.tls_certificate.empty()) config.mutable_tls()->set_certificate_file(flags.tls_certificate);
  if (!flags.tls_key.empty()) config.mutable_tls()->set_key_file(flags.tls_key);
  if (!flags.span_cache.empty()) config.set_span_cache(flags.span_cache);
  if (!flags.decoded_cache.empty()) config.set_decoded_cache(flags.decoded_cache);
  if (!flags.raw_memory.empty()) config.mutable_raw_cache()->set_memory(flags.raw_memory);
  if (!flags.raw_disk.empty()) config.mutable_raw_cache()->mutable_disk()->set_path(flags.raw_disk);
  if (!flags.raw_disk_size.empty()) config.mutable_raw_cache()->mutable_disk()->set_size(flags.raw_disk_size);
  if (!flags.cache_dir.empty()) config.set_cache_dir(flags.cache_dir);
  for (const std::string& file : flags.ops) config.add_ops(file);
  if (flags.workers != 0) config.set_workers(flags.workers);
  if (flags.insecure) config.set_insecure(true);
  // Read as the file would be: the same names, the same errors.
  v1::LogConfig log;
  if (!flags.log_format.empty()) STOKER_RETURN_IF_ERROR(ParseYaml("format: " + flags.log_format, "--log-format", log));
  config.mutable_log()->MergeFrom(log);
  if (!flags.log_level.empty()) STOKER_RETURN_IF_ERROR(ParseYaml("level: " + flags.log_level, "--log-level", log));
  config.mutable_log()->MergeFrom(log);
  return config;
}

// Where SageMaker tells a machine what the cluster is.
std::string ResourceConfigPath() {
  const char* const given = std::getenv("STOKER_RESOURCE_CONFIG");
  return given == nullptr ? "/opt/ml/input/config/resourceconfig.json" : given;
}

// Takes the role of this machine. Returns where it serves; elsewhere the command takes this process's place, or, where
// there is none, the servers' addresses are printed and the process ends.
absl::Status TakeRole(Flags& flags) {
  if (flags.role != "auto" && !flags.command.empty())
    return absl::InvalidArgumentError("a command behind -- is for --role auto");
  if (flags.role != "auto") return absl::OkStatus();
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(ResourceConfigPath()));
  STOKER_ASSIGN_OR_RETURN(const Role role, RoleOf(text, flags.server_groups));
  if (role.serves) {
    if (flags.idle_seconds == 0) flags.idle_seconds = kJobIsOverSeconds;
    return absl::OkStatus();
  }
  STOKER_ASSIGN_OR_RETURN(const v1::ServerConfig config, Configuration(flags));
  STOKER_ASSIGN_OR_RETURN(const int port, FleetPort(config.listen()));
  const std::string servers = absl::StrJoin(
      role.servers, ",", [port](std::string* out, const std::string& host) { absl::StrAppend(out, host, ":", port); });
  if (flags.command.empty()) {
    std::printf("%s\n", servers.c_str());
    std::fflush(stdout);
    std::_Exit(0);
  }
  setenv("STOKER_SERVERS", servers.c_str(), 1);
  std::vector<char*> arguments;
  for (std::string& word : flags.command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  execvp(arguments[0], arguments.data());
  return absl::NotFoundError(absl::StrCat("--role auto: cannot run '", flags.command[0], "': ", std::strerror(errno)));
}

// Loads the configuration's own ops, before any op is used. `processes` of Python are started for those in Python.
absl::Status LoadOwnOps(const v1::ServerConfig& config, const Settings& settings, int processes) {
  STOKER_ASSIGN_OR_RETURN(
      LoadedOps ops, LoadOps({config.ops().begin(), config.ops().end()}, {.python = settings.python,
                                                                          .patience = settings.python_patience,
                                                                          .memory_bytes = settings.python_memory_bytes,
                                                                          .processes = processes}));
  for (const auto& op : ops)
    spdlog::info("own op {}, version {}, check {:016x}", op->name(), op->version(), op->check());
  SetLoadedOps(std::move(ops));
  return absl::OkStatus();
}

absl::Status Serve(Flags& flags) {
  STOKER_RETURN_IF_ERROR(TakeRole(flags));
  std::vector<OwnedFd> passed = PassedSockets();
  STOKER_ASSIGN_OR_RETURN(const v1::ServerConfig config, Configuration(flags));
  SetUpLog(config.log());
  RaiseFileLimit();
  STOKER_ASSIGN_OR_RETURN(Settings settings, Resolve(config));
  STOKER_RETURN_IF_ERROR(LoadOwnOps(config, settings, settings.workers));
  STOKER_ASSIGN_OR_RETURN(const Access::Options access, AccessOptions(config));
  STOKER_RETURN_IF_ERROR(
      Access::Create(access, absl::Now).status());  // Says now what would be said after the datasets.
  const auto raw_cache = OpenRawCache(settings);
  STOKER_ASSIGN_OR_RETURN(auto datasets,
                          OpenDatasets(config, settings, raw_cache));  // May take long, and be stopped at once.
  BlockStopSignals();
  STOKER_ASSIGN_OR_RETURN(
      auto server, Server::Start(config, std::move(settings), std::move(datasets), raw_cache, std::move(passed)));
  std::printf("listening on %s\n", server->address().c_str());
  if (!server->admin_address().empty()) std::printf("admin on %s\n", server->admin_address().c_str());
  std::fflush(stdout);
  NotifyReady(absl::StrCat("listening on ", server->address()));
  ServiceLog& service = server->service_log();
  auto reloader = std::make_unique<Reloader>(server.get(), config, [flags] { return Configuration(flags); });
  std::optional<ConfigWatch> watch;
  if (!flags.config_file.empty()) watch.emplace(flags.config_file, [&] { reloader->ReloadIfOther(); });
  std::optional<IdleExit> idle;
  if (flags.idle_seconds > 0) idle.emplace(absl::Seconds(flags.idle_seconds), [&service] { return service.streams(); });
  RawCache::Stats cached;
  DecodedCache::Stats decoded;
  const auto report = [&] {
    const std::string recent = service.TakeRecent();
    if (recent.empty()) return;
    spdlog::info("in the last minute: {}", recent);
    if (server->decoded_cache().enabled()) {
      spdlog::info("in the last minute: {}", server->decoded_cache().Text(decoded));
      decoded = server->decoded_cache().stats();
    }
    if (raw_cache == nullptr) return;
    spdlog::info("in the last minute: {}", raw_cache->Text(cached));
    cached = raw_cache->stats();
  };
  const std::string signal = AwaitStop({.period = kReportPeriod,
                                        .report = report,
                                        .healthy = [&] { return server->Healthy(); },
                                        .reload = [&] { reloader->Reload(); }});
  watch.reset();
  idle.reset();
  UnblockStopSignals();
  const absl::Duration drain = server->settings().drain;
  spdlog::info("{}: finishing what clients are owed, for at most {}", signal, absl::FormatDuration(drain));
  NotifyStopping(drain);
  const bool ended = server->Drain();
  spdlog::info("served in all: {}", service.Total());
  if (server->decoded_cache().enabled()) spdlog::info("served in all: {}", server->decoded_cache().Text({}));
  if (raw_cache != nullptr) spdlog::info("served in all: {}", raw_cache->Text({}));
  spdlog::info(ended ? "stopped" : "stopped with streams cut off: their clients ask other servers");
  FlushLog();
  if (reloader->busy()) std::_Exit(0);  // It may be indexing for an hour.
  return absl::OkStatus();
}

absl::Status RunCheck(const Flags& flags) {
  STOKER_ASSIGN_OR_RETURN(const v1::ServerConfig config, Configuration(flags));
  if (flags.host) {
    std::fputs(HostReport(CheckHost(Host::This(HostRole::kServer), HostRole::kServer)).c_str(), stdout);
    if (config.datasets().empty()) return absl::OkStatus();
  }
  v1::LogConfig quiet;
  quiet.set_level(v1::LOG_LEVEL_WARNING);
  SetUpLog(quiet);
  STOKER_ASSIGN_OR_RETURN(const Settings settings, Resolve(config));
  STOKER_RETURN_IF_ERROR(LoadOwnOps(config, settings, 1));
  return Check(config, flags.content);
}

// Asks the server that such flags start how it is.
absl::Status RunHealth(const Flags& flags) {
  STOKER_ASSIGN_OR_RETURN(const v1::ServerConfig config, Configuration(flags));
  if (!config.has_admin())
    return absl::InvalidArgumentError("health: the server has no admin address; give it one, --admin or admin.listen");
  STOKER_ASSIGN_OR_RETURN(const AdminSettings admin, AdminAddress(config.admin()));
  STOKER_ASSIGN_OR_RETURN(const std::string text, AskAdmin(admin, flags.ready ? "/readyz" : "/healthz"));
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

// Prints the configuration with the flags and this machine's defaults laid over it.
absl::Status PrintConfig(const Flags& flags) {
  STOKER_ASSIGN_OR_RETURN(const v1::ServerConfig config, Configuration(flags));
  RaiseFileLimit();
  STOKER_ASSIGN_OR_RETURN(const Settings settings, Resolve(config));
  std::fputs(ToYaml(EffectiveConfig(config, settings)).c_str(), stdout);
  return absl::OkStatus();
}

int WarmDisk(const Flags& flags) {
  const auto config = Configuration(flags);
  v1::LogConfig quiet;
  quiet.set_level(v1::LOG_LEVEL_WARNING);
  SetUpLog(quiet);
  RaiseFileLimit();
  int status = 1;
  if (config.ok()) {
    status = RunWarm(*config, flags.datasets);
  } else {
    std::fprintf(stderr, "stokerd: %s\n", std::string(config.status().message()).c_str());
  }
  FlushLog();
  return status;
}

int Main(int argc, char** argv) {
  CLI::App app("Decodes and augments training samples and streams them to GPU hosts.", "stokerd");
  app.footer(kExamples);
  app.set_version_flag("--version", BuildDescription());
  app.require_subcommand(1);
  Flags serve_flags, check_flags, warm_flags, config_flags,
      health_flags;  // Apart: a subcommand that was not called still reads its variables.
  CLI::App* serve = app.add_subcommand("serve", "Serve datasets until SIGTERM or Ctrl-C");
  AddFlags(*serve, serve_flags);
  AddServeFlags(*serve, serve_flags);
  serve->footer(kExamples);
  CLI::App* check = app.add_subcommand("check", "Validate a configuration and sample its datasets");
  AddFlags(*check, check_flags);
  check->add_flag("--host", check_flags.host, "Look at this machine too: limits, swap, NUMA, network, clock");
  check->add_flag("--content", check_flags.content.read_all,
                  "Read every sample, compare it with the index, and print a hash of all bytes");
  check->add_option("--save", check_flags.content.save, "Likewise, and write each sample's SHA-256 to a file")
      ->type_name("FILE");
  check->add_option("--against", check_flags.content.against, "Likewise, and compare with what --save wrote elsewhere")
      ->type_name("FILE");
  CLI::App* config = app.add_subcommand("config", "Print the configuration with all defaults, as `serve` would use it");
  AddFlags(*config, config_flags);
  CLI::App* health = app.add_subcommand(
      "health", "Ask a running server's admin address whether it answers; exits 0 or 1, for containers' health checks");
  AddFlags(*health, health_flags);
  health->add_flag("--ready", health_flags.ready, "Ask whether clients should be sent there, too");
  CLI::App* warm = app.add_subcommand("warm", "Read datasets on slow storage into the raw cache's disk");
  AddFlags(*warm, warm_flags);
  warm->add_option("--dataset", warm_flags.datasets, "Of the configured ones (may be repeated) [all]")
      ->type_name("NAME");
  PrepareCommand prepare(app);
  ScanCommand scan(app);
  IndexCommand index(app);
  // What stands behind -- is another program's.
  char** const rest = std::find(argv, argv + argc, std::string_view("--"));
  if (rest != argv + argc) serve_flags.command.assign(rest + 1, argv + argc);
  CLI11_PARSE(app, static_cast<int>(rest - argv), argv);
  if (prepare.parsed()) return prepare.Run();
  if (scan.parsed()) return scan.Run();
  if (index.parsed()) return index.Run();

  if (warm->parsed()) return WarmDisk(warm_flags);
  const absl::Status status = serve->parsed()    ? Serve(serve_flags)
                              : config->parsed() ? PrintConfig(config_flags)
                              : health->parsed() ? RunHealth(health_flags)
                                                 : RunCheck(check_flags);
  FlushLog();
  if (status.ok()) return 0;
  std::fprintf(stderr, "stokerd: %s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // Whoever reads what we print may leave.
  stoker::ForgetOtherEnvironment();
  stoker::TakeLibraryLogs();
  return stoker::Main(argc, argv);
}
