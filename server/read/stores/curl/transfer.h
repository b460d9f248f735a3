#ifndef STOKER_SERVER_READ_STORES_CURL_TRANSFER_H_
#define STOKER_SERVER_READ_STORES_CURL_TRANSFER_H_

#include <curl/curl.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/read/stores/curl/event_loop.h"
#include "server/read/stores/curl/http_exchange.h"
#include "server/read/stores/curl/verdict.h"

namespace stoker {

// A request on its way through its tries. One thread at a time.
//
// A read can have a twin, which asks for the same. Whichever gets a byte first goes on alone, and the other one has
// lost.
class Transfer {
 public:
  Transfer(HttpRequest request, HttpDone done)
      : request_(std::move(request)), done_(std::move(done)), url_(request_.url) {}
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() { Part(); }

  // Prepares `curl`, a reset handle, for the next try. The handle must not be used after the transfer.
  void Begin(CURL* curl, const HttpLimits& limits, absl::Time now);

  // Ends the try by what libcurl gave, and says what that means. After a redirect another try follows at once.
  Verdict End(CURL* curl, CURLcode result);

  // What the try that libcurl ends with `result` counts as: see Traffic::Asked.
  std::string CodeOf(CURLcode result) const;

  // Calls `done` with the answer, or the error that all tries ended with, and which names the object. A twin that has
  // none is silent.
  void Finish(const absl::Status& status);

  // Whether this is a read whose first try waits for its first byte, and which has no twin.
  bool may_have_twin() const;

  // Returns the twin of a read that may have one.
  std::unique_ptr<Transfer> Twin();

  bool has_twin() const { return twin_ != nullptr; }

  // Leaves the read to its twin.
  void YieldToTwin();

  // Whether the twin was faster. Nothing is left to do.
  bool has_lost() const { return has_lost_; }

  // Returns how long the first byte of a read's first try took; infinite where it did not come.
  absl::Duration first_byte_after() const { return first_byte_after_; }

  int tries() const { return tries_; }
  absl::Time first_began() const { return first_began_; }
  absl::Time began() const { return began_; }
  absl::Time last_byte() const { return last_byte_; }
  const std::string& name() const { return request_.name; }

 private:
  static size_t OnHeader(const char* bytes, size_t size, size_t count, void* self);
  static size_t OnBody(const char* bytes, size_t size, size_t count, void* self);

  // These return whether to go on with the try.
  bool TakeHeader(absl::string_view line);
  bool TakeBody(absl::string_view bytes);
  void SetHeaders(CURL* curl);
  Verdict Judge(CURLcode result) const;
  Verdict JudgeFailure(CURLcode result) const;
  Verdict Redirect(CURL* curl);
  bool is_redirect() const;
  // Ends the bond of the twins.
  void Part();

  HttpRequest request_;
  HttpDone done_;
  std::string url_;  // the request's, or where it was redirected to
  int tries_ = 0, redirects_ = 0;
  uint64_t got_ = 0;  // bytes of the range
  absl::Time first_began_;
  absl::Duration first_byte_after_ = absl::InfiniteDuration();
  Transfer* twin_ = nullptr;
  bool has_lost_ = false;

  // These members belong to the present try.
  absl::Time began_, last_byte_;
  HttpResponse response_;
  bool judged_ = false;  // whether head_ is known
  Verdict head_;
  std::string refusal_;  // the begin of a body that is not wanted
  bool too_long_ = false;
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers_{nullptr, curl_slist_free_all};
  std::array<char, CURL_ERROR_SIZE> error_{};
};

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_CURL_TRANSFER_H_
