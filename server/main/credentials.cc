#include "server/main/credentials.h"

#include <atomic>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "grpc/grpc.h"
#include "grpc/grpc_security.h"

namespace stoker {
namespace {

// gRPC 1.51 calls Fetch under a lock, and frees what it replaces under that lock; but a connection that asked just
// before begins its handshake with that, without the lock. That takes it microseconds. No other can come while Fetch
// waits. cmake/grpc/5-certificates.patch mends it where gRPC is built here.
constexpr absl::Duration kSettle = absl::Milliseconds(200);

grpc_ssl_client_certificate_request_type RequestOf(const v1::TlsConfig& config) {
  if (config.client_ca_file().empty()) return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  return config.client_certificates() == v1::CLIENT_CERTIFICATES_OPTIONAL
             ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY
             : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
}

}  // namespace

ServedTls::Watched::Watched(const v1::TlsConfig& tls)
    : config(tls), certificate(tls.certificate_file()), key(tls.key_file()), client_ca(tls.client_ca_file()) {}

absl::StatusOr<bool> ServedTls::Watched::Refresh() {
  bool changed = false;
  for (WatchedFile* file : {&certificate, &key, &client_ca}) {
    if (file->path().empty()) continue;
    const auto refreshed = file->Refresh();
    if (!refreshed.ok())
      return absl::FailedPreconditionError(absl::StrCat("tls: cannot be read: ", refreshed.status().message()));
    changed = changed || *refreshed;
  }
  return changed;
}

ServedTls::ServedTls(v1::TlsConfig config, TlsFiles files)
    : first_config_(std::move(config)), watched_(std::make_unique<Watched>(first_config_)) {
  current_ = {.number = 1, .files = std::make_shared<const TlsFiles>(std::move(files))};
}

absl::Status ServedTls::Refresh() {
  absl::MutexLock lock(&refreshing_);
  const auto changed = watched_->Refresh();
  if (!changed.ok()) return changed.status();
  // A certificate may have expired since, and a set that waits for its other file is looked at when that has come.
  if (*changed || !problem_.ok()) problem_ = Take(*watched_, [] { return absl::OkStatus(); });
  return problem_;
}

absl::Status ServedTls::Apply(const v1::TlsConfig& config, const std::function<absl::Status()>& along) {
  if (RequestOf(config) != RequestOf(first_config_))
    return absl::FailedPreconditionError(
        "tls: whether clients need certificates changes only with a restart (client_ca_file, client_certificates)");
  auto watched = std::make_unique<Watched>(config);
  if (const auto read = watched->Refresh(); !read.ok()) return read.status();
  absl::MutexLock lock(&refreshing_);
  STOKER_RETURN_IF_ERROR(Take(*watched, along));
  watched_ = std::move(watched);
  problem_ = absl::OkStatus();
  return absl::OkStatus();
}

absl::Status ServedTls::Take(const Watched& watched, const std::function<absl::Status()>& along) {
  TlsFiles files = watched.files();
  if (*current().files == files) return along();
  STOKER_RETURN_IF_ERROR(CheckTlsFiles(watched.config, files));
  STOKER_RETURN_IF_ERROR(CheckTlsTime(watched.config, files, absl::Now()));
  STOKER_RETURN_IF_ERROR(along());
  absl::MutexLock lock(&mutex_);
  current_ = {.number = current_.number + 1, .files = std::make_shared<const TlsFiles>(std::move(files))};
  return absl::OkStatus();
}

ServedTls::Version ServedTls::current() const {
  absl::MutexLock lock(&mutex_);
  return current_;
}

namespace {

class Credentials : public grpc::ServerCredentials {
 public:
  explicit Credentials(const ServedTls* served) : served_(served) {}

  // Tokens are looked at by DataService, which answers in words of its own.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  // One listening port, and which version it has.
  struct Port {
    explicit Port(const ServedTls* served) : served(served) {}
    const ServedTls* const served;
    std::atomic<uint64_t> number = 0;
  };

  int AddPortToServer(const std::string& address, grpc_server* server) override {
    // gRPC calls back for as long as the server lives, and does not hold these credentials: Server does.
    Port& port = ports_.emplace_back(served_);
    grpc_ssl_server_credentials_options* options = grpc_ssl_server_credentials_create_options_using_config_fetcher(
        RequestOf(served_->first_config()), &Credentials::Fetch, &port);
    grpc_server_credentials* credentials = grpc_ssl_server_credentials_create_with_options(options);
    const int bound = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return bound;
  }

  // gRPC asks at the beginning of each connection. Where the new set cannot be used it logs that, and goes on with the
  // old one.
  static grpc_ssl_certificate_config_reload_status Fetch(void* data, grpc_ssl_server_certificate_config** config) {
    Port& port = *static_cast<Port*>(data);
    const ServedTls::Version version = port.served->current();
    const uint64_t before = port.number.exchange(version.number);
    if (before == version.number) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    if (before != 0) absl::SleepFor(kSettle);
    const TlsFiles& files = *version.files;
    const grpc_ssl_pem_key_cert_pair pair = {files.key.c_str(), files.certificate.c_str()};
    // gRPC 1.51 wants authorities here even where clients are asked for nothing, and then does not use them.
    const std::string& authorities = files.client_ca.empty() ? files.certificate : files.client_ca;
    *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const ServedTls* const served_;
  std::deque<Port> ports_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(const ServedTls* served) {
  return std::make_shared<Credentials>(served);
}

}  // namespace stoker
