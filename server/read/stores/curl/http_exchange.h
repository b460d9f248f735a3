#ifndef STOKER_SERVER_READ_STORES_CURL_HTTP_EXCHANGE_H_
#define STOKER_SERVER_READ_STORES_CURL_HTTP_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// What is asked of an HTTP server, and what it answers. Plain values.

// A range of an object, which must be the one that was described.
struct HttpRange {
  uint64_t offset = 0;
  std::span<uint8_t> into;   // is filled from `offset` on; lives until the request is done
  uint64_t object_size = 0;  // bytes
  std::string version;       // VersionOf the object when it was described; empty where it had none
};

struct HttpRequest {
  std::string method = "GET";  // or HEAD, PUT, POST
  std::string url;             // percent-encoded, without user and password
  std::string name;            // of the object, as errors call it

  std::vector<std::string> headers = {};         // "Name: value"
  std::vector<std::string> secret_headers = {};  // likewise; they go to the URL's own scheme, host and port alone
  // If set, it gives more headers before each try, on a thread that it must not block.
  std::function<std::vector<std::string>()> sign = nullptr;
  std::string body = {};  // of PUT and POST

  // Asks for a range. Without one the answer's body becomes HttpResponse::body.
  std::optional<HttpRange> range = std::nullopt;

  uint64_t most_body_bytes = 16 << 20;  // more of HttpResponse::body is an error
  bool direct = false;                  // past any proxy that the environment names
  std::string unix_socket = {};         // where the host of the URL is reached; empty: by its address
  bool follows_redirects = true;        // where they do not lead from https to http
};

struct HttpResponse {
  int status = 0;  // 200, 206, 404, ...
  // By their names in lowercase; those alone that kKeptHeaders names.
  std::map<std::string, std::string> headers = {};
  std::string body = {};

  // Returns a header's value, or "".
  std::string Header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

// Is called once: with an answer of status 200 to 299, or the error that ended the last try.
using HttpDone = std::function<void(absl::StatusOr<HttpResponse>)>;

// Returns what changes when the object of an answer does: its ETag, or else the time of its last modification, or else
// nothing.
std::string VersionOf(const HttpResponse& response);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_CURL_HTTP_EXCHANGE_H_
