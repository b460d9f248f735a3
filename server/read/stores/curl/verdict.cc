#include "server/read/stores/curl/verdict.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace stoker {
namespace {

// A server that asks for a longer pause gets no longer one.
constexpr absl::Duration kLongestPause = absl::Seconds(30);

Verdict Final(const absl::Status& status) { return {.status = status}; }

Verdict Again(absl::string_view what) { return {.status = absl::UnavailableError(what), .again = true}; }

Verdict Changed(absl::string_view what) {
  return Final(absl::FailedPreconditionError(absl::StrCat("changed since it was indexed: ", what)));
}

// What "bytes 10-19/100" says.
struct ContentRange {
  uint64_t first = 0, last = 0, total = 0;
};

bool ParseContentRange(absl::string_view text, ContentRange& range) {
  if (!absl::ConsumePrefix(&text, "bytes ")) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::ByAnyChar("-/"));
  return parts.size() == 3 && absl::SimpleAtoi(parts[0], &range.first) && absl::SimpleAtoi(parts[1], &range.last) &&
         absl::SimpleAtoi(parts[2], &range.total);
}

absl::Duration PauseOf(const HttpResponse& response) {
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(response.Header("retry-after"), &seconds) || seconds < 0) return absl::ZeroDuration();
  return std::min(absl::Seconds(seconds), kLongestPause);
}

// Judges an answer whose status is not of success.
Verdict JudgeStatus(const HttpResponse& response) {
  const std::string answered = absl::StrCat("the server answered ", response.status);
  switch (response.status) {
    case 404:
    case 410: return Final(absl::NotFoundError(absl::StrCat("is not there: ", answered)));
    case 401:
    case 403: return Final(absl::PermissionDeniedError(absl::StrCat("may not be read: ", answered)));
    case 412: return Changed("its ETag is another");
    case 416: return Changed("it ends early");
    case 408:
    case 425:
    case 500:
    case 502:
    case 504: return Again(answered);
    case 429:
    case 503: return {absl::UnavailableError(answered), true, true, PauseOf(response)};
    default: return Final(absl::UnavailableError(answered));
  }
}

// Judges the head of an answer to a request for a range.
Verdict JudgeRange(const HttpRange& range, const HttpResponse& response, uint64_t got) {
  const uint64_t first = range.offset + got, bytes = range.into.size() - got;
  uint64_t length = 0;
  const bool has_length = absl::SimpleAtoi(response.Header("content-length"), &length);
  if (!range.version.empty() && VersionOf(response) != range.version)
    return Changed(absl::StrCat("its ", absl::StrContains(range.version, '"') ? "ETag" : "time of modification",
                                " is another, or the answer has none"));
  if (response.status == 200) {
    if (first == 0 && bytes == range.object_size) {
      if (!has_length || length == bytes) return {};
      return Changed(absl::StrCat(range.object_size, " bytes then, ", length, " now"));
    }
    return Final(absl::UnavailableError(
        "the server ignores the range that is asked for (it answered 200, not 206); use a server that has ranges"));
  }
  if (response.status != 206)
    return Final(absl::UnavailableError(absl::StrCat("the server answered ", response.status)));
  ContentRange content;
  if (!ParseContentRange(response.Header("content-range"), content))
    return Again("the server sends a part without saying which (Content-Range)");
  if (content.total != range.object_size)
    return Changed(absl::StrCat(range.object_size, " bytes then, ", content.total, " now"));
  if (content.first != first || content.last != first + bytes - 1)
    return Again(absl::StrCat("the server sends bytes ", content.first, " to ", content.last, ", where ", first, " to ",
                              first + bytes - 1, " were asked for"));
  if (has_length && length != bytes)
    return Again(absl::StrCat("the server announces ", length, " bytes, where ", bytes, " were asked for"));
  return {};
}

// Returns what an XML answer of S3 has in <Code>, or "".
absl::string_view CodeOf(absl::string_view body) {
  constexpr absl::string_view kOpen = "<Code>";
  const size_t open = body.find(kOpen);
  if (open == body.npos) return "";
  body.remove_prefix(open + kOpen.size());
  const absl::string_view code = body.substr(0, body.find('<'));
  const bool plain = code.size() <= 64 && std::all_of(code.begin(), code.end(), absl::ascii_isalnum);
  return plain ? code : "";
}

}  // namespace

std::string VersionOf(const HttpResponse& response) {
  const std::string etag = response.Header("etag");
  return etag.empty() ? response.Header("last-modified") : etag;
}

Verdict JudgeHead(const HttpRequest& request, const HttpResponse& response, uint64_t got) {
  if (response.status < 200 || response.status >= 300) return JudgeStatus(response);
  return request.range.has_value() ? JudgeRange(*request.range, response, got) : Verdict{};
}

Verdict JudgeRefusal(const Verdict& head, const HttpResponse& response, absl::string_view body) {
  const absl::string_view code = CodeOf(body);
  Verdict verdict = head;
  if (!code.empty()) verdict.status = absl::Status(head.status.code(), absl::StrCat(head.status.message(), " ", code));
  // Amazon's, which come with statuses that say nothing of another try.
  if (code == "RequestTimeout" || code == "InternalError") verdict.again = true;
  if (code == "SlowDown" || code == "Throttling" || code == "ThrottlingException")
    verdict.again = verdict.throttled = true;
  if (code == "ExpiredToken" || code == "InvalidToken")
    verdict.status = absl::PermissionDeniedError(
        absl::StrCat(verdict.status.message(), "; give the server credentials that are valid"));
  if (const std::string region = response.Header("x-amz-bucket-region");
      !region.empty() && (response.status == 301 || response.status == 307 || response.status == 400))
    verdict.status = absl::UnavailableError(
        absl::StrCat(verdict.status.message(), "; the bucket's region is ", region, ": set `s3: {region: ...}`"));
  return verdict;
}

bool MayRedirect(absl::string_view from, absl::string_view to) {
  if (absl::StartsWithIgnoreCase(to, "https://")) return true;
  return absl::StartsWithIgnoreCase(to, "http://") && absl::StartsWithIgnoreCase(from, "http://");
}

bool SameOrigin(absl::string_view a, absl::string_view b) {
  const auto origin = [](absl::string_view url) {
    const size_t scheme = url.find("://");
    return scheme == url.npos ? url : url.substr(0, url.find_first_of("/?#", scheme + 3));
  };
  return absl::EqualsIgnoreCase(origin(a), origin(b));
}

}  // namespace stoker
