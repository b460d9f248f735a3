#include "server/main/connection_table.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <map>

#include "gtest/gtest.h"

namespace stoker {
namespace {

using Verdict = ConnectionTable::Verdict;

class ConnectionTableTest : public testing::Test {
 protected:
  ConnectionTable Table(size_t connections, size_t per_peer) {
    return ConnectionTable({connections, per_peer}, [this](int descriptor) { return inodes_[descriptor]; });
  }

  std::map<int, uint64_t> inodes_;  // of open descriptors
};

TEST_F(ConnectionTableTest, BoundsConnectionsInAllAndOfEachPeer) {
  ConnectionTable table = Table(4, 2);
  for (int i = 0; i < 6; ++i) inodes_[i] = 100 + i;
  EXPECT_EQ(table.Take(0, "a"), Verdict::kTaken);
  EXPECT_EQ(table.Take(1, "a"), Verdict::kTaken);
  EXPECT_EQ(table.Take(2, "a"), Verdict::kTooManyOfPeer);
  EXPECT_EQ(table.Take(3, "b"), Verdict::kTaken);
  EXPECT_EQ(table.Take(4, "b"), Verdict::kTaken);
  EXPECT_EQ(table.Take(5, "c"), Verdict::kTooMany);
  EXPECT_EQ(table.size(), 4);
}

TEST_F(ConnectionTableTest, APeerWithoutANameHasTheWholeToItself) {
  ConnectionTable table = Table(3, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(table.Take(i, ""), Verdict::kTaken);
  EXPECT_EQ(table.Take(3, ""), Verdict::kTooMany);
}

TEST_F(ConnectionTableTest, AClosedConnectionMakesRoom) {
  ConnectionTable table = Table(2, 2);
  inodes_ = {{7, 100}, {8, 101}};
  table.Take(7, "a");
  table.Take(8, "a");
  EXPECT_EQ(table.Sweep(), 0);
  inodes_[7] = 0;
  EXPECT_EQ(table.Sweep(), 1);
  EXPECT_EQ(table.Take(9, "a"), Verdict::kTaken);
}

TEST_F(ConnectionTableTest, ADescriptorThatIsSomethingElseNowIsNoConnection) {
  ConnectionTable table = Table(2, 2);
  inodes_ = {{7, 100}};
  table.Take(7, "a");
  inodes_[7] = 200;  // Closed, and given out again: a file of the dataset's.
  EXPECT_EQ(table.Sweep(), 1);
}

TEST_F(ConnectionTableTest, ADescriptorThatIsGivenOutAgainEndsTheEarlierConnection) {
  ConnectionTable table = Table(1, 1);
  inodes_ = {{7, 100}};
  EXPECT_EQ(table.Take(7, "a"), Verdict::kTaken);
  inodes_ = {{7, 101}};
  EXPECT_EQ(table.Take(7, "a"), Verdict::kTaken);
  EXPECT_EQ(table.size(), 1);
}

sockaddr_in6 V6(const char* text) {
  sockaddr_in6 address = {.sin6_family = AF_INET6};
  inet_pton(AF_INET6, text, &address.sin6_addr);
  return address;
}

TEST(PeerOfTest, AHostIsOnePeerWhateverItsPort) {
  sockaddr_in four = {.sin_family = AF_INET, .sin_port = 4711};
  inet_pton(AF_INET, "10.0.0.1", &four.sin_addr);
  EXPECT_EQ(PeerOf(&four), "10.0.0.1");
  const sockaddr_in6 mapped = V6("::ffff:10.0.0.1"), one = V6("2001:db8::1"), other = V6("2001:db8::ffff:2");
  EXPECT_EQ(PeerOf(&mapped), "10.0.0.1");
  EXPECT_EQ(PeerOf(&one), "2001:db8::/64");
  EXPECT_EQ(PeerOf(&other), "2001:db8::/64");
  const sockaddr unix_socket = {.sa_family = AF_UNIX};
  EXPECT_EQ(PeerOf(&unix_socket), "");
}

}  // namespace
}  // namespace stoker
