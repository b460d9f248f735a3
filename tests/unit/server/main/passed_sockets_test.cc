#include "server/main/passed_sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr int kFirst = 300;  // Lower descriptors may be the test program's.

// Sets the variables that a service manager sets.
void Announce(int process, const std::string& count) {
  setenv("LISTEN_PID", absl::StrCat(process).c_str(), 1);
  setenv("LISTEN_FDS", count.c_str(), 1);
  setenv("LISTEN_FDNAMES", "stokerd.socket", 1);
}

// A socket of IPv4's loopback that listens and blocks, as a service manager makes it.
OwnedFd Listener(in_addr_t host = INADDR_LOOPBACK) {
  OwnedFd made(socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(host)}};
  EXPECT_EQ(bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(made.get(), 1), 0);
  return made;
}

int PortOf(const OwnedFd& socket) {
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

std::vector<OwnedFd> Only(OwnedFd socket) {
  std::vector<OwnedFd> sockets;
  sockets.push_back(std::move(socket));
  return sockets;
}

std::string WhyNot(OwnedFd socket, const std::string& host, int port) {
  return std::string(ListeningSockets::TakeOver(Only(std::move(socket)), host, port).status().message());
}

TEST(PassedSocketsTest, AreTheDescriptorsThatWereCountedForThisProcess) {
  const OwnedFd made = Listener();
  ASSERT_EQ(dup2(made.get(), kFirst), kFirst);
  ASSERT_EQ(dup2(made.get(), kFirst + 1), kFirst + 1);
  Announce(getpid(), "2");
  const std::vector<OwnedFd> passed = PassedSockets(kFirst);
  ASSERT_EQ(passed.size(), 2);
  EXPECT_EQ(passed[0].get(), kFirst);
  EXPECT_EQ(passed[1].get(), kFirst + 1);
  EXPECT_EQ(fcntl(kFirst, F_GETFD), FD_CLOEXEC) << "a child would have it";
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) EXPECT_EQ(getenv(name), nullptr) << name;
  EXPECT_TRUE(PassedSockets(kFirst).empty());
}

TEST(PassedSocketsTest, ThoseOfAnotherProcessAndThoseThatAreNotThereAreNone) {
  EXPECT_TRUE(PassedSockets(kFirst).empty());
  Announce(getpid() + 1, "1");
  EXPECT_TRUE(PassedSockets(kFirst).empty());
  for (const char* count : {"0", "-1", "2147483647", "99999999999", "one"}) {
    Announce(getpid(), count);
    EXPECT_TRUE(PassedSockets(kFirst).empty()) << count;
  }
}

TEST(TakenOverSocketsTest, ServeTheAddressThatIsConfigured) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    OwnedFd made = Listener();
    const int port = PortOf(made), number = made.get();
    const auto sockets = ListeningSockets::TakeOver(Only(std::move(made)), host, port);
    ASSERT_TRUE(sockets.ok()) << sockets.status();
    EXPECT_EQ(sockets->port(), port);
    ASSERT_EQ(sockets->sockets().size(), 1);
    EXPECT_EQ(sockets->sockets()[0].get(), number);
    EXPECT_TRUE(fcntl(number, F_GETFL) & O_NONBLOCK);
  }
  EXPECT_EQ(WhyNot(Listener(INADDR_ANY), "0.0.0.0", 0), "");
}

TEST(TakenOverSocketsTest, AnyPortIsTakenWhereNoneIsConfigured) {
  OwnedFd made = Listener();
  const int port = PortOf(made);
  const auto sockets = ListeningSockets::TakeOver(Only(std::move(made)), "127.0.0.1", 0);
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  EXPECT_EQ(sockets->port(), port);
}

// What was checked of the configured address, such as that it is the loopback where there is no TLS, must hold.
TEST(TakenOverSocketsTest, AnotherAddressIsRefusedByName) {
  OwnedFd made = Listener(INADDR_ANY);
  const int port = PortOf(made);
  EXPECT_EQ(WhyNot(std::move(made), "127.0.0.1", port),
            absl::StrCat("listen: the service manager passed a socket of 0.0.0.0:", port,
                         ", and the configuration says 127.0.0.1:", port,
                         "; ListenStream= of its socket unit must be the address that `listen` is"));
  EXPECT_THAT(WhyNot(Listener(), "127.0.0.1", 1), HasSubstr("the configuration says 127.0.0.1:1;"));
  EXPECT_THAT(WhyNot(Listener(), "unix:/run/stoker", 0), HasSubstr("the configuration says unix:/run/stoker;"));
  std::vector<OwnedFd> two = Only(Listener());
  two.push_back(Listener());
  EXPECT_FALSE(ListeningSockets::TakeOver(std::move(two), "127.0.0.1", 0).ok()) << "they have two ports";
}

TEST(TakenOverSocketsTest, WhatDoesNotListenIsRefused) {
  EXPECT_THAT(WhyNot(OwnedFd(socket(AF_INET, SOCK_STREAM, 0)), "127.0.0.1", 0),
              HasSubstr("which is no stream socket that listens; its socket unit needs ListenStream= and Accept=no"));
  EXPECT_THAT(WhyNot(OwnedFd(socket(AF_INET, SOCK_DGRAM, 0)), "127.0.0.1", 0), HasSubstr("no stream socket"));
  EXPECT_THAT(WhyNot(OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC)), "127.0.0.1", 0), HasSubstr("no stream socket"));
}

TEST(TakenOverSocketsTest, APathStaysWhenTheServerEnds) {
  const std::string path = absl::StrCat(testing::TempDir(), "stoker-passed-", getpid());
  sockaddr_un address = {.sun_family = AF_UNIX};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  OwnedFd made(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(made.get(), 1), 0);
  EXPECT_EQ(WhyNot(std::move(made), "unix:" + path, 0), "");
  EXPECT_EQ(unlink(path.c_str()), 0) << "it is the service manager's";
}

}  // namespace
}  // namespace stoker
