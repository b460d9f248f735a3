#include "server/read/stores/curl/http_client.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "server/read/printable_name.h"

namespace stoker {
namespace {

constexpr int kLoops = 2;

// Requests that Describe has under way. It bounds the memory that they take.
constexpr size_t kAtOnce = 4096;

// A read that is made by parts.
class Parts {
 public:
  Parts(size_t parts, Store::Done done) : left_(parts), done_(std::move(done)) {}

  void OnPart(const absl::Status& status) {
    absl::Status all;
    {
      absl::MutexLock lock(&mutex_);
      status_.Update(status);
      if (--left_ > 0) return;
      all = status_;
    }
    done_(all);
  }

 private:
  absl::Mutex mutex_;
  size_t left_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  const Store::Done done_;
};

}  // namespace

HttpClient::HttpClient(const HttpLimits& limits) {
  const int loops = std::min(kLoops, limits.requests);
  for (int i = 0; i < loops; ++i) {
    HttpLimits share = limits;
    share.requests = limits.requests / loops + (i < limits.requests % loops ? 1 : 0);
    loops_.push_back(std::make_unique<EventLoop>(share));
  }
}

void HttpClient::Start(HttpRequest request, HttpDone done) {
  loops_[next_++ % loops_.size()]->Start(std::move(request), std::move(done));
}

absl::StatusOr<HttpResponse> HttpClient::Fetch(HttpRequest request) {
  absl::Notification done;
  absl::StatusOr<HttpResponse> response;
  Start(std::move(request), [&](absl::StatusOr<HttpResponse> answer) {
    response = std::move(answer);
    done.Notify();
  });
  done.WaitForNotification();
  return response;
}

absl::StatusOr<std::vector<ObjectInfo>> HttpClient::Describe(
    const std::vector<std::string>& names, const std::function<HttpRequest(const std::string&)>& request) {
  std::vector<ObjectInfo> objects;
  objects.reserve(names.size());
  for (size_t begin = 0; begin < names.size(); begin += kAtOnce) {
    const size_t some = std::min(kAtOnce, names.size() - begin);
    std::vector<absl::StatusOr<HttpResponse>> answers(some);
    absl::BlockingCounter left(static_cast<int>(some));
    for (size_t i = 0; i < some; ++i)
      Start(request(names[begin + i]), [&answers, &left, i](absl::StatusOr<HttpResponse> answer) {
        answers[i] = std::move(answer);
        left.DecrementCount();
      });
    left.Wait();
    for (size_t i = 0; i < some; ++i) {
      if (!answers[i].ok()) return answers[i].status();
      ObjectInfo object = {.name = names[begin + i], .version = VersionOf(*answers[i])};
      if (!absl::SimpleAtoi(answers[i]->Header("content-length"), &object.size))
        return NamedError(request(object.name).name,
                          absl::UnavailableError("the server does not say how long it is (Content-Length)"));
      objects.push_back(std::move(object));
    }
  }
  return objects;
}

void HttpClient::Read(const HttpRequest& request, const Store::Range& range, Store::Done done) {
  if (range.into.empty()) return done(absl::OkStatus());
  const uint64_t step = range.into.size() > kLongestRange ? kPartBytes : range.into.size();
  const uint64_t count = (range.into.size() + step - 1) / step;
  const auto parts = std::make_shared<Parts>(count, std::move(done));
  for (uint64_t begin = 0; begin < range.into.size(); begin += step) {
    HttpRequest part = request;
    part.range = HttpRange{.offset = range.offset + begin,
                           .into = range.into.subspan(begin, std::min<uint64_t>(step, range.into.size() - begin)),
                           .object_size = range.object->size,
                           .version = range.object->version};
    Start(std::move(part), [parts](const absl::StatusOr<HttpResponse>& answer) { parts->OnPart(answer.status()); });
  }
}

HttpLimits WithAuthorities(HttpLimits limits) {
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
    if (limits.ca_file.empty() && access(file, R_OK) == 0) limits.ca_file = file;
  return limits;
}

std::string PercentEncoded(const std::string& text, bool keeps_slashes) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_' ||
                       c == '~' || (c == '/' && keeps_slashes);
    if (plain) {
      encoded += c;
    } else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      encoded += {'%', kDigits[static_cast<unsigned char>(c) >> 4], kDigits[static_cast<unsigned char>(c) & 15]};
    }
  }
  return encoded;
}

std::string PercentDecoded(const std::string& text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool coded = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    decoded += coded ? static_cast<char>(digit(text[i + 1]) << 4 | digit(text[i + 2])) : text[i];
    if (coded) i += 2;
  }
  return decoded;
}

}  // namespace stoker
