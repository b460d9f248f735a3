#include "server/send/desk.h"

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

// Notes who was answered, in order.
class Answers {
 public:
  Desk::Answer For(const std::string& peer) {
    return [this, peer](const absl::Status& admitted) {
      absl::MutexLock lock(&mutex_);
      order_.push_back(admitted.ok() ? peer : absl::StatusCodeToString(admitted.code()));
    };
  }
  std::vector<std::string> Await(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return order_.size() >= count; };
    mutex_.Await(absl::Condition(&enough));
    return order_;
  }

 private:
  absl::Mutex mutex_;
  std::vector<std::string> order_;
};

// Holds the desk's only thread up, until the notification.
void HoldUp(Desk& desk, absl::Notification& until) {
  absl::Notification held;
  ASSERT_TRUE(desk.Ask("holder",
                       [&](const absl::Status&) {
                         held.Notify();
                         until.WaitForNotification();
                       })
                  .ok());
  held.WaitForNotification();
}

TEST(DeskTest, PeersTakeTurnsHoweverMuchOneAsks) {
  absl::Notification go;
  Answers answers;
  Desk desk({.threads = 1});
  HoldUp(desk, go);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(desk.Ask("greedy", answers.For("greedy")).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(desk.Ask("modest", answers.For("modest")).ok());
  go.Notify();
  const auto order = answers.Await(12);
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 5),
              testing::ElementsAre("greedy", "modest", "greedy", "modest", "greedy"));
}

TEST(DeskTest, RefusesWhatWouldWaitBehindTooMany) {
  absl::Notification go;
  Answers answers;
  Desk desk({.threads = 1, .most_waiting = 5, .most_waiting_of_peer = 3});
  HoldUp(desk, go);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(desk.Ask("a", answers.For("a")).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(desk.Ask("a", answers.For("a"))));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(desk.Ask("b", answers.For("b")).ok());
  const absl::Status full = desk.Ask("c", answers.For("c"));
  EXPECT_EQ(full.message(), "0 requests of this host wait here already, and 5 in all; ask again later");
  go.Notify();
  answers.Await(5);
  EXPECT_TRUE(desk.Ask("a", answers.For("a")).ok());
  EXPECT_EQ(answers.Await(6).size(), 6);
}

TEST(DeskTest, TellsThoseWhoWaitThatItCloses) {
  Answers answers;
  {
    absl::Notification go;
    Desk desk({.threads = 1});
    HoldUp(desk, go);
    ASSERT_TRUE(desk.Ask("a", [&](const absl::Status& admitted) { answers.For("a")(admitted); }).ok());
    ASSERT_TRUE(desk.Ask("b", answers.For("b")).ok());
    go.Notify();
  }
  EXPECT_EQ(answers.Await(2).size(), 2);  // Either way, each was answered.
}

}  // namespace
}  // namespace stoker
