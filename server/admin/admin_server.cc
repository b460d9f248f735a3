#include "server/admin/admin_server.h"

#include <microhttpd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/time/periodic.h"
#include "common/time/steady_time.h"

namespace stoker {
namespace {

// Connections at once, each with a thread of its own, so that a page that takes long delays no other.
constexpr unsigned int kConnections = 64, kConnectionsPerPeer = 32;
constexpr unsigned int kSilenceSeconds = 2;  // after which a connection ends
// The longest that a connection lives, so that who sends its request in drops holds no thread for long.
constexpr absl::Duration kLife = absl::Seconds(15);

constexpr std::string_view kBearer = "Bearer ";
constexpr size_t kMostValueBytes = 512;  // of a query

// Whether both are equal; how long that takes tells nothing of where they differ.
bool AreEqual(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differs = 0;
  for (size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

}  // namespace

// What somebody asks.
struct AdminServer::Request {
  MHD_Connection* connection;
  std::string path;
  std::string_view method;

  // Returns the value of `name` in the query of the URL; "" where there is none, or more than kMostValueBytes.
  std::string ValueOf(std::string_view name) const {
    const char* value = nullptr;
    size_t bytes = 0;
    if (MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, name.data(), name.size(), &value, &bytes) !=
            MHD_YES ||
        value == nullptr || bytes > kMostValueBytes)
      return "";
    return {value, bytes};
  }

  std::string_view Header(const char* name) const {
    const char* const value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value == nullptr ? "" : value;
  }
};

bool AdminServer::Bears(const Request& request) const {
  const std::string_view text = request.Header("Authorization");
  absl::MutexLock lock(&mutex_);
  return token_.empty() || (text.starts_with(kBearer) && AreEqual(text.substr(kBearer.size()), token_));
}

AdminServer::Page AdminServer::Answer(const Request& request) const {
  const auto route = options_.routes.find(request.path);
  const bool is_known = route != options_.routes.end();
  if (request.method != MHD_HTTP_METHOD_GET && request.method != MHD_HTTP_METHOD_HEAD)
    return {.status = 405, .body = "this address answers GET alone\n", .headers = {{"Allow", "GET, HEAD"}}};
  if (!(is_known && route->second.is_open) && !Bears(request))
    return {.status = 401,
            .body = "send the token of admin.token_file: Authorization: Bearer …\n",
            .headers = {{"WWW-Authenticate", "Bearer"}}};
  if (is_known) return route->second.make([&request](const char* name) { return request.ValueOf(name); });
  std::vector<std::string> paths;
  for (const auto& [known, unused] : options_.routes) paths.push_back(known);
  return {.status = 404, .body = absl::StrCat("there is no such page; there are ", absl::StrJoin(paths, ", "), "\n")};
}

// Answers the connections of one socket.
class AdminServer::Listener {
 public:
  Listener(const AdminServer& server, int socket)
      : server_(server), old_ones_(absl::Seconds(1), [this] { EndOldConnections(); }) {
    const int own = dup(socket);  // It is closed with the daemon.
    if (own < 0) return;
    daemon_ = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC, 0, nullptr,
        nullptr, &OnRequest, this, MHD_OPTION_LISTEN_SOCKET, own, MHD_OPTION_NOTIFY_CONNECTION, &OnConnection, this,
        MHD_OPTION_CONNECTION_LIMIT, kConnections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, kConnectionsPerPeer,
        MHD_OPTION_CONNECTION_TIMEOUT, kSilenceSeconds, MHD_OPTION_END);
    if (daemon_ == nullptr) close(own);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
  }

  bool listens() const { return daemon_ != nullptr; }

 private:
  static MHD_Result OnRequest(void* self, MHD_Connection* connection, const char* url, const char* method,
                              const char* version, const char* body, size_t* body_size, void** state) {
    Page page;
    try {  // libmicrohttpd is C.
      page = static_cast<Listener*>(self)->server_.Answer({connection, url, method});
    } catch (const std::exception& error) {
      page = {.status = 500, .body = "this page could not be made\n"};
    }
    MHD_Response* const response =
        MHD_create_response_from_buffer(page.body.size(), page.body.data(), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", page.type.c_str());
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Connection", "close");
    for (const auto& [name, value] : page.headers) MHD_add_response_header(response, name.c_str(), value.c_str());
    const MHD_Result queued = MHD_queue_response(connection, static_cast<unsigned int>(page.status), response);
    MHD_destroy_response(response);
    return queued;
  }

  static void OnConnection(void* self, MHD_Connection* connection, void** state, MHD_ConnectionNotificationCode what) {
    auto& listener = *static_cast<Listener*>(self);
    const int socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    absl::MutexLock lock(&listener.mutex_);
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
      listener.since_.erase(socket);
      return;
    }
    try {
      listener.since_[socket] = SteadyNow();
    } catch (const std::bad_alloc&) {  // Then silence alone ends it.
    }
  }

  void EndOldConnections() {
    absl::MutexLock lock(&mutex_);
    for (const auto& [socket, since] : since_)
      if (SteadyNow() - since > kLife) shutdown(socket, SHUT_RDWR);
  }

  const AdminServer& server_;
  MHD_Daemon* daemon_ = nullptr;
  absl::Mutex mutex_;
  std::map<int, absl::Time> since_ ABSL_GUARDED_BY(mutex_);  // when each connection began
  Periodic old_ones_;
};

AdminServer::AdminServer(Options options) : options_(std::move(options)), token_(options_.token) {}

AdminServer::~AdminServer() = default;

void AdminServer::SetToken(const std::string& token) {
  absl::MutexLock lock(&mutex_);
  token_ = token;
}

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(Options options) {
  std::unique_ptr<AdminServer> server(new AdminServer(std::move(options)));
  for (const int socket : server->options_.sockets) {
    server->listeners_.push_back(std::make_unique<Listener>(*server, socket));
    if (!server->listeners_.back()->listens())
      return absl::UnavailableError("admin.listen: no threads or files are left to answer operators with");
  }
  return server;
}

}  // namespace stoker
