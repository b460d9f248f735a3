#include "tests/support/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <thread>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "common/check.h"

namespace stoker {

class HttpServer::Impl {
 public:
  Impl(Handler handler, const std::string& certificate) : handler_(std::move(handler)) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL.
    if (!certificate.empty()) {
      tls_ = SSL_CTX_new(TLS_server_method());
      STOKER_CHECK(SSL_CTX_use_certificate_chain_file(tls_, (certificate + ".crt").c_str()) == 1);
      STOKER_CHECK(SSL_CTX_use_PrivateKey_file(tls_, (certificate + ".key").c_str(), SSL_FILETYPE_PEM) == 1);
    }
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    STOKER_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    STOKER_CHECK(listen(listener_, 1024) == 0);
    socklen_t length = sizeof(address);
    STOKER_CHECK(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    url_ = absl::StrCat(certificate.empty() ? "http" : "https", "://127.0.0.1:", ntohs(address.sin_port));
    acceptor_ = std::thread([this] { Accept(); });
  }

  ~Impl() {
    stopping_.Notify();
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    close(listener_);
    {
      absl::MutexLock lock(&mutex_);
      for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    SSL_CTX_free(tls_);
  }

  std::string url_;
  Counts counts_;

 private:
  // A connection's bytes, by TLS or not.
  struct Channel {
    int socket;
    SSL* tls;

    ssize_t Read(char* bytes, size_t size) const {
      return tls == nullptr ? recv(socket, bytes, size, 0) : SSL_read(tls, bytes, static_cast<int>(size));
    }
    bool Write(absl::string_view bytes) const {
      while (!bytes.empty()) {
        const ssize_t sent = tls == nullptr ? send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                            : SSL_write(tls, bytes.data(), static_cast<int>(bytes.size()));
        if (sent <= 0) return false;
        bytes.remove_prefix(sent);
      }
      return true;
    }
  };

  void Accept() {
    for (;;) {
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      const int one = 1;
      setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
      ++counts_.connections;
      absl::MutexLock lock(&mutex_);
      sockets_.insert(socket);
      threads_.emplace_back([this, socket] { Serve(socket); });
    }
  }

  void Serve(int socket) {
    const int open = ++counts_.open;
    for (int most = counts_.most_open; most < open && !counts_.most_open.compare_exchange_weak(most, open);) {
    }
    Channel channel{socket, nullptr};
    if (tls_ != nullptr) {
      channel.tls = SSL_new(tls_);
      SSL_set_fd(channel.tls, socket);
    }
    if (channel.tls == nullptr || SSL_accept(channel.tls) == 1) {
      std::string bytes;
      while (ServeOne(channel, bytes)) {
      }
    }
    SSL_free(channel.tls);
    --counts_.open;
    absl::MutexLock lock(&mutex_);
    sockets_.erase(socket);
    close(socket);
  }

  // Reads until `bytes` has `size` bytes more than its head, or the head's end where that is not known.
  static bool Fill(const Channel& channel, std::string& bytes) {
    char buffer[16384];
    const ssize_t got = channel.Read(buffer, sizeof(buffer));
    if (got <= 0) return false;
    bytes.append(buffer, got);
    return true;
  }

  bool ServeOne(const Channel& channel, std::string& bytes) {
    size_t end;
    while ((end = bytes.find("\r\n\r\n")) == std::string::npos)
      if (!Fill(channel, bytes)) return false;
    const std::vector<std::string> lines = absl::StrSplit(bytes.substr(0, end), "\r\n");
    bytes.erase(0, end + 4);
    const std::vector<std::string> first = absl::StrSplit(lines[0], ' ');
    Request request = {.method = first[0], .target = first[1], .number = ++counts_.requests};
    for (size_t i = 1; i < lines.size(); ++i) {
      const std::pair<std::string, std::string> header = absl::StrSplit(lines[i], absl::MaxSplits(": ", 1));
      request.headers[absl::AsciiStrToLower(header.first)] = header.second;
    }
    size_t length = 0;
    if (absl::SimpleAtoi(request.Header("content-length"), &length)) {
      while (bytes.size() < length)
        if (!Fill(channel, bytes)) return false;
      request.body = bytes.substr(0, length);
      bytes.erase(0, length);
    }
    return Answer(channel, request, handler_(request));
  }

  bool Answer(const Channel& channel, const Request& request, Reply reply) {
    if (reply.delay > absl::ZeroDuration()) stopping_.WaitForNotificationWithTimeout(reply.delay);
    std::string head = absl::StrCat("HTTP/1.1 ", reply.status, " Status\r\n");
    if (reply.headers.count("Content-Length") == 0) reply.headers["Content-Length"] = absl::StrCat(reply.body.size());
    for (const auto& [name, value] : reply.headers) absl::StrAppend(&head, name, ": ", value, "\r\n");
    head += "\r\n";
    const bool breaks = reply.break_after < reply.body.size() || reply.reset;
    if (request.method == "HEAD") reply.body.clear();
    if (!reply.reset || reply.break_after < reply.body.size())
      if (!channel.Write(head + reply.body.substr(0, reply.break_after))) return false;
    if (reply.reset) {
      const linger at_once = {.l_onoff = 1, .l_linger = 0};
      setsockopt(channel.socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    }
    return !breaks;
  }

  const Handler handler_;
  SSL_CTX* tls_ = nullptr;
  int listener_ = -1;
  absl::Notification stopping_;
  absl::Mutex mutex_;
  std::set<int> sockets_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;  // The acceptor's alone until it has ended.
  std::thread acceptor_;
};

HttpServer::HttpServer(Handler handler, const std::string& certificate)
    : impl_(std::make_unique<Impl>(std::move(handler), certificate)) {}
HttpServer::~HttpServer() = default;
const std::string& HttpServer::url() const { return impl_->url_; }
const HttpServer::Counts& HttpServer::counts() const { return impl_->counts_; }

HttpServer::Reply ServeObject(const HttpServer::Request& request, const std::string& bytes, const std::string& etag) {
  HttpServer::Reply reply = {.headers = {{"ETag", etag}, {"Accept-Ranges", "bytes"}}};
  if (const std::string match = request.Header("if-match"); !match.empty() && match != etag)
    return {.status = 412, .headers = {{"ETag", etag}}};
  const std::string range = request.Header("range");
  if (!absl::StartsWith(range, "bytes=")) {
    reply.body = bytes;
    return reply;
  }
  const std::vector<std::string> ends = absl::StrSplit(range.substr(6), '-');
  uint64_t first = 0, last = 0;
  STOKER_CHECK(absl::SimpleAtoi(ends[0], &first) && absl::SimpleAtoi(ends[1], &last));
  if (first >= bytes.size()) return {.status = 416};
  reply.status = 206;
  reply.body = bytes.substr(first, last - first + 1);
  reply.headers["Content-Range"] = absl::StrCat("bytes ", first, "-", first + reply.body.size() - 1, "/", bytes.size());
  return reply;
}

}  // namespace stoker
