#include "client/cli/report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr uint64_t kNanoseconds = 1'000'000'000;

// Ten seconds with two servers of four workers each, which decoded all the time.
Figures Measured() {
  Figures figures;
  figures.dataset = "photos";
  figures.sample_bytes = 1000;
  figures.images = true;
  figures.parallelism = 4;
  figures.seconds = 10;
  figures.cpu_seconds = 0.5;
  LoaderStats& stats = figures.stats;
  stats.batches = 50, stats.samples = 800, stats.spans = 100;
  stats.bytes = 1'000'000;  // 1000 samples, some of them ahead
  stats.waited = absl::Seconds(9);
  stats.server.set_read(10 * kNanoseconds);
  stats.server.set_decode(50 * kNanoseconds);
  stats.server.set_augment(20 * kNanoseconds);
  stats.servers = {{.address = "a:1", .connected = true, .spans = 60},
                   {.address = "b:2", .spans = 40, .problem = "gone"}};
  return figures;
}

TEST(ReportTest, NamesTheStageThatServersSpendMostOn) {
  EXPECT_EQ(Bottleneck(Measured()), "the servers: 62 % of their work is decode; more servers make it faster");
}

TEST(ReportTest, TellsHowBusyThisMachineIsWhereThatIsKnown) {
  Figures figures = Measured();
  EXPECT_THAT(ToText(figures), Not(HasSubstr("this machine ")));
  figures.host_cpu_share = 0.25;
  EXPECT_THAT(ToText(figures), HasSubstr("this machine  CPUs 25 % busy\n"));
  figures.gpu_shares = {0.93, 0.5};
  EXPECT_THAT(ToText(figures), HasSubstr("this machine  CPUs 25 % busy; GPU 0 93 %, GPU 1 50 %\n"));
  const auto json = nlohmann::json::parse(ToJson(figures));
  EXPECT_EQ(json["machine"]["cpu_share"], 0.25);
  EXPECT_EQ(json["machine"]["gpu_shares"][1], 0.5);
}

TEST(ReportTest, NamesTheServersWhereSpansQueueThoughTheirClocksSayLittle) {
  Figures figures = Measured();
  figures.parallelism = 100;
  figures.stats.server.set_wait(60 * kNanoseconds);
  EXPECT_THAT(Bottleneck(figures), StartsWith("the servers: 62 %"));
}

TEST(ReportTest, NamesWhatLiesBetweenWhereNeitherSideIsBusy) {
  Figures figures = Measured();
  figures.parallelism = 100;
  EXPECT_THAT(Bottleneck(figures), StartsWith("between them: the servers are 4 % busy"));
}

TEST(ReportTest, NamesTheClientWhereItHardlyWaits) {
  Figures figures = Measured();
  figures.stats.waited = absl::Seconds(1);
  EXPECT_THAT(Bottleneck(figures), StartsWith("this client: it takes batches"));
  figures.own_seconds = 8;
  EXPECT_THAT(Bottleneck(figures), StartsWith("this command: --digest takes 80 %"));
  figures.stats.received = absl::Seconds(6);
  EXPECT_THAT(Bottleneck(figures), HasSubstr("receiving takes 60 %"));
  figures.stats.transformed = absl::Seconds(7);
  EXPECT_THAT(Bottleneck(figures), HasSubstr("device ops take 70 %"));
}

TEST(ReportTest, FindsNoBottleneckWhereNothingWasDone) { EXPECT_THAT(Bottleneck(Figures()), StartsWith("unknown")); }

TEST(ReportTest, JsonHasTheFigures) {
  Figures figures = Measured();
  figures.digests = {"aa", "bb"};
  figures.sheet = "sheet.png";
  const auto json = nlohmann::json::parse(ToJson(figures));
  EXPECT_EQ(json["images_per_second"], 80);
  EXPECT_EQ(json["megabytes_per_second"], 0.08);
  EXPECT_EQ(json["seconds"], 10);
  EXPECT_EQ(json["samples"], 800);
  EXPECT_EQ(json["batches"], 50);
  EXPECT_EQ(json["client"]["wait_share"], 0.9);
  EXPECT_EQ(json["client"]["cpu_seconds_per_gigabyte"], 500);
  EXPECT_EQ(json["server"]["decode"]["ms_per_sample"], 50);
  EXPECT_EQ(json["server"]["decode"]["share"], 0.625);
  EXPECT_EQ(json["server"]["busy_share"], 1);
  EXPECT_EQ(json["servers"][1]["address"], "b:2");
  EXPECT_EQ(json["servers"][1]["problem"], "gone");
  EXPECT_EQ(json["digest"], "aa");
  EXPECT_EQ(json["digests"].size(), 2);
  EXPECT_EQ(json["sheet"], "sheet.png");
  EXPECT_EQ(json["interrupted"], false);
}

TEST(ReportTest, JsonLeavesOutWhatWasNotAskedFor) {
  const auto json = nlohmann::json::parse(ToJson(Measured()));
  EXPECT_FALSE(json.contains("digest"));
  EXPECT_FALSE(json.contains("sheet"));
}

TEST(ReportTest, JsonOfNothingHasNoInvalidNumbers) {
  EXPECT_EQ(nlohmann::json::parse(ToJson(Figures()))["images_per_second"], 0);
}

TEST(ReportTest, JsonTakesNamesThatAreNotUtf8) {
  Figures figures = Measured();
  figures.sheet = "\xff.png";
  EXPECT_EQ(nlohmann::json::parse(ToJson(figures))["sheet"], "\ufffd.png");
}

TEST(ReportTest, TextListsTheFirstBadSamples) {
  Figures figures = Measured();
  figures.stats.substituted = 2;
  figures.substituted = {{.bad_sample_name = "a/x.jpg", .reason = "cut\noff"}};
  const std::string text = ToText(figures);
  EXPECT_THAT(text, HasSubstr("2 bad samples"));
  EXPECT_THAT(text, HasSubstr(R"(a/x.jpg: cut\x0aoff)"));
  EXPECT_THAT(ToText(Measured()), Not(HasSubstr("bad samples")));
}

TEST(ReportTest, TextSaysThatItWasInterrupted) {
  Figures figures = Measured();
  EXPECT_THAT(ToText(figures), Not(HasSubstr("interrupted")));
  figures.interrupted = true;
  EXPECT_THAT(ToText(figures), HasSubstr("interrupted"));
}

TEST(ReportTest, TextSaysSamplesWhereTheyAreNoImages) {
  Figures figures = Measured();
  EXPECT_THAT(ToText(figures), HasSubstr("80.0 images/s"));
  figures.images = false;
  EXPECT_THAT(ToText(figures), HasSubstr("80.0 samples/s"));
}

}  // namespace
}  // namespace stoker
