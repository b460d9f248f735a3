#include "client/receive/name_resolver.h"

#include <algorithm>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr absl::Duration kLong = absl::Seconds(600);  // Longer than a test may last.

// A name server that answers when it is told to.
class NameServer {
 public:
  NameResolver::Addresses Resolve(const std::string& server) {
    absl::MutexLock lock(&mutex_);
    ++asked_[server];
    most_ = std::max(most_, ++inside_);
    while (hanging_ && server.find("slow") != server.npos) changed_.Wait(&mutex_);
    --inside_;
    ++answered_;
    changed_.SignalAll();
    return std::vector<std::string>{absl::StrCat(server, " ", asked_[server])};
  }

  void Hang(bool hanging) {
    absl::MutexLock lock(&mutex_);
    hanging_ = hanging;
    changed_.SignalAll();
  }
  void AwaitAsked(const std::string& server, int times) {
    absl::MutexLock lock(&mutex_);
    while (asked_[server] < times) changed_.WaitWithTimeout(&mutex_, absl::Milliseconds(1));
  }
  void AwaitInside(int threads) {
    absl::MutexLock lock(&mutex_);
    while (inside_ != threads) changed_.WaitWithTimeout(&mutex_, absl::Milliseconds(1));
  }
  int asked(const std::string& server) {
    absl::MutexLock lock(&mutex_);
    return asked_[server];
  }
  int most() {
    absl::MutexLock lock(&mutex_);
    return most_;
  }

 private:
  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::map<std::string, int> asked_;
  int inside_ = 0, most_ = 0, answered_ = 0;
  bool hanging_ = false;
};

struct Fixture {
  std::shared_ptr<NameServer> names = std::make_shared<NameServer>();
  NameResolver resolver{[names = names](const std::string& server) { return names->Resolve(server); }};
};

TEST(NameResolverTest, AnAddressIsItsOwn) {
  NameResolver resolver;
  resolver.Begin({"10.0.0.1", "unix:/run/stoker"});
  const auto known = resolver.Latest({"unix:/run/stoker", "10.0.0.1"});
  EXPECT_THAT(*known[0], ElementsAre("unix:/run/stoker"));
  EXPECT_THAT(*known[1], ElementsAre("10.0.0.1:7077"));
  EXPECT_EQ(resolver.finished(), 2);
  resolver.Begin({"10.0.0.1"});
  EXPECT_EQ(resolver.finished(), 2);
}

TEST(NameResolverTest, ANameThatHangsKeepsNobodyWaitingAndOthersAreResolved) {
  Fixture fixture;
  fixture.names->Hang(true);
  fixture.resolver.Begin({"dns:///slow", "dns:///quick"});
  fixture.resolver.Await({"dns:///quick"}, kLong);
  fixture.resolver.Await({"dns:///slow"}, absl::Milliseconds(1));
  const auto known = fixture.resolver.Latest({"dns:///slow", "dns:///quick"});
  EXPECT_TRUE(absl::IsUnavailable(known[0].status()));
  EXPECT_THAT(known[0].status().message(), HasSubstr("still being looked up"));
  EXPECT_THAT(*known[1], ElementsAre("dns:///quick 1"));
  fixture.names->Hang(false);
}

TEST(NameResolverTest, OldAddressesStayWhileANameHangsAndItIsAskedForOnce) {
  Fixture fixture;
  const std::vector<std::string> slow = {"dns:///slow"};
  fixture.resolver.Begin(slow);
  fixture.resolver.Await(slow, kLong);
  fixture.names->Hang(true);
  for (int i = 0; i < 100; ++i) fixture.resolver.Begin(slow);
  fixture.names->AwaitAsked("dns:///slow", 2);
  EXPECT_THAT(*fixture.resolver.Latest(slow)[0], ElementsAre("dns:///slow 1"));
  EXPECT_EQ(fixture.resolver.finished(), 1);
  fixture.names->Hang(false);
  fixture.resolver.Await(slow, kLong);
  EXPECT_THAT(*fixture.resolver.Latest(slow)[0], ElementsAre("dns:///slow 2"));
  EXPECT_EQ(fixture.names->asked("dns:///slow"), 2);
}

TEST(NameResolverTest, ThreadsAreFewAndEachNameGetsItsTurn) {
  Fixture fixture;
  fixture.names->Hang(true);
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) many.push_back(absl::StrCat("dns:///slow", i));
  fixture.resolver.Begin(many);
  fixture.names->AwaitInside(NameResolver::kMostThreads);
  fixture.names->Hang(false);
  fixture.resolver.Await(many, kLong);
  for (const auto& addresses : fixture.resolver.Latest(many)) EXPECT_TRUE(addresses.ok());
  EXPECT_EQ(fixture.names->most(), NameResolver::kMostThreads);
}

TEST(NameResolverTest, ItsEndWaitsForNoNameAndBeginsNoOther) {
  auto fixture = std::make_unique<Fixture>();
  const std::shared_ptr<NameServer> names = fixture->names;
  names->Hang(true);
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) many.push_back(absl::StrCat("dns:///slow", i));
  fixture->resolver.Begin(many);
  names->AwaitInside(NameResolver::kMostThreads);
  fixture.reset();
  names->Hang(false);
  names->AwaitInside(0);
  EXPECT_EQ(names->asked(many.back()), 0);
}

}  // namespace
}  // namespace stoker
