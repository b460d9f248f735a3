#include "server/send/unopened_streams.h"

#include <vector>

#include "gtest/gtest.h"

namespace stoker {
namespace {

class UnopenedStreamsTest : public testing::Test {
 protected:
  std::unique_ptr<UnopenedStreams::Ticket> Begin(const std::string& host) {
    return streams_.Begin(host, [this, host](const absl::Status& status) {
      EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
      expired_.push_back(host);
    });
  }

  absl::Duration now_ = absl::Hours(5);
  UnopenedStreams streams_{{.streams = 3, .streams_per_host = 2, .timeout = absl::Seconds(10)},
                           [this] { return now_; }};
  std::vector<std::string> expired_;
};

TEST_F(UnopenedStreamsTest, EndsWhatDoesNotOpenInTime) {
  const auto first = Begin("10.0.0.1");
  now_ += absl::Seconds(4);
  auto second = Begin("10.0.0.2"), opened = Begin("10.0.0.3");
  opened.reset();
  now_ += absl::Seconds(6);
  EXPECT_EQ(streams_.Expire(), 1);
  EXPECT_EQ(expired_, std::vector<std::string>{"10.0.0.1"});
  now_ += absl::Seconds(4);
  EXPECT_EQ(streams_.Expire(), 1);
  EXPECT_EQ(streams_.Expire(), 0);
  EXPECT_EQ(expired_.size(), 2);
  second.reset();
  EXPECT_EQ(streams_.size(), 0);
}

TEST_F(UnopenedStreamsTest, AHostHasFewPlaces) {
  const auto first = Begin("10.0.0.1"), second = Begin("10.0.0.1");
  EXPECT_EQ(Begin("10.0.0.1"), nullptr);
  const auto other = Begin("2001:db8::1");
  EXPECT_NE(other, nullptr);
  EXPECT_EQ(Begin("10.0.0.9"), nullptr) << "three are all that there may be";
}

TEST_F(UnopenedStreamsTest, APlaceThatExpiredIsFreeBeforeItsTicketEnds) {
  const auto first = Begin("unix:"), second = Begin("unix:");
  now_ += absl::Seconds(10);
  EXPECT_EQ(streams_.Expire(), 2);
  EXPECT_NE(Begin("unix:"), nullptr);
}

}  // namespace
}  // namespace stoker
