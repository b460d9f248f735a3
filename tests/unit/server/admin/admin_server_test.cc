#include "server/admin/admin_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Sends bytes to 127.0.0.1:PORT, and returns all that is answered.
std::string Ask(const AdminServer& server, const std::string& request) {
  int port = 0;
  const std::string address = server.address();
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port)) << address;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0) << address;
  EXPECT_EQ(send(socket, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got; (got = recv(socket, buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<size_t>(got));
  close(socket);
  return answer;
}

std::string Get(const AdminServer& server, const std::string& path, const std::string& headers = "") {
  return Ask(server, absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: x\r\n", headers, "\r\n"));
}

AdminServer::Options Options(std::string token = "") {
  return {
      .host = "127.0.0.1",
      .token = std::move(token),
      .routes = {{"/healthz", {.make = [](const auto&) { return AdminServer::Page{.body = "ok\n"}; }, .is_open = true}},
                 {"/status", {.make = [](const auto&) {
                    return AdminServer::Page{.status = 503, .type = "application/json", .body = "{}"};
                  }}}}};
}

TEST(AdminServerTest, AnswersGetOfItsPathsAndNothingElse) {
  const auto server = AdminServer::Start(Options());
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT((*server)->address(), AllOf(StartsWith("127.0.0.1:"), Not(EndsWith(":0"))));
  EXPECT_THAT(Get(**server, "/healthz"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\nok\n")));
  EXPECT_THAT(Get(**server, "/healthz?x=1"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Get(**server, "/status"),
              AllOf(StartsWith("HTTP/1.1 503 Service Unavailable"), HasSubstr("Content-Type: application/json\r\n")));
  EXPECT_THAT(Get(**server, "/etc/passwd"),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("there are /healthz, /status")));
  EXPECT_THAT(Get(**server, "/../../etc/passwd"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask(**server, "HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Length: 3\r\n"), EndsWith("\r\n\r\n")));
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS"})
    EXPECT_THAT(Ask(**server, method + " /status HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"),
                StartsWith("HTTP/1.1 405"))
        << method;
}

TEST(AdminServerTest, ATokenOpensAllButWhatIsOpen) {
  const auto server = AdminServer::Start(Options("0123456789abcdef"));
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(Get(**server, "/healthz"), StartsWith("HTTP/1.1 200"));
  for (const std::string path : {"/status", "/none"})
    for (const std::string header : {"", "Authorization: Bearer 0123456789abcdeX\r\n", "Authorization: Bearer 0123\r\n",
                                     "Authorization: Basic 0123456789abcdef\r\n", "Authorization: Bearer\r\n"})
      EXPECT_THAT(Get(**server, path, header), AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("WWW-Authenticate: Bearer"),
                                                     HasSubstr("admin.token_file")))
          << path << header;
  EXPECT_THAT(Get(**server, "/status", "Authorization: Bearer 0123456789abcdef\r\n"), StartsWith("HTTP/1.1 503"));
}

TEST(AdminServerTest, PagesGetWhatStandsBehindTheQuestionMark) {
  AdminServer::Options options = Options();
  options.routes["/echo"].make = [](const AdminServer::Query& query) {
    return AdminServer::Page{.body = query("name") + "|" + query("first") + "|" + query("none"),
                             .headers = "X-Made-By: hand\r\n"};
  };
  const auto server = AdminServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(Get(**server, "/echo?name=a%20b%26&first=7"),
              AllOf(EndsWith("\r\n\r\na b&|7|"), HasSubstr("X-Made-By: hand\r\n")));
  EXPECT_THAT(Get(**server, "/echo"), EndsWith("\r\n\r\n||"));
  EXPECT_THAT(Get(**server, "/echo?name=" + std::string(1000, 'x')), EndsWith("\r\n\r\n||")) << "it is too long";
}

TEST(AdminServerTest, WhatIsNoRequestEndsNothing) {
  const auto server = AdminServer::Start(Options());
  ASSERT_TRUE(server.ok()) << server.status();
  for (const std::string& request :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string(300, '\0') + "\r\n\r\n",
        "GET /" + std::string(100000, 'a') + " HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n" + std::string(100000, 'h') + ": 1\r\n\r\n"})
    EXPECT_THAT(Ask(**server, request), Not(HasSubstr("200 OK")));
  EXPECT_THAT(Get(**server, "/healthz"), StartsWith("HTTP/1.1 200")) << "it goes on";
}

TEST(AdminServerTest, ManyAreAnswered) {
  std::atomic<int> made = 0;
  AdminServer::Options options = Options();
  options.routes["/slow"].make = [&made](const auto&) {
    ++made;
    return AdminServer::Page{.body = std::string(1 << 20, 'x')};
  };
  auto server = AdminServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back([&] { EXPECT_GT(Get(**server, "/slow").size(), size_t{1} << 20); });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(made, 8);
}

TEST(AdminServerTest, APageThatCannotBeMadeIsAnError) {
  AdminServer::Options options = Options();
  options.routes["/none"].make = [](const auto&) -> AdminServer::Page { throw std::bad_alloc(); };
  const auto server = AdminServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(Get(**server, "/none"), StartsWith("HTTP/1.1 500 Internal Server Error"));
  EXPECT_THAT(Get(**server, "/healthz"), StartsWith("HTTP/1.1 200"));
}

TEST(AdminServerTest, AnAddressThatIsTakenIsNamed) {
  const auto first = AdminServer::Start(Options());
  ASSERT_TRUE(first.ok()) << first.status();
  AdminServer::Options options = Options();
  const std::string address = (*first)->address();
  ASSERT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &options.port));
  const auto second = AdminServer::Start(options);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(second.status().message(), HasSubstr("admin.listen: cannot listen on " + address));
}

}  // namespace
}  // namespace stoker
