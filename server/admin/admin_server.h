#ifndef STOKER_SERVER_ADMIN_ADMIN_SERVER_H_
#define STOKER_SERVER_ADMIN_ADMIN_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

struct mg_context;
struct mg_connection;

namespace stoker {

// Answers operators' questions by plain HTTP/1.1, with CivetWeb: GET and HEAD of a few paths, and nothing that changes
// anything. Threads of its own call the functions that make the pages, several at once. Thread-safe.
class AdminServer {
 public:
  // What is answered.
  struct Page {
    int status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body;
    std::string headers = {};  // more of them, each with its end: "Name: value\r\n"
  };

  // What stands behind the '?' of a request, decoded: the value of a name, or "".
  using Query = std::function<std::string(const char* name)>;

  struct Route {
    std::function<Page(const Query&)> make;
    bool is_open = false;  // It is answered without the token.
  };

  struct Options {
    std::string host;                     // an address, or "localhost"; one of IPv6 in brackets
    int port = 0;                         // 0 takes a free one
    std::string token;                    // what requests must bear, if it is not empty
    std::map<std::string, Route> routes;  // by path: "/metrics"
  };

  // Listens. Unavailable where the address cannot be had.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(Options options);

  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  // Waits for the end of what is answered now.
  ~AdminServer();

  // "HOST:PORT", the port that was taken where 0 was asked for.
  const std::string& address() const { return address_; }

 private:
  explicit AdminServer(Options options) : options_(std::move(options)) {}

  Page Answer(const mg_connection* connection) const;
  static int OnRequest(mg_connection* connection, void* server);

  const Options options_;
  std::string address_;
  mg_context* context_ = nullptr;
};

}  // namespace stoker

#endif  // STOKER_SERVER_ADMIN_ADMIN_SERVER_H_
