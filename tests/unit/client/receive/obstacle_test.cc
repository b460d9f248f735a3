#include "client/receive/obstacle.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr absl::Duration kPatience = absl::Seconds(60);  // More than this machine takes for itself.

// A port of the loopback that refuses connections until it listens, and is nobody else's.
class Port {
 public:
  Port() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Port() { close(socket_); }

  void Listen() { EXPECT_EQ(listen(socket_, 1), 0); }
  std::string At(const std::string& host) const { return absl::StrCat(host, ":", port_); }

 private:
  const int socket_;
  int port_ = 0;
};

TEST(ObstacleTest, AClosedPortRefuses) {
  const Port port;
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const Obstacle obstacle = FindObstacle(port.At(host), kPatience);
    EXPECT_EQ(obstacle.reason, "connection refused; is stokerd running there?");
    EXPECT_TRUE(obstacle.definite);
  }
}

TEST(ObstacleTest, AnOpenPortIsNoObstacle) {
  Port port;
  port.Listen();
  EXPECT_EQ(FindObstacle(port.At("127.0.0.1"), kPatience).reason, "");
  EXPECT_EQ(FindObstacle(port.At("localhost"), kPatience).reason, "");
}

TEST(ObstacleTest, NoNameIsSoLong) {  // The resolver knows that without asking anybody.
  const Obstacle obstacle = FindObstacle(std::string(70, 'x') + ":7077", kPatience);
  EXPECT_EQ(obstacle.reason, "name not found");
  EXPECT_TRUE(obstacle.definite);
}

TEST(ObstacleTest, ASocketMayBeMissingOrTooLong) {
  const Obstacle missing = FindObstacle("unix:/nowhere/stoker.sock", kPatience);
  EXPECT_THAT(missing.reason, StartsWith("no such socket"));
  EXPECT_TRUE(missing.definite);
  EXPECT_THAT(FindObstacle("unix:/" + std::string(200, 'x'), kPatience).reason, HasSubstr("so long"));
}

TEST(ObstacleTest, OneOpenAddressOfANameIsEnough) { EXPECT_EQ(ObstacleOf({ECONNREFUSED, ETIMEDOUT, 0}).reason, ""); }

TEST(ObstacleTest, RefusalByAllAddressesIsDefinite) {
  EXPECT_TRUE(ObstacleOf({ECONNREFUSED, ECONNREFUSED}).definite);
  EXPECT_FALSE(ObstacleOf({ECONNREFUSED, ETIMEDOUT}).definite);
  EXPECT_EQ(ObstacleOf({ECONNREFUSED, ETIMEDOUT}).reason, "nothing answers there");
}

TEST(ObstacleTest, AMachineWithoutIpv6IsRefusedByTheOtherAddressAlone) {
  for (int no_way : {ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT}) {
    EXPECT_TRUE(ObstacleOf({no_way, ECONNREFUSED}).definite);
    EXPECT_THAT(ObstacleOf({ECONNREFUSED, no_way}).reason, StartsWith("connection refused"));
    EXPECT_FALSE(ObstacleOf({no_way}).definite) << "its network may come up";
  }
}

TEST(ObstacleTest, WhatMayPassIsNotDefinite) {
  for (int error : {ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, EMFILE}) EXPECT_FALSE(ObstacleOf({error}).definite);
}

TEST(ObstacleTest, WhatGrpcSaysOfConnectingIsSaidPlainly) {
  EXPECT_EQ(
      PlainReason("failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to "
                  "remote host: Connection refused"),
      "connection refused; is stokerd running there?");
  EXPECT_EQ(
      PlainReason("failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:1: Failed to connect to "
                  "remote host: No route to host"),
      "No route to host");
  EXPECT_EQ(PlainReason("DNS resolution failed for nohost:1: C-ares status is not ARES_SUCCESS qtype=A name=nohost "
                        "is_balancer=0: Domain name not found"),
            "name not found");
  EXPECT_THAT(PlainReason("DNS resolution failed for a:1: C-ares status: Timeout while contacting DNS servers"),
              HasSubstr("cannot be looked up now"));
  EXPECT_EQ(PlainReason("it drains: ask others"), "it drains: ask others");
}

}  // namespace
}  // namespace stoker
