#ifndef STOKER_TESTS_SUPPORT_HTTP_SERVER_H_
#define STOKER_TESTS_SUPPORT_HTTP_SERVER_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/time/time.h"

namespace stoker {

// An HTTP/1.1 server on a free port of the loopback, which answers as a test says: rightly, or not. Thread-safe.
class HttpServer {
 public:
  struct Request {
    std::string method, target;                  // target as sent: "/a%20b?c"
    std::map<std::string, std::string> headers;  // by their names in lowercase
    std::string body;
    int number = 0;  // of all requests so far, from 1 on

    std::string Header(const std::string& name) const {
      const auto found = headers.find(name);
      return found == headers.end() ? "" : found->second;
    }
  };
  struct Reply {
    int status = 200;
    std::map<std::string, std::string> headers = {};  // Content-Length is the body's where it is not given
    std::string body = {};
    absl::Duration delay = absl::ZeroDuration();  // before the first byte
    size_t break_after = ~size_t{};               // bytes of the body, after which the connection is closed
    bool reset = false;                           // whether it is closed by a reset, then
  };
  using Handler = std::function<Reply(const Request&)>;  // is called by several threads

  struct Counts {
    std::atomic<int> requests = 0, connections = 0, open = 0, most_open = 0;
  };

  // With `certificate`, the prefix of MakeCertificate's files, it speaks TLS.
  explicit HttpServer(Handler handler, const std::string& certificate = "");
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  const std::string& url() const;  // "http://127.0.0.1:1234"
  const Counts& counts() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Returns the reply of a right server to a request for an object: whole, or the range that is asked for, with an ETag.
HttpServer::Reply ServeObject(const HttpServer::Request& request, const std::string& bytes,
                              const std::string& etag = "\"1\"");

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_HTTP_SERVER_H_
