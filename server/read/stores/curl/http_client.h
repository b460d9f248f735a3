#ifndef STOKER_SERVER_READ_STORES_CURL_HTTP_CLIENT_H_
#define STOKER_SERVER_READ_STORES_CURL_HTTP_CLIENT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/read/stores/curl/event_loop.h"
#include "server/read/stores/curl/http_exchange.h"
#include "server/read/stores/store.h"

namespace stoker {

// Makes HTTP requests by several event loops, since one thread cannot decrypt what a fast network brings. Thread-safe.
// Its destructor ends all requests with Unavailable. Errors are those of Store, and begin with the request's name.
class HttpClient {
 public:
  // A range above kLongestRange is read by parts of kPartBytes at once.
  static constexpr uint64_t kLongestRange = 16 << 20, kPartBytes = 8 << 20;

  // The limits are those of all loops together. Requires limits.requests > 0.
  explicit HttpClient(const HttpLimits& limits);

  void Start(HttpRequest request, HttpDone done);

  // Makes a request and waits for its answer. It must not be called by `done`.
  absl::StatusOr<HttpResponse> Fetch(HttpRequest request);

  // Describes objects, in the order of their names here, by the HEAD requests that `request` returns for these: many at
  // once. Returns the error of the first that has one; Unavailable where a server does not say how long an object is.
  absl::StatusOr<std::vector<ObjectInfo>> Describe(const std::vector<std::string>& names,
                                                   const std::function<HttpRequest(const std::string&)>& request);

  // Reads a range by copies of `request`, which names the object.
  void Read(const HttpRequest& request, const Store::Range& range, Store::Done done);

 private:
  std::vector<std::unique_ptr<EventLoop>> loops_;
  std::atomic<uint32_t> next_ = 0;
};

// Returns `limits` with the authorities that are the system's where none are named: Debian's place for them, or those
// of other systems, to which the bundle is carried.
HttpLimits WithAuthorities(HttpLimits limits);

// Percent-encodes all but letters, digits and "-._~", and '/' where `keeps_slashes`.
std::string PercentEncoded(const std::string& text, bool keeps_slashes);

// The reverse. What is no percent-encoding stays as it is.
std::string PercentDecoded(const std::string& text);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_CURL_HTTP_CLIENT_H_
