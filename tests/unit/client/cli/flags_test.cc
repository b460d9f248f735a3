#include "client/cli/flags.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

TEST(FlagsTest, ServersAreSeparatedByCommas) {
  const auto client = Connect({.servers = "a:1, b ,,unix:/tmp/c", .connect_seconds = 2.5});
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_THAT((*client)->options().servers, testing::ElementsAre("a:1", "b", "unix:/tmp/c"));
  EXPECT_EQ((*client)->options().connect_timeout, absl::Milliseconds(2500));
}

TEST(FlagsTest, ATimeThatIsNotGivenIsTheClientsToChoose) {
  const auto client = Connect({.servers = "a:1"});
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_FALSE((*client)->options().connect_timeout.has_value());
}

TEST(FlagsTest, TheEnvironmentStandsInForServers) {
  CLI::App app;
  ServerFlags flags;
  AddServerFlags(app, flags);
  setenv("STOKER_SERVERS", "a:1,b:2", 1);
  app.parse("");
  EXPECT_EQ(flags.servers, "a:1,b:2");
  app.parse("--servers c:3");
  EXPECT_EQ(flags.servers, "c:3");
  unsetenv("STOKER_SERVERS");
  EXPECT_THROW(app.parse(""), CLI::RequiredError);
}

TEST(FlagsTest, RefusesTwoPipelines) {
  CLI::App app;
  SourceFlags flags;
  AddSourceFlags(app, flags);
  EXPECT_THROW(app.parse("--servers a --pipeline x.yaml --pipeline-name y"), CLI::ExcludesError);
}

TEST(FlagsTest, RefusesUnknownModesAndNumbersOutOfRange) {
  CLI::App app;
  JobFlags flags;
  AddJobFlags(app, flags);
  EXPECT_THROW(app.parse("--shuffle some"), CLI::ValidationError);
  EXPECT_THROW(app.parse("--batch-size 0"), CLI::ValidationError);
  for (const char* seed : {"-1", "18446744073709551616", "1.5", "x"})
    EXPECT_THROW(app.parse(std::string("--seed ") + seed), CLI::ValidationError) << seed;
  app.parse("--seed 18446744073709551615");
  EXPECT_EQ(flags.seed, UINT64_MAX);
}

TEST(FlagsTest, PassesTheJobOn) {
  CLI::App app;
  JobFlags flags;
  AddJobFlags(app, flags);
  app.parse("--shuffle block --batch-size 7 --seed 9 --span-samples 3");
  const LoaderOptions options = LoaderOptionsFor({.dataset = "d", .pipeline_name = "p"}, flags);
  EXPECT_EQ(options.dataset, "d");
  EXPECT_EQ(options.pipeline_name, "p");
  EXPECT_EQ(options.shuffle.mode(), v1::SHUFFLE_MODE_BLOCK);
  EXPECT_EQ(options.batch_size, 7);
  EXPECT_EQ(options.seed, 9);
  EXPECT_EQ(options.span_samples, 3);
  EXPECT_EQ(options.last_batch, LastBatch::kPartial);
}

TEST(FlagsTest, APipelineThatCannotBeReadIsAnErrorBeforeAnyConnection) {
  const auto source = OpenSource({.server = {.servers = "a:1"}, .dataset = "d", .pipeline_file = "no-such.yaml"});
  EXPECT_EQ(source.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(source.status().message()), testing::HasSubstr("no-such.yaml"));
}

}  // namespace
}  // namespace stoker
