#include "server/config/settings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/config/resources.h"

namespace stoker {
namespace {

v1::ServerConfig Listening(const std::string& listen) {
  v1::ServerConfig config;
  config.set_listen(listen);
  return config;
}

TEST(SettingsTest, DefaultsToTheLoopbackAndWhatTheMachineAllows) {
  const auto settings = Resolve({});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->host, "127.0.0.1");
  EXPECT_EQ(settings->port, kDefaultPort);
  EXPECT_EQ(settings->workers, AvailableCpus());
  EXPECT_EQ(settings->memory_limit_bytes, AvailableMemory() / 5 * 4);
  EXPECT_LE(settings->max_pixels, uint64_t{1} << 26);
}

TEST(SettingsTest, AnOpenAddressNeedsToBeMeant) {
  for (const char* open : {"0.0.0.0:7077", "10.0.0.1:7077", "[::]:7077", "example:7077"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Resolve(Listening(open)).status())) << open;
    v1::ServerConfig meant = Listening(open);
    meant.set_insecure(true);
    EXPECT_TRUE(Resolve(meant).ok()) << open;
  }
  for (const char* loopback : {"127.0.0.1:1", "localhost:1", "[::1]:1", "127.8.0.1:0"})
    EXPECT_TRUE(Resolve(Listening(loopback)).ok()) << loopback;
}

TEST(SettingsTest, NamesTheKeyThatIsWrong) {
  EXPECT_THAT(Resolve(Listening("nowhere")).status().message(), testing::HasSubstr("listen: "));
  EXPECT_THAT(Resolve(Listening("127.0.0.1:65536")).status().message(), testing::HasSubstr("listen: "));
  v1::ServerConfig config;
  config.set_memory_limit("lots");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("memory_limit: "));
  config.clear_memory_limit();
  config.set_workers(5000);
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("workers: "));
}

TEST(SettingsTest, ASmallMemoryMakesForSmallImages) {
  v1::ServerConfig config;
  config.set_memory_limit("1GiB");
  config.set_workers(4);
  EXPECT_LT(Resolve(config)->max_pixels * kWorkerBytesPerPixel * 4, uint64_t{1} << 30);
}

TEST(ResourcesTest, AQuotaOfAPartOfACpuIsOneCpu) {
  EXPECT_EQ(CpusOfQuota("200000 100000"), 2);
  EXPECT_EQ(CpusOfQuota("150000 100000"), 2);
  EXPECT_EQ(CpusOfQuota("10000 100000\n"), 1);
  EXPECT_EQ(CpusOfQuota("max 100000"), 0);
  EXPECT_EQ(CpusOfQuota("-1 100000"), 0);
  EXPECT_EQ(CpusOfQuota(""), 0);
}

}  // namespace
}  // namespace stoker
