#ifndef STOKER_SERVER_ADMIN_ADMIN_SERVER_H_
#define STOKER_SERVER_ADMIN_ADMIN_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace stoker {

// Answers operators' questions by plain HTTP/1.1, with libmicrohttpd: GET and HEAD of a few paths, and nothing that
// changes anything. Threads of its own call the functions that make the pages, several at once. Thread-safe.
class AdminServer {
 public:
  // What is answered.
  struct Page {
    int status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body;
    std::map<std::string, std::string> headers = {};  // more of them
  };

  // What stands behind the '?' of a request, decoded: the value of a name, or "".
  using Query = std::function<std::string(const char* name)>;

  struct Route {
    std::function<Page(const Query&)> make;
    bool is_open = false;  // It is answered without the token.
  };

  struct Options {
    std::vector<int> sockets;             // stream sockets that listen, and stay the caller's
    std::string token;                    // what requests must bear at first, if it is not empty
    std::map<std::string, Route> routes;  // by path: "/metrics"
  };

  // Begins to answer. Unavailable where the system has no threads or files for it.
  static absl::StatusOr<std::unique_ptr<AdminServer>> Start(Options options);

  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  // Waits for the end of what is answered now.
  ~AdminServer();

  // Changes what requests must bear.
  void SetToken(const std::string& token);

 private:
  class Listener;
  struct Request;

  explicit AdminServer(Options options);

  Page Answer(const Request& request) const;
  bool Bears(const Request& request) const;

  const Options options_;
  mutable absl::Mutex mutex_;
  std::string token_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Listener>> listeners_;  // of each socket
};

}  // namespace stoker

#endif  // STOKER_SERVER_ADMIN_ADMIN_SERVER_H_
