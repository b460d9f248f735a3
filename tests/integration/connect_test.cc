// What becomes of a client's first question, where servers are not there, or not yet.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"
#include "tests/support/tcp_proxy.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr absl::Duration kLong = absl::Seconds(600);  // Longer than a test may last.

const char* const kClosed = "127.0.0.1:1";

std::string LongName() { return std::string(70, 'x'); }  // No resolver has such a name.

absl::Status Ask(std::vector<std::string> servers, std::optional<absl::Duration> connect_timeout = std::nullopt) {
  const auto client = Client::Create({.servers = std::move(servers), .connect_timeout = connect_timeout});
  return client.ok() ? (*client)->ListDatasets().status() : client.status();
}

// It says that nobody waited, and each of the reasons.
void ExpectAtOnce(const absl::Status& status, const std::vector<std::string>& reasons) {
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("no server can be reached ("));
  for (const std::string& reason : reasons) EXPECT_THAT(status.message(), HasSubstr(reason));
  EXPECT_THAT(status.message(), HasSubstr("connect_timeout"));
}

TEST(ConnectTest, AClosedPortIsSaidAtOnce) {
  ExpectAtOnce(Ask({kClosed}), {"127.0.0.1:1: connection refused; is stokerd running there?"});
}

TEST(ConnectTest, ANameThatDoesNotExistIsSaidAtOnce) {
  ExpectAtOnce(Ask({LongName()}), {LongName() + ":7077: name not found"});
  ExpectAtOnce(Ask({"dns:///" + LongName()}), {"dns:///" + LongName() + ": name not found"});
}

TEST(ConnectTest, AListThatDoesNotExistIsSaidAtOnce) {
  ExpectAtOnce(Ask({"file:/nowhere/servers"}), {"file:/nowhere/servers: there is no such file"});
}

TEST(ConnectTest, EachServersReasonIsSaid) {
  ExpectAtOnce(Ask({kClosed, LongName(), "file:/nowhere/servers", "unix:/nowhere/socket"}),
               {"127.0.0.1:1: connection refused", ":7077: name not found", "there is no such file",
                "unix:/nowhere/socket: no such socket"});
}

TEST(ConnectTest, ALoaderSaysItToo) {
  ExpectAtOnce(Loader::Create({.servers = {kClosed}, .batch_size = 1}).status(), {"connection refused"});
}

TEST(ConnectTest, ATimeThatIsGivenIsWaitedAndTheReasonsAreSaidThen) {
  const absl::Status status = Ask({kClosed, LongName()}, absl::Milliseconds(300));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("no server answered within 300ms ("));
  EXPECT_THAT(status.message(), HasSubstr("127.0.0.1:1: connection refused; is stokerd running there?"));
  EXPECT_THAT(status.message(), HasSubstr(":7077: name not found"));
}

TEST(ConnectTest, AServerThatStartsLaterIsWaitedForWhereATimeIsGiven) {
  Cluster cluster(1, SyntheticConfig(100));
  cluster.Stop(0);
  std::thread late([&] {
    absl::SleepFor(absl::Seconds(1));  // It comes up before the question or after, and the answer is the same.
    cluster.Restart(0);
  });
  EXPECT_TRUE(Ask(cluster.addresses(), kLong).ok());
  late.join();
}

TEST(ConnectTest, AListThatIsWrittenLaterIsWaitedForWhereATimeIsGiven) {
  const Cluster cluster(1, SyntheticConfig(100));
  const std::string path = absl::StrCat(testing::TempDir(), "stoker-connect-", getpid());
  std::thread late([&] {
    absl::SleepFor(absl::Seconds(1));
    std::ofstream(path + ".new") << cluster.addresses()[0] << "\n";
    std::filesystem::rename(path + ".new", path);
  });
  EXPECT_TRUE(Ask({"file:" + path}, kLong).ok());
  late.join();
  std::filesystem::remove(path);
}

TEST(ConnectTest, AServerThatRefusesDoesNotEndTheWaitForAnotherOne) {
  const Cluster cluster(1, SyntheticConfig(100));
  TcpProxy slow(cluster.addresses()[0]);
  slow.Set({.hold_answers = true});
  std::thread later([&] {
    absl::SleepFor(absl::Seconds(1));
    slow.Set({});
  });
  EXPECT_TRUE(Ask({kClosed, LongName(), slow.address()}).ok());
  later.join();
}

TEST(ConnectTest, ARefusalByAServerComesFirst) {
  const Cluster cluster(1, SyntheticConfig(100));
  const absl::Status status =
      Loader::Create({.servers = {kClosed, cluster.addresses()[0]}, .dataset = "other", .batch_size = 1}).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(status.message(), Not(HasSubstr("refused")));
}

TEST(ConnectTest, OneServerIsEnough) {
  const Cluster cluster(1, SyntheticConfig(100));
  EXPECT_TRUE(Ask({kClosed, cluster.addresses()[0], "file:/nowhere/servers"}).ok());
}

}  // namespace
}  // namespace stoker
