#include "server/admin/admin_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/main/listening_socket.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A server, and the sockets on which it listens.
struct Served {
  ListeningSockets sockets;
  std::unique_ptr<AdminServer> server;
};

Served Serve(AdminServer::Options options, const std::string& host = "127.0.0.1") {
  auto sockets = ListeningSockets::Listen(host, 0);
  EXPECT_TRUE(sockets.ok()) << sockets.status();
  for (const OwnedFd& socket : sockets->sockets()) options.sockets.push_back(socket.get());
  auto server = AdminServer::Start(std::move(options));
  EXPECT_TRUE(server.ok()) << server.status();
  return {*std::move(sockets), *std::move(server)};
}

// Connects to it.
OwnedFd ConnectTo(const Served& served) {
  sockaddr_storage to = {};
  socklen_t size = sizeof to;
  EXPECT_EQ(getsockname(served.sockets.sockets().front().get(), reinterpret_cast<sockaddr*>(&to), &size), 0);
  OwnedFd socket(::socket(to.ss_family, SOCK_STREAM, 0));
  EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), size), 0) << served.sockets.address();
  return socket;
}

// Returns all that comes until the connection's end.
std::string ReadAll(const OwnedFd& socket) {
  std::string answer;
  char buffer[4096];
  for (ssize_t got; (got = recv(socket.get(), buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<size_t>(got));
  return answer;
}

// Sends bytes to it, and returns all that is answered.
std::string Ask(const Served& served, const std::string& request) {
  const OwnedFd socket = ConnectTo(served);
  send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
  return ReadAll(socket);
}

std::string Get(const Served& served, const std::string& path, const std::string& headers = "") {
  return Ask(served, absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n", headers, "\r\n"));
}

AdminServer::Options Options(std::string token = "") {
  return {
      .token = std::move(token),
      .routes = {{"/healthz", {.make = [](const auto&) { return AdminServer::Page{.body = "ok\n"}; }, .is_open = true}},
                 {"/status", {.make = [](const auto&) {
                    return AdminServer::Page{.status = 503, .type = "application/json", .body = "{}"};
                  }}}}};
}

TEST(AdminServerTest, AnswersGetOfItsPathsAndNothingElse) {
  const Served served = Serve(Options());
  EXPECT_THAT(Get(served, "/healthz"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\nok\n")));
  EXPECT_THAT(Get(served, "/healthz?x=1"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Get(served, "/status"),
              AllOf(StartsWith("HTTP/1.1 503 Service Unavailable"), HasSubstr("Content-Type: application/json\r\n")));
  EXPECT_THAT(Get(served, "/etc/passwd"), AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("there are /healthz, /status")));
  EXPECT_THAT(Get(served, "/../../etc/passwd"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask(served, "HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Length: 3\r\n"), EndsWith("\r\n\r\n")));
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS"})
    EXPECT_THAT(Ask(served, method + " /status HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"),
                StartsWith("HTTP/1.1 405"))
        << method;
}

TEST(AdminServerTest, ATokenOpensAllButWhatIsOpen) {
  const Served served = Serve(Options("0123456789abcdef"));
  EXPECT_THAT(Get(served, "/healthz"), StartsWith("HTTP/1.1 200"));
  for (const std::string path : {"/status", "/none"})
    for (const std::string header : {"", "Authorization: Bearer 0123456789abcdeX\r\n", "Authorization: Bearer 0123\r\n",
                                     "Authorization: Basic 0123456789abcdef\r\n", "Authorization: Bearer\r\n"})
      EXPECT_THAT(Get(served, path, header), AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("WWW-Authenticate: Bearer"),
                                                   HasSubstr("admin.token_file")))
          << path << header;
  EXPECT_THAT(Get(served, "/status", "Authorization: Bearer 0123456789abcdef\r\n"), StartsWith("HTTP/1.1 503"));
}

TEST(AdminServerTest, PagesGetWhatStandsBehindTheQuestionMark) {
  AdminServer::Options options = Options();
  options.routes["/echo"].make = [](const AdminServer::Query& query) {
    return AdminServer::Page{.body = query("name") + "|" + query("first") + "|" + query("none"),
                             .headers = {{"X-Made-By", "hand"}}};
  };
  const Served served = Serve(options);
  EXPECT_THAT(Get(served, "/echo?name=a%20b%26&first=7"),
              AllOf(EndsWith("\r\n\r\na b&|7|"), HasSubstr("X-Made-By: hand\r\n")));
  EXPECT_THAT(Get(served, "/echo"), EndsWith("\r\n\r\n||"));
  EXPECT_THAT(Get(served, "/echo?name=" + std::string(1000, 'x')), EndsWith("\r\n\r\n||")) << "it is too long";
}

TEST(AdminServerTest, WhatIsNoRequestEndsNothing) {
  const Served served = Serve(Options());
  for (const std::string& request :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string(300, '\0') + "\r\n\r\n",
        "GET /" + std::string(100000, 'a') + " HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n" + std::string(100000, 'h') + ": 1\r\n\r\n"})
    EXPECT_THAT(Ask(served, request), Not(HasSubstr("200 OK")));
  EXPECT_THAT(Get(served, "/healthz"), StartsWith("HTTP/1.1 200")) << "it goes on";
}

TEST(AdminServerTest, ManyAreAnswered) {
  std::atomic<int> made = 0;
  AdminServer::Options options = Options();
  options.routes["/slow"].make = [&made](const auto&) {
    ++made;
    return AdminServer::Page{.body = std::string(1 << 20, 'x')};
  };
  const Served served = Serve(options);
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back([&] { EXPECT_GT(Get(served, "/slow").size(), size_t{1} << 20); });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(made, 8);
}

TEST(AdminServerTest, APageThatCannotBeMadeIsAnError) {
  AdminServer::Options options = Options();
  options.routes["/none"].make = [](const auto&) -> AdminServer::Page { throw std::bad_alloc(); };
  const Served served = Serve(options);
  EXPECT_THAT(Get(served, "/none"), StartsWith("HTTP/1.1 500 Internal Server Error"));
  EXPECT_THAT(Get(served, "/healthz"), StartsWith("HTTP/1.1 200"));
}

TEST(AdminServerTest, AnswersOnAUnixSocket) {
  const std::string path = absl::StrCat(testing::TempDir(), "stoker-admin-", getpid());
  const Served served = Serve(Options(), "unix:" + path);
  EXPECT_THAT(Get(served, "/healthz"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\nok\n")));
  EXPECT_THAT(Get(served, "/none"), StartsWith("HTTP/1.1 404"));
}

// It would hold a thread for ever: one byte a second is no silence.
TEST(AdminServerTest, WhoSendsARequestInDropsIsLetGo) {
  const Served served = Serve(Options());
  const OwnedFd slow = ConnectTo(served);
  const std::string request = "GET /healthz HTTP/1.1\r\nX: ";
  ASSERT_EQ(send(slow.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  const absl::Time deadline = absl::Now() + absl::Minutes(2);
  pollfd ended = {.fd = slow.get(), .events = POLLRDHUP};
  while (poll(&ended, 1, 500) == 0 && absl::Now() < deadline) send(slow.get(), "x", 1, MSG_NOSIGNAL);
  EXPECT_NE(ended.revents & (POLLRDHUP | POLLHUP | POLLERR), 0);
  EXPECT_THAT(Get(served, "/healthz"), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace stoker
