#ifndef STOKER_SERVER_READ_STORES_CURL_VERDICT_H_
#define STOKER_SERVER_READ_STORES_CURL_VERDICT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/read/stores/curl/http_exchange.h"

namespace stoker {

// What the end of one try means. All functions are pure. Messages do not name the object; they hold no header and no
// body but the server's own error code, such as S3's NoSuchKey.

struct Verdict {
  absl::Status status = absl::OkStatus();       // of the try; OK where the answer is whole
  bool again = false;                           // whether another try may go better
  bool throttled = false;                       // whether the server asks for fewer requests
  absl::Duration pause = absl::ZeroDuration();  // that the server asks for until the next try
  bool redirected = false;                      // whether the next try is of another URL, and part of this one
};

// Judges the head of an answer, before its body: OK where the body is what was asked for. `got` is the number of bytes
// of the range that earlier tries brought, after which this one was to go on.
Verdict JudgeHead(const HttpRequest& request, const HttpResponse& response, uint64_t got);

// The same for an answer that JudgeHead refused, with the begin of its body, which may say why.
Verdict JudgeRefusal(const Verdict& head, const HttpResponse& response, absl::string_view body);

// Whether a redirect may be followed: http and https alone, and not from https to http.
bool MayRedirect(absl::string_view from, absl::string_view to);

// Whether both URLs have one scheme, host and port.
bool SameOrigin(absl::string_view a, absl::string_view b);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_STORES_CURL_VERDICT_H_
