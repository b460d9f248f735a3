#ifndef STOKER_SERVER_MAIN_SERVER_H_
#define STOKER_SERVER_MAIN_SERVER_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/config/watched_file.h"
#include "common/time/periodic.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/admin/admin_server.h"
#include "server/config/settings.h"
#include "server/main/acceptor.h"
#include "server/main/credentials.h"
#include "server/main/freed_memory.h"
#include "server/main/otlp_exporter.h"
#include "server/main/preview.h"
#include "server/main/pulse.h"
#include "server/read/staged/staging.h"
#include "server/request/access.h"
#include "server/send/data_service.h"
#include "server/work/engine.h"
#include "stoker/v1/config.pb.h"

namespace stoker {

using Datasets = std::map<std::string, std::shared_ptr<const Dataset>>;  // by name

// Opens the folder in which shards that are compressed as a whole are kept decompressed; null where none is configured,
// or, after a warning, where it cannot be used. `progress` is that of Staging::Options. The disk of `raw_cache`, which
// may be null, gives room to what is decompressed.
std::shared_ptr<Staging> OpenStaging(const Settings& settings,
                                     std::function<void(uint64_t taken, uint64_t of)> progress,
                                     const std::shared_ptr<RawCache>& raw_cache = nullptr);

// Opens the datasets of a configuration, of which `settings` was resolved. Takes long for a folder that was never
// indexed, and then logs its progress. What is read from slow storage is kept in `raw_cache`, which may be null. Errors
// name the key or path.
absl::StatusOr<Datasets> OpenDatasets(const v1::ServerConfig& config, const Settings& settings,
                                      const std::shared_ptr<RawCache>& raw_cache = nullptr);

// Returns the cache that the settings ask for, or null, and logs what it has. What is wrong with its disk is logged,
// and the cache is without it.
std::shared_ptr<RawCache> OpenRawCache(const Settings& settings, Admission::Kind kind = Admission::Kind::kServing);

// A running stokerd: datasets opened, workers started, the port answering. Wires the stages and owns them.
//
// Thread-safe but for its destruction, which ends all calls at once.
class Server {
 public:
  // Starts workers over `datasets`, which were opened with `raw_cache`, and listens, or takes over the sockets of
  // PassedSockets where there are any. `settings` was resolved of `config`. The files of `tls` and `access` are read
  // again when they change, at most a second later. Errors name the key or address.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const v1::ServerConfig& config, Settings settings,
                                                       Datasets datasets, std::shared_ptr<RawCache> raw_cache = nullptr,
                                                       std::vector<OwnedFd> passed = {});

  // Resolves `config` and starts a server over its datasets.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const v1::ServerConfig& config);

  ~Server();

  // "HOST:PORT", the port that was taken where 0 was asked for.
  const std::string& address() const { return address_; }

  // The same of the admin address; empty where there is none.
  std::string admin_address() const { return admin_sockets_.has_value() ? admin_sockets_->address() : ""; }

  // What it was started with.
  const Settings& settings() const { return settings_; }

  // Serves new streams what `fresh` says of datasets, lists and pipelines, and takes up what Apply does; `was` is what
  // is served now. A dataset that is configured as before and has the same fingerprint is kept. Errors name the key or
  // path, and then nothing changes. May take long, like OpenDatasets. One thread at a time.
  absl::Status Replace(const v1::ServerConfig& was, const v1::ServerConfig& fresh);

  // Returns whether gRPC's threads and the workers still answer. Never blocks.
  bool Healthy();

  // Whether Drain was called.
  bool draining() const { return draining_; }

  // Since it was started.
  absl::Duration uptime() const;

  // What is configured, with the defaults of this machine; `config` of the latest Replace that was taken up.
  v1::ServerConfig config() const;

  // Notes whether the configuration was taken up when it was read again, and tells it.
  void NoteReload(bool success) { reload_success_ = success; }
  bool reload_success() const { return reload_success_; }

  const Engine& engine() const { return *engine_; }

  // Keeps samples of slow storage; null where nothing does.
  const RawCache* raw_cache() const { return raw_cache_.get(); }

  // The images that it keeps decoded.
  const DecodedCache& decoded_cache() const { return engine_->decoded(); }

  // Counts what streams do.
  ServiceLog& service_log() { return service_.log(); }

  // See DataService::Streams.
  std::pair<std::vector<DataService::OpenStream>, size_t> streams(size_t most) { return service_.Streams(most); }

  // See preview.h. Unavailable, too, where two are drawn already: others need the admin address's threads.
  absl::StatusOr<std::string> DrawSamples(const std::string& dataset, uint64_t first);

  // Takes up what `config` says of certificates, of who may read what, and of quotas: all of it or, on an error,
  // nothing. Streams that are open go on as they are; new connections and streams get the new. FailedPrecondition for a
  // change that needs a restart, such as whether there is TLS at all.
  //
  // `along` is called when all is good and before it is taken up; its error keeps it from that.
  absl::Status Apply(
      const v1::ServerConfig& config, const std::function<absl::Status()>& along = [] { return absl::OkStatus(); });

  // Reads the files of `tls` and `access` again that changed, now instead of within a second. The error says which of
  // them is not taken up, and why.
  absl::Status Refresh();
  absl::Status RefreshAdminToken();

  // What is wrong with these files now, for people; empty where nothing is.
  std::string problem() const;

  // Turns clients away, finishes what streams are owed for at most settings.drain, and stops answering. True if
  // every stream ended by itself.
  bool Drain();

 private:
  Server(const v1::ServerConfig& config, Settings settings, std::shared_ptr<RawCache> raw_cache,
         std::unique_ptr<Engine> engine, std::unique_ptr<Access> access);

  absl::Status Listen(std::vector<OwnedFd> passed);
  std::shared_ptr<grpc::ServerCredentials> Credentials() const;

  // Refreshes, and logs what became of it.
  void Watch() ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets what of gRPC's own limits a hostile client must not exceed.
  void Bound(grpc::ServerBuilder& builder) const;

  // Makes metrics of the datasets that are served now.
  void ExpectDatasets();

  // Answers operators, where the settings say so, and sends metrics where the environment does.
  absl::Status StartAdmin();

  // Hands the connections of `sockets` to gRPC from now on, and does what is to be done every second.
  void Accept(ListeningSockets sockets);

  const Settings settings_;
  const std::shared_ptr<RawCache> raw_cache_;  // null where nothing is kept
  const std::unique_ptr<Engine> engine_;
  const std::unique_ptr<Access> access_;
  const std::unique_ptr<ServedTls> tls_;  // null without TLS
  const std::shared_ptr<grpc::ServerCredentials> credentials_;
  DataService service_;
  std::string address_;
  std::unique_ptr<grpc::Server> grpc_;
  std::optional<Pulse> pulse_;
  // gRPC's ends of them, each of which takes one connection at a time.
  std::vector<std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>> connections_;
  FreedMemory freed_memory_;
  std::unique_ptr<Acceptor> acceptor_;

  const absl::Time started_;
  std::atomic<bool> draining_ = false, reload_success_ = true;
  std::atomic<int> drawing_ = 0;

  mutable absl::Mutex mutex_;
  v1::ServerConfig config_ ABSL_GUARDED_BY(mutex_);
  std::string problem_ ABSL_GUARDED_BY(mutex_);
  std::string told_problem_;  // Only Watch() touches this and the next two.
  uint64_t told_version_ = 1;
  std::optional<WatchedFile> admin_token_;  // none where operators need no token

  // These and the acceptor are last: their threads use the rest.
  std::unique_ptr<Periodic> watch_;
  std::optional<ListeningSockets> admin_sockets_;
  std::unique_ptr<AdminServer> admin_;  // null where nobody asked for it,
  std::unique_ptr<OtlpExporter> otlp_;  // as this
};

// What `config` says of who may do what. Errors name the dataset.
absl::StatusOr<Access::Options> AccessOptions(const v1::ServerConfig& config);

// The engine over `datasets`: what Start serves. `raw_cache` may be null.
absl::StatusOr<std::unique_ptr<Engine>> CreateEngine(const v1::ServerConfig& config, const Settings& settings,
                                                     Datasets datasets, std::shared_ptr<RawCache> raw_cache);

// "stokerd 0.1.0, gRPC 1.51.1 with Stoker's fixes 1": for people, never compared.
std::string BuildDescription();

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_SERVER_H_
