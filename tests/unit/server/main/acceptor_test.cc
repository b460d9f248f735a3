#include "server/main/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

ListeningSockets Listening(const std::string& host = "127.0.0.1") {
  auto sockets = ListeningSockets::Listen(host, 0);
  EXPECT_TRUE(sockets.ok()) << sockets.status();
  return *std::move(sockets);
}

// A connection to `port` of this host. The system completes it before anybody accepts.
OwnedFd Connect(int port, int family = AF_INET) {
  OwnedFd made(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
  const bool is_four = family == AF_INET;
  EXPECT_EQ(connect(made.get(), is_four ? reinterpret_cast<sockaddr*>(&four) : reinterpret_cast<sockaddr*>(&six),
                    is_four ? sizeof four : sizeof six),
            0);
  return made;
}

// Whether the other side closed `connection`. Waits until it did, or sent a byte.
bool IsClosed(const OwnedFd& connection) {
  char byte;
  return read(connection.get(), &byte, 1) <= 0;
}

// What an acceptor hands on. It says "y" on each connection, and keeps it.
class Taken {
 public:
  std::function<void(int)> take() {
    return [this](int descriptor) {
      absl::MutexLock lock(&mutex_);
      connections_.emplace_back(descriptor);
      EXPECT_EQ(write(descriptor, "y", 1), 1);
    };
  }
  void CloseAll() {
    absl::MutexLock lock(&mutex_);
    connections_.clear();
  }

 private:
  absl::Mutex mutex_;
  std::vector<OwnedFd> connections_;
};

TEST(AcceptorTest, ConnectionsBeyondTheLimitAreClosedUntilOthersEnd) {
  Taken taken;
  auto sockets = Listening();
  const int port = sockets.port();
  absl::Mutex mutex;
  size_t ended = 0;
  Acceptor acceptor(
      std::move(sockets),
      {.limits = {.connections = 2, .connections_per_peer = 2}, .take = {taken.take()}, .each_turn = [&](size_t now) {
         absl::MutexLock lock(&mutex);
         ended += now;
       }});
  const OwnedFd first = Connect(port), second = Connect(port), third = Connect(port);
  EXPECT_FALSE(IsClosed(first));
  EXPECT_FALSE(IsClosed(second));
  EXPECT_TRUE(IsClosed(third));
  EXPECT_EQ(acceptor.refused(), 1);
  taken.CloseAll();
  {
    absl::MutexLock lock(&mutex);
    mutex.Await(absl::Condition(
        +[](size_t* count) { return *count == 2; }, &ended));
  }
  EXPECT_FALSE(IsClosed(Connect(port)));
}

// gRPC reads what a connection sent before it gives its thread back, and one may never stop sending.
TEST(AcceptorTest, AConnectionThatHoldsItsTakerUpHoldsUpNoOthers) {
  Taken taken;
  auto sockets = Listening();
  const int port = sockets.port();
  std::atomic<int> taken_over = 0;
  absl::Notification held;
  const auto take = [&](int descriptor) {
    if (taken_over++ > 0) return taken.take()(descriptor);
    held.Notify();
    const OwnedFd owned(descriptor);
    pollfd end = {.fd = descriptor, .events = POLLRDHUP};
    poll(&end, 1, -1);  // Its client stays, so this lasts until the acceptor ends.
  };
  const OwnedFd greedy = Connect(port);
  Acceptor acceptor(std::move(sockets), {.limits = {100, 100}, .take = {take, take}});
  held.WaitForNotification();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(IsClosed(Connect(port)));
}

// CVE-2023-4785. Other threads of this process open nothing meanwhile.
TEST(AcceptorTest, GoesOnAfterTheProcessRanOutOfDescriptors) {
  Taken taken;
  auto sockets = Listening();
  const int port = sockets.port();
  const Acceptor acceptor(std::move(sockets),
                          {.limits = {.connections = 1000, .connections_per_peer = 1000}, .take = {taken.take()}});
  EXPECT_FALSE(IsClosed(Connect(port)));  // The acceptor has all that it needs.
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  OwnedFd waiting(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const rlimit none_left = {.rlim_cur = static_cast<rlim_t>(waiting.get()) + 1, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none_left), 0);
  sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  ASSERT_EQ(connect(waiting.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  std::vector<OwnedFd> rest;  // Gaps below the limit.
  for (int fd = 0; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) rest.emplace_back(fd);
  ASSERT_EQ(errno, EMFILE);
  const timeval soon = {.tv_usec = 300'000};
  setsockopt(waiting.get(), SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
  char byte;
  EXPECT_EQ(read(waiting.get(), &byte, 1), -1) << "it was accepted without a descriptor, or closed";
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  const timeval never = {};
  setsockopt(waiting.get(), SOL_SOCKET, SO_RCVTIMEO, &never, sizeof never);
  EXPECT_FALSE(IsClosed(waiting));
}

TEST(ListeningSocketsTest, AllZerosAreEveryAddressOfBothKinds) {
  for (const char* host : {"0.0.0.0", "[::]"}) {
    Taken taken;
    auto sockets = Listening(host);
    const int port = sockets.port();
    const Acceptor acceptor(std::move(sockets), {.limits = {100, 100}, .take = {taken.take()}});
    EXPECT_FALSE(IsClosed(Connect(port))) << host;
    if (ListeningSockets::Listen("[::1]", 0).ok()) {
      EXPECT_FALSE(IsClosed(Connect(port, AF_INET6))) << host;
    }
  }
}

TEST(ListeningSocketsTest, ATakenPortIsNamed) {
  const auto first = Listening();
  const auto second = ListeningSockets::Listen("127.0.0.1", first.port());
  EXPECT_THAT(second.status().message(),
              testing::HasSubstr(absl::StrCat("listen: cannot listen on 127.0.0.1:", first.port())));
  EXPECT_THAT(ListeningSockets::Listen("no-such-host.invalid", 0).status().message(),
              testing::HasSubstr("listen: no-such-host.invalid"));
  EXPECT_THAT(ListeningSockets::Listen("192.0.2.1", 0).status().message(), testing::HasSubstr("192.0.2.1:0"));
}

TEST(ListeningSocketsTest, APathIsTakenOverFromADeadServerAndRemovedAtTheEnd) {
  const std::string path = absl::StrCat(testing::TempDir(), "stoker-listening-", getpid());
  sockaddr_un address = {.sun_family = AF_UNIX};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  {
    const OwnedFd dead(socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  {
    const auto sockets = Listening("unix:" + path);
    const OwnedFd client(socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  struct stat status = {};
  EXPECT_NE(stat(path.c_str(), &status), 0);
}

TEST(ListeningSocketsTest, AFileThatIsNoSocketIsLeftAlone) {
  const std::string path = absl::StrCat(testing::TempDir(), "stoker-file-", getpid());
  const OwnedFd file(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  EXPECT_FALSE(ListeningSockets::Listen("unix:" + path, 0).ok());
  EXPECT_EQ(unlink(path.c_str()), 0);
}

}  // namespace
}  // namespace stoker
