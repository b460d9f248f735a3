#include "server/read/stores/curl/transfer.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/check.h"
#include "common/time/steady_time.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr int kMostRedirects = 5;
constexpr size_t kMostRefusalBytes = 4096;
constexpr long kLeastBytesPerSecond = 1024;

void Set(CURL* curl, CURLoption option, auto value) {
  STOKER_CHECK(curl_easy_setopt(curl, option, value) == CURLE_OK);  // It fails without memory, or for our mistake.
}

// The headers that anybody reads.
bool IsKept(const std::string& name) {
  static const std::set<std::string> kept = {"etag",        "last-modified", "content-range",      "content-length",
                                             "retry-after", "content-type",  "x-amz-bucket-region"};
  return kept.contains(name);
}

void SetTimes(CURL* curl, const HttpLimits& limits, absl::Duration left) {
  Set(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(absl::ToInt64Milliseconds(limits.connect)));
  Set(curl, CURLOPT_TIMEOUT_MS, std::max<long>(1, absl::ToInt64Milliseconds(left)));
  Set(curl, CURLOPT_LOW_SPEED_LIMIT, kLeastBytesPerSecond);
  Set(curl, CURLOPT_LOW_SPEED_TIME, std::max<long>(1, static_cast<long>(absl::ToInt64Seconds(limits.silence))));
}

void SetTls(CURL* curl, const HttpLimits& limits) {
  Set(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  Set(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  Set(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (limits.ca_file.empty()) return;
  Set(curl, CURLOPT_CAINFO, limits.ca_file.c_str());
  Set(curl, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
}

void SetMethod(CURL* curl, const HttpRequest& request) {
  if (request.method == "HEAD") {
    Set(curl, CURLOPT_NOBODY, 1L);
  } else if (request.method != "GET") {
    Set(curl, CURLOPT_POST, 1L);
    Set(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    Set(curl, CURLOPT_POSTFIELDS, request.body.c_str());
    Set(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
}

}  // namespace

void Transfer::Begin(CURL* curl, const HttpLimits& limits, absl::Time now) {
  if (tries_++ == 0 && redirects_ == 0) first_began_ = now;
  began_ = last_byte_ = now;
  response_ = {};
  judged_ = too_long_ = false;
  refusal_.clear();
  error_.fill(0);
  Set(curl, CURLOPT_URL, url_.c_str());
  Set(curl, CURLOPT_NOSIGNAL, 1L);
  Set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(curl, CURLOPT_FOLLOWLOCATION, 0L);  // Redirects are followed here, where it is known what may go where.
  Set(curl, CURLOPT_PATH_AS_IS, 1L);
  Set(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Set(curl, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
  Set(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  Set(curl, CURLOPT_BUFFERSIZE, 256L << 10);
  Set(curl, CURLOPT_USERAGENT, "stokerd");
  Set(curl, CURLOPT_ERRORBUFFER, error_.data());
  Set(curl, CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
  Set(curl, CURLOPT_HEADERDATA, this);
  Set(curl, CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  Set(curl, CURLOPT_WRITEDATA, this);
  SetTimes(curl, limits, first_began_ + limits.total - now);
  SetTls(curl, limits);
  if (request_.direct) Set(curl, CURLOPT_NOPROXY, "*");
  if (!request_.unix_socket.empty()) Set(curl, CURLOPT_UNIX_SOCKET_PATH, request_.unix_socket.c_str());
  SetMethod(curl, request_);
  SetHeaders(curl);
}

void Transfer::SetHeaders(CURL* curl) {
  std::vector<std::string> headers = request_.headers;
  if (request_.range.has_value()) {
    const HttpRange& range = *request_.range;
    headers.push_back(absl::StrCat("Range: bytes=", range.offset + got_, "-", range.offset + range.into.size() - 1));
    // A weak ETag matches nothing (RFC 9110, section 13.1.1).
    if (absl::StartsWith(range.version, "\"")) headers.push_back("If-Match: " + range.version);
  }
  if (SameOrigin(request_.url, url_)) {
    headers.insert(headers.end(), request_.secret_headers.begin(), request_.secret_headers.end());
    if (request_.sign) std::ranges::move(request_.sign(), std::back_inserter(headers));
  }
  headers.push_back("Expect:");  // Nothing here is worth asking whether it may be sent.
  curl_slist* list = nullptr;
  for (const std::string& header : headers) {
    curl_slist* longer = curl_slist_append(list, header.c_str());
    STOKER_CHECK(longer != nullptr);
    list = longer;
  }
  headers_.reset(list);
  Set(curl, CURLOPT_HTTPHEADER, list);
}

size_t Transfer::OnHeader(const char* bytes, size_t size, size_t count, void* self) {
  return static_cast<Transfer*>(self)->TakeHeader({bytes, size * count}) ? size * count : 0;
}

size_t Transfer::OnBody(const char* bytes, size_t size, size_t count, void* self) {
  return static_cast<Transfer*>(self)->TakeBody({bytes, size * count}) ? size * count : 0;
}

bool Transfer::TakeHeader(absl::string_view line) {
  last_byte_ = SteadyNow();
  if (absl::StartsWith(line, "HTTP/")) {
    response_ = {};  // Those of an interim answer do not count.
    const std::vector<absl::string_view> words = absl::StrSplit(absl::StripAsciiWhitespace(line), ' ');
    if (words.size() < 2 || !absl::SimpleAtoi(words[1], &response_.status)) response_.status = 0;
    return true;
  }
  if (absl::StripAsciiWhitespace(line).empty() && response_.status >= 200 && !judged_) {
    head_ = JudgeHead(request_, response_, got_);
    judged_ = true;
    // The body of an error may say what is wrong. Other bytes than were asked for are not waited for, since fewer of
    // them may come than the server says.
    if (!head_.status.ok() && response_.status < 300) return false;
  }
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
  const std::string name = absl::AsciiStrToLower(parts.first);
  if (IsKept(name)) response_.headers[name] = std::string(absl::StripAsciiWhitespace(parts.second));
  return true;
}

bool Transfer::TakeBody(absl::string_view bytes) {
  last_byte_ = SteadyNow();
  if (!judged_ || !head_.status.ok()) {
    refusal_.append(bytes.data(), std::min(bytes.size(), kMostRefusalBytes - refusal_.size()));
    return refusal_.size() < kMostRefusalBytes;
  }
  if (!request_.range.has_value()) {
    too_long_ = bytes.size() > request_.most_body_bytes - response_.body.size();
    if (!too_long_) response_.body.append(bytes.data(), bytes.size());
    return !too_long_;
  }
  if (has_lost_) return false;
  if (got_ == 0 && tries_ == 1) first_byte_after_ = last_byte_ - began_;
  if (twin_ != nullptr) {
    if (!done_) done_ = std::move(twin_->done_);
    twin_->done_ = nullptr;
    twin_->has_lost_ = true;
    Part();
  }
  const std::span<uint8_t> rest = request_.range->into.subspan(got_);
  too_long_ = bytes.size() > rest.size();
  if (too_long_) return false;
  std::memcpy(rest.data(), bytes.data(), bytes.size());
  got_ += bytes.size();
  return true;
}

bool Transfer::is_redirect() const {
  const int status = response_.status;
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

Verdict Transfer::End(CURL* curl, CURLcode result) {
  if (judged_ && is_redirect() && request_.follows_redirects) return Redirect(curl);
  const Verdict verdict = Judge(result);
  // Where a redirect leads may hold for a while only, so the next try asks anew.
  url_ = request_.url;
  redirects_ = 0;
  return verdict;
}

std::string Transfer::CodeOf(CURLcode result) const {
  const bool broke_off = result != CURLE_OK && head_.status.ok();
  return judged_ && !broke_off ? absl::StrCat(response_.status) : "error";
}

Verdict Transfer::Judge(CURLcode result) const {
  if (too_long_) {
    if (!request_.range.has_value())
      return {absl::UnavailableError(absl::StrCat("the answer has more than ", request_.most_body_bytes, " bytes"))};
    return {absl::UnavailableError("the server sends more bytes than it was asked for"), true};
  }
  if (!judged_ || (result != CURLE_OK && head_.status.ok())) return JudgeFailure(result);
  if (!head_.status.ok()) return JudgeRefusal(head_, response_, refusal_);
  if (request_.range.has_value() && got_ < request_.range->into.size())
    return {absl::UnavailableError(absl::StrCat("the server sent ", got_, " bytes of ", request_.range->into.size())),
            true};
  return {};
}

Verdict Transfer::JudgeFailure(CURLcode result) const {
  if (result == CURLE_OK) return {absl::UnavailableError("the server's answer is no HTTP"), true};
  // libcurl's own text names hosts, ports and times, and no header.
  const std::string text = error_[0] != 0 ? error_.data() : curl_easy_strerror(result);
  switch (result) {
    case CURLE_PEER_FAILED_VERIFICATION:
      return {absl::UnavailableError(
          absl::StrCat("the server's certificate is not to be trusted: ", text,
                       "; where it is signed by an authority of your own, name that in `ca_file`"))};
    case CURLE_SSL_CACERT_BADFILE: return {absl::UnavailableError(absl::StrCat("ca_file cannot be read: ", text))};
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return {absl::UnavailableError(absl::StrCat("no URL to ask: ", text))};
    default: return {absl::UnavailableError(text), true};
  }
}

Verdict Transfer::Redirect(CURL* curl) {
  const char* to = nullptr;
  curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &to);
  if (to == nullptr) return {absl::UnavailableError("the server redirects to nowhere")};
  if (!MayRedirect(url_, to))
    return {
        absl::UnavailableError("the server redirects from https to http or another protocol, which is not followed")};
  if (++redirects_ > kMostRedirects) return {absl::UnavailableError("the server redirects again and again")};
  url_ = to;
  --tries_;  // It is part of the same one.
  return {.status = absl::UnavailableError("the server redirects"), .again = true, .redirected = true};
}

bool Transfer::may_have_twin() const {
  return request_.range.has_value() && tries_ == 1 && got_ == 0 && twin_ == nullptr && !has_lost_;
}

std::unique_ptr<Transfer> Transfer::Twin() {
  auto twin = std::make_unique<Transfer>(request_, nullptr);
  twin->first_began_ = first_began_;
  twin->twin_ = this;
  twin_ = twin.get();
  return twin;
}

void Transfer::YieldToTwin() {
  if (done_) twin_->done_ = std::move(done_);
  done_ = nullptr;
  Part();
}

void Transfer::Part() {
  if (twin_ != nullptr) twin_->twin_ = nullptr;
  twin_ = nullptr;
}

void Transfer::Finish(const absl::Status& status) {
  const HttpDone done = std::move(done_);
  if (!done) return;
  if (status.ok()) {
    done(std::move(response_));
  } else {
    done(NamedError(request_.name, status));
  }
}

}  // namespace stoker
