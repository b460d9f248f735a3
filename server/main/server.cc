#include "server/main/server.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/config/byte_size.h"
#include "common/status_macros.h"
#include "common/time/steady_time.h"
#include "google/protobuf/util/message_differencer.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "server/augment/audio/audio_check.h"
#include "server/augment/self_check.h"
#include "server/config/effective.h"
#include "server/main/admin_pages.h"
#include "server/main/grpc_build.h"
#include "server/main/supervisor.h"
#include "server/observe/process_figures.h"
#include "server/read/registry/open_dataset.h"
#include "server/request/stream_request.h"
#include "server/work/select/subset.h"
#include "spdlog/spdlog.h"

namespace stoker {
namespace {

constexpr int kMaxConcurrentStreams = 16;  // of a connection
constexpr int kMaxMetadataBytes = 16 << 10;
constexpr int kTakers = 4;                   // threads that hand connections to gRPC
constexpr int kHandshakeTimeoutMs = 10'000;  // until TLS is set up and HTTP/2's settings have come
constexpr int kConnectionIdleMs = 600'000;   // without a call
constexpr uint64_t kLeastGrpcBytes = uint64_t{256} << 20;
// How often the files of tls, access and admin are looked at.
constexpr absl::Duration kWatchPause = absl::Seconds(1);
// A raw cache's disk can be full of samples of this size, if this part of the memory suffices for their table.
constexpr uint64_t kSmallSample = uint64_t{16} << 10, kRecordsPart = 32;
// Where shards that are compressed as a whole are kept decompressed, below the raw cache's folder.
constexpr char kStaged[] = "/staged";
constexpr int kKeepaliveMs = 30'000, kKeepaliveTimeoutMs = 10'000, kLeastPingIntervalMs = 5'000;

// How many samples the raw cache's disk may have. Each takes memory.
uint64_t MostRecords(const Settings& settings) {
  const uint64_t by_memory = settings.memory_limit_bytes / kRecordsPart / DiskTier::kTableBytesPerRecord;
  return std::max<uint64_t>(1024, std::min(settings.raw_disk_bytes / kSmallSample, by_memory));
}

}  // namespace

std::shared_ptr<RawCache> OpenRawCache(const Settings& settings, Admission::Kind kind) {
  if (settings.raw_memory_bytes == 0 && settings.raw_disk_path.empty()) return nullptr;
  RawCache::Options options{.memory_bytes = settings.raw_memory_bytes, .kind = kind};
  // Decompressed shards come first.
  const uint64_t staged = Staging::BytesIn(settings.raw_disk_path + kStaged);
  if (!settings.raw_disk_path.empty() && staged < settings.raw_disk_bytes)
    options.disk = {.path = settings.raw_disk_path,
                    .size_bytes = settings.raw_disk_bytes,
                    .others_bytes = staged,
                    .most_records = MostRecords(settings),
                    .warn = [](const std::string& line) { spdlog::warn(line); }};
  auto cache = std::make_shared<RawCache>(options);
  if (!cache->has_disk()) return cache;
  const DiskTier::Stats kept = cache->stats().disk;
  spdlog::info("raw cache: {} samples, {} of {}, on disk at {}", kept.samples, FormatByteSize(kept.bytes),
               FormatByteSize(settings.raw_disk_bytes), settings.raw_disk_path);
  return cache;
}

std::shared_ptr<Staging> OpenStaging(const Settings& settings,
                                     std::function<void(uint64_t taken, uint64_t of)> progress,
                                     const std::shared_ptr<RawCache>& raw_cache) {
  if (settings.raw_disk_path.empty()) return nullptr;
  auto staging = Staging::Open({.path = settings.raw_disk_path + kStaged,
                                .size_bytes = settings.raw_disk_bytes,
                                .progress = std::move(progress),
                                .on_room = [raw_cache](uint64_t bytes) {
                                  if (raw_cache != nullptr) raw_cache->SetOthersOnDisk(bytes);
                                }});
  if (staging.ok()) return *std::move(staging);
  spdlog::warn("raw_cache.disk: {}; no compressed shards can be decompressed there",
               std::string(staging.status().message()));
  return nullptr;
}

absl::StatusOr<Datasets> OpenDatasets(const v1::ServerConfig& config, const Settings& settings,
                                      const std::shared_ptr<RawCache>& raw_cache) {
  if (config.datasets().empty())
    return absl::InvalidArgumentError("datasets: none is configured; name a folder (--data DIR) or a synthetic one");
  Datasets datasets;
  const auto tell_staged = [last = absl::Now()](uint64_t taken, uint64_t of) mutable {
    if (absl::Now() - last < absl::Seconds(5)) return;
    last = absl::Now();
    spdlog::info("decompressing shards: {} of {} so far", FormatByteSize(taken), FormatByteSize(of));
  };
  const auto staging = OpenStaging(settings, tell_staged, raw_cache);
  for (const auto& dataset_config : config.datasets()) {
    OpenDatasetOptions options{.cache_dir = settings.cache_dir, .raw_cache = raw_cache};
    const auto tell = [last = absl::Now()](const char* what) {
      return [last, what](uint64_t files) mutable {
        if (absl::Now() - last < absl::Seconds(5)) return;
        last = absl::Now();
        spdlog::info("{}: {} files so far", what, files);
      };
    };
    options.progress = tell("indexing");
    options.content_progress = tell("reading all bytes for their hashes");
    options.staging = staging;
    options.find = [&](const std::string& name) {
      const auto found = datasets.find(name);
      return found == datasets.end() ? nullptr : found->second;
    };
    STOKER_ASSIGN_OR_RETURN(auto opened, OpenDataset(dataset_config, options));
    for (const std::string& warning : opened.warnings) spdlog::warn("dataset '{}': {}", opened.name, warning);
    spdlog::info("dataset '{}': {}, {} samples", opened.name, opened.dataset->description(), opened.dataset->size());
    if (!datasets.emplace(opened.name, std::move(opened.dataset)).second)
      return absl::InvalidArgumentError(absl::StrCat("datasets: two are called '", opened.name, "'; give each a name"));
  }
  return datasets;
}

std::string BuildDescription() { return absl::StrCat("stokerd ", STOKER_VERSION, ", ", GrpcBuildOfThisProcess().text); }

namespace {

absl::StatusOr<std::map<std::string, SampleLists>> ListsOf(const v1::ServerConfig& config, const Datasets& datasets) {
  std::map<std::string, SampleLists> lists;
  for (const auto& dataset_config : config.datasets()) {
    STOKER_ASSIGN_OR_RETURN(const std::string name, DatasetName(dataset_config));
    const auto dataset = datasets.find(name);
    if (dataset == datasets.end()) continue;
    auto read = ReadLists(dataset_config, *dataset->second);
    if (!read.ok())
      return absl::Status(read.status().code(), absl::StrCat("dataset ", name, ": ", read.status().message()));
    if (!read->empty()) lists.emplace(name, *std::move(read));
  }
  return lists;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> CreateEngine(const v1::ServerConfig& config, const Settings& settings,
                                                     Datasets datasets, std::shared_ptr<RawCache> raw_cache) {
  STOKER_ASSIGN_OR_RETURN(const uint64_t pixel_check, PixelCheck());
  STOKER_ASSIGN_OR_RETURN(const uint64_t audio_check, AudioCheck());
  STOKER_ASSIGN_OR_RETURN(auto lists, ListsOf(config, datasets));
  return Engine::Create({.catalog = {.datasets = std::move(datasets),
                                     .lists = std::move(lists),
                                     .pipelines = {config.pipelines().begin(), config.pipelines().end()}},
                         .workers = settings.workers,
                         .numa_nodes = settings.numa_nodes,
                         .memory_limit_bytes = settings.memory_limit_bytes,
                         .span_cache_bytes = settings.span_cache_bytes,
                         .decoded_cache_bytes = settings.decoded_cache_bytes,
                         .read_ahead_bytes = settings.read_ahead_bytes,
                         .raw_cache = std::move(raw_cache),
                         .limits = {settings.max_pixels, settings.sample_seconds},
                         .idle = settings.idle,
                         .pixel_check = pixel_check,
                         .audio_check = audio_check,
                         .build = BuildDescription()});
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const v1::ServerConfig& config) {
  STOKER_ASSIGN_OR_RETURN(Settings settings, Resolve(config));
  const auto raw_cache = OpenRawCache(settings);
  STOKER_ASSIGN_OR_RETURN(auto datasets, OpenDatasets(config, settings, raw_cache));
  return Start(config, std::move(settings), std::move(datasets), raw_cache);
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const v1::ServerConfig& config, Settings settings,
                                                      Datasets datasets, std::shared_ptr<RawCache> raw_cache,
                                                      std::vector<OwnedFd> passed) {
  STOKER_ASSIGN_OR_RETURN(const Access::Options options, AccessOptions(config));
  STOKER_ASSIGN_OR_RETURN(auto access, Access::Create(options, absl::Now));
  STOKER_ASSIGN_OR_RETURN(auto engine, CreateEngine(config, settings, std::move(datasets), raw_cache));
  std::unique_ptr<Server> server(
      new Server(config, std::move(settings), std::move(raw_cache), std::move(engine), std::move(access)));
  server->ExpectDatasets();
  STOKER_RETURN_IF_ERROR(server->Listen(std::move(passed)));
  STOKER_RETURN_IF_ERROR(server->StartAdmin());
  server->watch_ = std::make_unique<Periodic>(kWatchPause, [watched = server.get()] { watched->Watch(); });
  return server;
}

absl::StatusOr<Access::Options> AccessOptions(const v1::ServerConfig& config) {
  Access::Options options{.config = config.access(), .allowed = {}};
  for (const auto& dataset : config.datasets()) {
    STOKER_ASSIGN_OR_RETURN(const std::string name, DatasetName(dataset));
    options.allowed[name] = {dataset.allow().begin(), dataset.allow().end()};
  }
  return options;
}

namespace {

// Returns what a configuration says of the dataset of this name; null if nothing.
const v1::DatasetConfig* ConfigOf(const v1::ServerConfig& config, const std::string& name) {
  for (const auto& dataset : config.datasets())
    if (const auto of = DatasetName(dataset); of.ok() && *of == name) return &dataset;
  return nullptr;
}

std::unique_ptr<ServedTls> Serve(const std::optional<Settings::Tls>& tls) {
  return tls.has_value() ? std::make_unique<ServedTls>(tls->config, tls->files) : nullptr;
}

}  // namespace

Server::Server(const v1::ServerConfig& config, Settings settings, std::shared_ptr<RawCache> raw_cache,
               std::unique_ptr<Engine> engine, std::unique_ptr<Access> access)
    : settings_(std::move(settings)),
      raw_cache_(std::move(raw_cache)),
      engine_(std::move(engine)),
      access_(std::move(access)),
      tls_(Serve(settings_.tls)),
      credentials_(Credentials()),
      service_(engine_.get(), access_.get()),
      started_(SteadyNow()),
      config_(EffectiveConfig(config, settings_)) {}

std::shared_ptr<grpc::ServerCredentials> Server::Credentials() const {
  return tls_ == nullptr ? grpc::InsecureServerCredentials() : TlsCredentials(tls_.get());
}

absl::Status Server::Apply(const v1::ServerConfig& config, const std::function<absl::Status()>& along) {
  STOKER_RETURN_IF_ERROR(CheckTokensAreSafe(config, settings_.host));
  STOKER_ASSIGN_OR_RETURN(const Access::Options options, AccessOptions(config));
  return access_->Apply(options, [&]() -> absl::Status {
    if (config.has_tls() != (tls_ != nullptr))
      return absl::FailedPreconditionError("tls: whether there is TLS changes only with a restart");
    return tls_ == nullptr ? along() : tls_->Apply(config.tls(), along);
  });
}

absl::Status Server::Refresh() {
  absl::Status problem = tls_ == nullptr ? absl::OkStatus() : tls_->Refresh();
  problem.Update(access_->Refresh());
  problem.Update(RefreshAdminToken());
  absl::MutexLock lock(&mutex_);
  problem_ = std::string(problem.message());
  return problem;
}

absl::Status Server::RefreshAdminToken() {
  if (!admin_token_.has_value()) return absl::OkStatus();
  if (const auto read = admin_token_->Refresh(); !read.ok())
    return absl::Status(read.status().code(), absl::StrCat("admin.token_file: ", read.status().message()));
  STOKER_ASSIGN_OR_RETURN(const std::string token, AdminToken(admin_token_->content()));
  admin_->SetToken(token);
  return absl::OkStatus();
}

std::string Server::problem() const {
  absl::MutexLock lock(&mutex_);
  return problem_;
}

void Server::Watch() {
  const std::string before = problem();
  const std::string now(Refresh().message());
  // Files that belong together are seldom replaced at one moment. What is wrong for longer than a pause is told, once.
  if (now == before && now != told_problem_) {
    if (now.empty()) {
      spdlog::info("the files of tls, access and admin are good again");
      NotifyStatus(absl::StrCat("listening on ", address_));
    } else {
      spdlog::warn("{}; what was read before stays in use", now);
      NotifyStatus(absl::StrCat("listening on ", address_, " with what was read before: ", now));
    }
    told_problem_ = now;
  }
  if (tls_ == nullptr || tls_->current().number == told_version_) return;
  told_version_ = tls_->current().number;
  spdlog::info("tls: new connections get the certificate that was read just now");
}

void Server::Bound(grpc::ServerBuilder& builder) const {
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxConcurrentStreams);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kConnectionIdleMs);
  // Compressed requests are refused before they are inflated: a small one may inflate to a large one.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP})
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  // What gRPC itself reads and keeps for connections and calls. Spans are not of it.
  grpc::ResourceQuota quota("stokerd");
  builder.SetResourceQuota(quota.Resize(std::max(kLeastGrpcBytes, settings_.memory_limit_bytes / 8)));
}

void Server::Accept(ListeningSockets sockets) {
  Acceptor::Options options = {.limits = {settings_.connections, settings_.connections_per_peer},
                               .each_turn = [this](size_t ended) {
                                 service_.ExpireUnopened();
                                 freed_memory_.Turn(ended);
                               }};
  for (const auto& connections : connections_)
    options.take.emplace_back([&connections](int descriptor) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.fd = descriptor;
      connections->HandleNewConnection(&connection);
    });
  acceptor_ = std::make_unique<Acceptor>(std::move(sockets), std::move(options));
}

absl::Status Server::Listen(std::vector<OwnedFd> passed) {
  STOKER_ASSIGN_OR_RETURN(ListeningSockets sockets,
                          passed.empty()
                              ? ListeningSockets::Listen(settings_.host, settings_.port)
                              : ListeningSockets::TakeOver(std::move(passed), settings_.host, settings_.port));
  address_ = sockets.address();
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.RegisterService(&service_);
  builder.SetMaxReceiveMessageSize(kMaxRequestBytes);
  builder.SetMaxSendMessageSize(-1);  // Spans are bounded by the memory that they may take.
  Bound(builder);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kLeastPingIntervalMs);
  for (int i = 0; i < kTakers; ++i)
    connections_.push_back(builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials_));
  grpc_ = builder.BuildAndStart();
  if (grpc_ == nullptr)
    return absl::UnavailableError(absl::StrCat("gRPC cannot serve ", address_, "; --log-level debug says why"));
  grpc_->GetHealthCheckService()->SetServingStatus(v1::DataService::service_full_name(), true);
  pulse_.emplace(grpc_->InProcessChannel(grpc::ChannelArguments()));
  spdlog::info("{}: {} workers, {} of memory for streams, images of up to {} pixels", BuildDescription(),
               settings_.workers, FormatByteSize(engine_->slab_bytes()), settings_.max_pixels);
  if (!settings_.numa_nodes.empty())
    spdlog::info("workers are spread over {} NUMA nodes, and stay there", settings_.numa_nodes.size());
  if (const GrpcBuild build = GrpcBuildOfThisProcess(); !build.hardened && !IsLoopback(settings_.host))
    spdlog::warn("{}: anybody who can connect can take this server down; see docs/security.md", build.text);
  Accept(std::move(sockets));
  return absl::OkStatus();
}

absl::Status Server::StartAdmin() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  auto otlp = OtlpExporter::FromEnvironment(variable);
  // The environment may be meant for others, and metrics are not worth a server that does not start.
  if (!otlp.ok()) spdlog::warn("no metrics are sent: {}", std::string(otlp.status().message()));
  const bool sends = otlp.ok() && !otlp->url.empty();
  if (!settings_.admin.has_value() && !sends) return absl::OkStatus();
  Metrics& metrics = service_.log().metrics();
  metrics.Add([this] { return ServerFigures(*this); });
  metrics.Add(ProcessFigures);
  if (settings_.admin.has_value()) {
    const AdminSettings& admin = *settings_.admin;
    auto sockets = ListeningSockets::Listen(admin.host, admin.port);
    if (!sockets.ok())  // The message begins with the key that the address has elsewhere.
      return absl::Status(sockets.status().code(), absl::StrCat("admin.", sockets.status().message()));
    admin_sockets_.emplace(*std::move(sockets));
    AdminServer::Options options = {.token = admin.token, .routes = AdminPages(*this)};
    for (const OwnedFd& socket : admin_sockets_->sockets()) options.sockets.push_back(socket.get());
    STOKER_ASSIGN_OR_RETURN(admin_, AdminServer::Start(std::move(options)));
    if (const std::string file = config().admin().token_file(); !file.empty()) admin_token_.emplace(file);
    spdlog::info("admin on {}: / for people, and /metrics, /healthz, /readyz, /status, /config", admin_address());
  }
  if (!sends) return absl::OkStatus();
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  OtlpExporter::Describe(*otlp, "service.version", STOKER_VERSION);
  OtlpExporter::Describe(*otlp, "service.instance.id", absl::StrCat(host, "/", address_));
  OtlpExporter::Describe(*otlp, "host.name", host);
  spdlog::info("metrics go to {} every {}", otlp->shown, absl::FormatDuration(otlp->interval));
  otlp_ = std::make_unique<OtlpExporter>(*std::move(otlp), metrics);
  return absl::OkStatus();
}

void Server::ExpectDatasets() {
  for (const auto& [name, dataset] : engine_->catalog()->datasets) service_.log().metrics().Expect(name);
}

absl::StatusOr<std::string> Server::DrawSamples(const std::string& dataset, uint64_t first) {
  constexpr int kMostAtOnce = 2;
  const absl::Cleanup done = [this] { --drawing_; };
  if (++drawing_ > kMostAtOnce)
    return absl::UnavailableError("samples are being drawn for others; try again in a moment");
  return stoker::DrawSamples(*engine_, dataset, first);
}

absl::Duration Server::uptime() const { return SteadyNow() - started_; }

v1::ServerConfig Server::config() const {
  absl::MutexLock lock(&mutex_);
  return config_;
}

absl::Status Server::Replace(const v1::ServerConfig& was, const v1::ServerConfig& fresh) {
  STOKER_ASSIGN_OR_RETURN(const Settings settings, Resolve(fresh));
  STOKER_ASSIGN_OR_RETURN(auto datasets, OpenDatasets(fresh, settings, raw_cache_));
  const auto catalog = engine_->catalog();
  for (auto& [name, dataset] : datasets) {
    const auto kept = catalog->datasets.find(name);
    const auto *before = ConfigOf(was, name), *now = ConfigOf(fresh, name);
    if (kept == catalog->datasets.end() || before == nullptr || now == nullptr) continue;
    const bool same = google::protobuf::util::MessageDifferencer::Equals(*before, *now);
    if (same && kept->second->fingerprint() == dataset->fingerprint()) dataset = kept->second;
  }
  STOKER_ASSIGN_OR_RETURN(auto lists, ListsOf(fresh, datasets));
  STOKER_RETURN_IF_ERROR(Apply(fresh, [&] {
    return engine_->Replace({.datasets = std::move(datasets),
                             .lists = std::move(lists),
                             .pipelines = {fresh.pipelines().begin(), fresh.pipelines().end()}});
  }));
  ExpectDatasets();
  absl::MutexLock lock(&mutex_);
  *config_.mutable_datasets() = fresh.datasets();
  *config_.mutable_pipelines() = fresh.pipelines();
  *config_.mutable_access() = fresh.access();
  config_.mutable_log()->set_level(fresh.log().level());
  if (fresh.has_tls()) *config_.mutable_tls() = fresh.tls();
  return absl::OkStatus();
}

bool Server::Healthy() {
  const bool answers = pulse_->Feel();
  return answers && !engine_->stuck();
}

bool Server::Drain() {
  draining_ = true;
  grpc_->GetHealthCheckService()->SetServingStatus(false);
  service_.Drain();
  const bool ended = service_.AwaitStreamsEnd(settings_.drain);
  acceptor_.reset();
  pulse_->Close();
  grpc_->Shutdown(absl::ToChronoTime(absl::Now()));  // Without a deadline it can wait forever.
  return ended;
}

Server::~Server() {
  otlp_.reset();
  watch_.reset();
  admin_.reset();
  admin_sockets_.reset();
  if (grpc_ == nullptr) return;
  pulse_.reset();
  acceptor_.reset();
  grpc_->Shutdown(absl::ToChronoTime(absl::Now()));
  grpc_->Wait();
  service_.AwaitStreamsEnd(absl::InfiniteDuration());
}

}  // namespace stoker
