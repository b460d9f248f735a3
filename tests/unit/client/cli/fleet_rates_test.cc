#include "client/cli/fleet_rates.h"

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

using testing::HasSubstr;

v1::StatusResponse StatusOf(const std::string& text) {
  v1::StatusResponse status;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &status)) << text;
  return status;
}

constexpr char kBefore[] =
    "uptime_seconds: 100 workers: 4 busy_seconds: 10 "
    "datasets { name: 'pets' samples: 1000 sent_bytes: 5000000 client_wait_seconds: 1 "
    "whole_client_wait_seconds: 3 send_blocked_seconds: 1 }";
constexpr char kAfter[] =
    "build: 'stokerd 1' uptime_seconds: 102 workers: 4 busy_seconds: 16 waiting_spans: 9 "
    "datasets { name: 'birds' streams: 1 } "
    "datasets { name: 'pets' streams: 2 samples: 1500 sent_bytes: 9000000 client_wait_seconds: 1.5 "
    "whole_client_wait_seconds: 4 "
    "send_blocked_seconds: 1.5 failed_spans: 3 }";

TEST(FleetRatesTest, AreWhatWasDoneBetweenTwoLooks) {
  const ServerRates rates = RatesOf("a:1", StatusOf(kBefore), StatusOf(kAfter));
  EXPECT_DOUBLE_EQ(rates.busy, 0.75);
  EXPECT_EQ(rates.waiting_spans, 9);
  EXPECT_EQ(rates.all.streams, 3);
  EXPECT_DOUBLE_EQ(rates.all.samples, 250);
  EXPECT_DOUBLE_EQ(rates.all.megabytes, 2);
  EXPECT_DOUBLE_EQ(rates.all.waiting, 0.5);
  EXPECT_DOUBLE_EQ(rates.all.waiting_share, 0.25);
  EXPECT_DOUBLE_EQ(rates.all.blocked, 0.25);
  EXPECT_EQ(rates.all.failed, 3);
  ASSERT_EQ(rates.datasets.size(), 2);
  EXPECT_EQ(rates.datasets[0].samples, 0);
}

TEST(FleetRatesTest, OfAServerThatWasStartedAnewAreItsOwn) {
  const ServerRates rates =
      RatesOf("a:1", StatusOf(kBefore),
              StatusOf("uptime_seconds: 4 workers: 1 busy_seconds: 2 datasets { name: 'pets' samples: 40 }"));
  EXPECT_DOUBLE_EQ(rates.busy, 0.5);
  EXPECT_DOUBLE_EQ(rates.all.samples, 10);
}

TEST(FleetRatesTest, NothingIsDividedByNoTime) {
  const ServerRates rates = RatesOf("a:1", StatusOf(kAfter), StatusOf(kAfter));
  EXPECT_EQ(rates.busy, 0);
  EXPECT_EQ(rates.all.samples, 0);
}

// One whose client waits for `waiting` of its time, and uses `servers`.
ServerRates Server(double waiting, double blocked, double busy, int servers = 1) {
  ServerRates server = {.address = "a:1", .busy = busy};
  server.all = {.streams = 1, .waiting = waiting, .waiting_share = waiting / servers, .blocked = blocked};
  return server;
}

TEST(FleetRatesTest, TheBottleneckIsNamed) {
  EXPECT_EQ(Bottleneck({}), "No server tells how it fares.");
  EXPECT_EQ(Bottleneck({{.address = "a:1"}}), "No client reads.");
  EXPECT_EQ(Bottleneck({Server(0.01, 2, 0.9)}), "No client waits: the servers keep up.");
  EXPECT_EQ(Bottleneck({Server(0.06, 0, 0.9, 2), Server(0.06, 0, 0.9, 2)}), "No client waits: the servers keep up.");
  EXPECT_EQ(Bottleneck({Server(1, 0, 0.9, 2), Server(1, 0, 1, 2)}),
            "Clients wait: 1.0 of 1 at a time. The servers' workers are busy, 95 % of their time: more servers make "
            "it faster.");
  EXPECT_THAT(Bottleneck({Server(0.5, 0.9, 0.3)}), HasSubstr("the network, or the clients' receiving, is slow"));
  EXPECT_THAT(Bottleneck({Server(0.5, 0, 0.3)}), HasSubstr("look at their storage"));
  EXPECT_THAT(Bottleneck({Server(0.5, 0, 0.9, 15)}), HasSubstr("Clients wait: 0.5 of 1"))
      << "the client's other servers are not asked";
  EXPECT_THAT(Bottleneck({Server(1, 0, 0.9), Server(1, 0, 0.9)}), HasSubstr("Clients wait: 2.0 of 1"))
      << "two clients, each with a server of its own";
}

TEST(FleetRatesTest, WhatAHostileServerSaysIsCut) {
  v1::StatusResponse status;
  status.set_uptime_seconds(1e300);
  for (int i = 0; i < 3000; ++i) status.add_datasets()->set_name(std::string(100'000, 'x'));
  EXPECT_LT(FleetTable({RatesOf("a:1", status, status)}, /*datasets=*/true).size(), 200'000);
}

TEST(FleetRatesTest, ATableHasALineForEachServerAndDataset) {
  ServerRates one = RatesOf("cpu1:7077", StatusOf(kBefore), StatusOf(kAfter));
  one.draining = true;
  const std::string table = FleetTable({one, {.address = "b:1", .problem = "connection\nrefused"}}, /*datasets=*/true);
  EXPECT_EQ(table,
            "SERVER    STATE     BUSY  STREAMS   SAMPLES/S     MB/S  WAITING  BLOCKED  QUEUED  FAILED    UPTIME\n"
            "cpu1:7077 draining   75%        3       250.0      2.0     0.50     0.25       9       3    1m 42s\n"
            "  birds                         1         0.0      0.0     0.00     0.00               0\n"
            "  pets                          2       250.0      2.0     0.50     0.25               3\n"
            "b:1       connection\\x0arefused\n"
            "Clients wait: 0.5 of 3 at a time. The servers' workers are busy, 75 % of their time: more servers make it "
            "faster.\n");
  EXPECT_THAT(FleetTable({one}, /*datasets=*/false), testing::Not(HasSubstr("pets")));
}

TEST(FleetRatesTest, JsonHasTheSame) {
  const auto json = nlohmann::json::parse(FleetJson(
      {RatesOf("a:1", StatusOf(kBefore), StatusOf(kAfter)), {.address = "b:1", .problem = "connection refused"}}));
  EXPECT_EQ(json["servers"][0]["samples_per_second"], 250);
  EXPECT_EQ(json["servers"][0]["datasets"][1]["name"], "pets");
  EXPECT_EQ(json["servers"][1]["problem"], "connection refused");
  EXPECT_FALSE(json["servers"][1].contains("busy"));
}

}  // namespace
}  // namespace stoker
