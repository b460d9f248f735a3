#include "client/receive/greeting.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "common/time/steady_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// A server that says some bytes to whoever connects, and then nothing more or the end.
class FakeServer {
 public:
  FakeServer(std::string says, bool closes) : says_(std::move(says)), closes_(closes) {}
  ~FakeServer() {
    for (const int socket : open_) close(socket);
  }
  OpenSocket open() {
    return [this] {
      int ends[2];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
      EXPECT_EQ(write(ends[1], says_.data(), says_.size()), static_cast<ssize_t>(says_.size()));
      if (closes_) shutdown(ends[1], SHUT_WR);
      open_.push_back(ends[1]);
      return ends[0];
    };
  }

 private:
  const std::string says_;
  const bool closes_;
  std::vector<int> open_;
};

Obstacle Greeted(FakeServer& server, bool uses_tls) {
  return FindGreetingObstacle(server.open(), {}, uses_tls, "cpu1.example", SteadyNow() + absl::Milliseconds(50));
}

const std::string kSettings("\0\0\0\x04\0\0\0\0\0", 9);

TEST(GreetingTest, AServerThatClosesOrIsSilentIsNotBlamed) {
  for (const bool closes : {false, true})
    for (const bool uses_tls : {false, true}) {
      FakeServer server("", closes);
      EXPECT_EQ(Greeted(server, uses_tls).reason, "") << closes << uses_tls;
    }
}

TEST(GreetingTest, AnswersOfTheOtherKindAreCertain) {
  FakeServer plain(kSettings, /*closes=*/false);
  EXPECT_EQ(Greeted(plain, /*uses_tls=*/false).reason, "");
  const Obstacle obstacle = Greeted(plain, /*uses_tls=*/true);
  EXPECT_THAT(obstacle.reason, HasSubstr("it speaks plaintext, and this client TLS"));
  EXPECT_TRUE(obstacle.definite && obstacle.lasting);
}

// It is an alert of TLS 1.2: fatal, handshake_failure.
TEST(GreetingTest, AnAlertIsTls) {
  FakeServer tls(std::string("\x15\x03\x03\0\x02\x02\x28", 7), /*closes=*/true);
  EXPECT_THAT(Greeted(tls, /*uses_tls=*/false).reason, HasSubstr("it speaks TLS, and this client plaintext"));
  EXPECT_THAT(Greeted(tls, /*uses_tls=*/true).reason, HasSubstr("it refuses the handshake"));
}

TEST(GreetingTest, AServerThatIsGoneMeanwhileIsNoObstacle) {
  const auto nothing = [] { return -1; };
  for (const bool uses_tls : {false, true})
    EXPECT_EQ(FindGreetingObstacle(nothing, {}, uses_tls, "a", SteadyNow() + absl::Milliseconds(50)).reason, "");
}

}  // namespace
}  // namespace stoker
