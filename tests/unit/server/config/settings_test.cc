#include "server/config/settings.h"

#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/config/effective.h"
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

TEST(SettingsTest, AnAdminAddressThatIsOpenNeedsAToken) {
  v1::ServerConfig config;
  EXPECT_FALSE(Resolve(config)->admin.has_value());
  config.mutable_admin();
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("admin.listen: '' is not HOST:PORT"));
  config.mutable_admin()->set_listen("127.0.0.1:7078");
  ASSERT_TRUE(Resolve(config).ok()) << Resolve(config).status();
  EXPECT_EQ(Resolve(config)->admin->port, 7078);
  config.mutable_admin()->set_listen("0.0.0.0:7078");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("is open to other machines; give it a token"));
  const std::string file = testing::TempDir() + "admin-token-" + std::to_string(getpid());
  config.mutable_admin()->set_token_file(file);
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("admin.token_file: " + file));
  std::ofstream(file) << "short\n";
  EXPECT_THAT(Resolve(config).status().message(),
              testing::HasSubstr("its first line has 5 bytes, where a token has at least 16"));
  std::ofstream(file) << "0123456789abcdef";
  ASSERT_TRUE(Resolve(config).ok()) << Resolve(config).status();
  EXPECT_EQ(Resolve(config)->admin->token, "0123456789abcdef");
  std::filesystem::remove(file);
}

TEST(SettingsTest, TheEffectiveConfigurationResolvesToTheSame) {
  v1::ServerConfig config = Listening("localhost:1234");
  config.set_memory_limit("1GiB");
  config.add_ops("salt.py");
  const auto settings = Resolve(config);
  ASSERT_TRUE(settings.ok()) << settings.status();
  const v1::ServerConfig full = EffectiveConfig(config, *settings);
  EXPECT_EQ(full.listen(), "localhost:1234");
  EXPECT_EQ(full.memory_limit(), "1073741824");
  EXPECT_EQ(full.python_ops().python(), "python3");
  const auto again = Resolve(full);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(EffectiveConfig(full, *again).SerializeAsString(), full.SerializeAsString());
}

TEST(SettingsTest, ASmallMemoryMakesForSmallImages) {
  v1::ServerConfig config;
  config.set_memory_limit("1GiB");
  config.set_workers(4);
  EXPECT_LT(Resolve(config)->max_pixels * kWorkerBytesPerPixel * 4, uint64_t{1} << 30);
}

TEST(SettingsTest, ACacheNearTheLargestNumberIsRefusedWithTheFigures) {
  v1::ServerConfig config;
  config.set_memory_limit("1GiB");
  config.set_span_cache("18446744073709551615");
  EXPECT_EQ(Resolve(config).status().message(),
            "span_cache: 18446744073709551615 bytes are more than memory_limit, 1073741824, which they are part of");
  config.clear_span_cache();
  config.set_decoded_cache("2GiB");
  EXPECT_EQ(Resolve(config).status().message(),
            "decoded_cache: 2147483648 bytes are more than memory_limit, 1073741824, which they are part of");
  config.set_decoded_cache("much");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("decoded_cache: "));
  config.clear_decoded_cache();
  config.set_memory_limit("18446744073709551615");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("memory_limit: 18446744073709551615 bytes"));
}

TEST(SettingsTest, WhatIsReadAheadIsAnEighthOfTheMemoryUnlessItIsSaid) {
  v1::ServerConfig config;
  config.set_memory_limit("8GiB");
  EXPECT_EQ(Resolve(config)->read_ahead_bytes, uint64_t{1} << 30);
  config.set_memory_limit("256MiB");
  EXPECT_EQ(Resolve(config)->read_ahead_bytes, uint64_t{64} << 20);
  config.set_read_ahead("100MiB");
  EXPECT_EQ(Resolve(config)->read_ahead_bytes, uint64_t{100} << 20);
  config.set_read_ahead("300MiB");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("read_ahead: 314572800 bytes are more than"));
  config.set_read_ahead("much");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("read_ahead: "));
}

TEST(SettingsTest, OpsInPythonHaveDefaultsAndBounds) {
  v1::ServerConfig config;
  EXPECT_EQ(Resolve(config)->python, "python3");
  EXPECT_EQ(Resolve(config)->python_patience, absl::Seconds(10));
  EXPECT_EQ(Resolve(config)->python_memory_bytes, uint64_t{1} << 30);
  v1::PythonOpsConfig& python = *config.mutable_python_ops();
  python.set_python("/opt/python3");
  python.set_seconds(0.5);
  python.set_memory("2GiB");
  EXPECT_EQ(Resolve(config)->python, "/opt/python3");
  EXPECT_EQ(Resolve(config)->python_patience, absl::Milliseconds(500));
  EXPECT_EQ(Resolve(config)->python_memory_bytes, uint64_t{2} << 30);
  python.set_seconds(-1);
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("python_ops.seconds: -1 is not above 0"));
  python.set_seconds(1);
  python.set_memory("1KiB");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("python_ops.memory: 1024 bytes are fewer"));
  python.set_memory("much");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("python_ops.memory: "));
}

TEST(SettingsTest, ARawCacheHasAPartOfTheMemoryAndAFolder) {
  v1::ServerConfig config;
  config.set_memory_limit("1GiB");
  EXPECT_EQ(Resolve(config)->raw_memory_bytes, 0);
  config.mutable_raw_cache()->set_memory("100MiB");
  EXPECT_EQ(Resolve(config)->raw_memory_bytes, uint64_t{100} << 20);
  config.mutable_raw_cache()->set_memory("2GiB");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("raw_cache.memory: 2147483648 bytes are more"));
  config.mutable_raw_cache()->clear_memory();
  v1::DiskCache& disk = *config.mutable_raw_cache()->mutable_disk();
  disk.set_size("1TiB");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("raw_cache.disk.path: name a folder"));
  disk.set_path("/nvme");
  EXPECT_EQ(Resolve(config)->raw_disk_bytes, uint64_t{1} << 40);
  EXPECT_EQ(Resolve(config)->raw_disk_path, "/nvme");
  disk.clear_size();
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("raw_cache.disk.size: "));
  disk.set_size("1MiB");
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("raw_cache.disk.size: 1048576 bytes are fewer"));
}

// A folder that stands for a machine's root. It says which cgroups the process is in, and their limits.
class CgroupTest : public testing::Test {
 protected:
  ~CgroupTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }

  const std::string root_ = testing::TempDir() + "stoker-cgroups-" + std::to_string(getpid());
};

TEST_F(CgroupTest, NoCgroupIsNoLimit) {
  EXPECT_EQ(AvailableCpus(root_), AvailableCpus("/nowhere"));
  EXPECT_GT(AvailableMemory(root_), uint64_t{64} << 20);
}

TEST_F(CgroupTest, NodesAreThoseWhoseCpusMayBeUsed) {
  EXPECT_TRUE(NumaNodes(root_).empty());
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  Write("/sys/devices/system/node/online", "0-1");
  Write("/sys/devices/system/node/node0/cpulist", std::to_string(first) + "\n");
  Write("/sys/devices/system/node/node1/cpulist", std::to_string(CPU_SETSIZE - 1));
  Write("/sys/devices/system/node/node2/cpulist", "\n");
  EXPECT_EQ(NumaNodes(root_), std::vector<std::vector<int>>{{first}});
}

TEST(ResourcesTest, AListOfCpusIsReadAsTheKernelWritesIt) {
  EXPECT_THAT(CpusOfList("0-3,8\n"), testing::ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(CpusOfList("7"), testing::ElementsAre(7));
  for (const char* bad : {"", "\n", "a", "1-", "-1", "3,,4", "99999999999", "0-2000000000"})
    EXPECT_TRUE(CpusOfList(bad).empty()) << bad;
}

TEST_F(CgroupTest, Version2LimitsCountAtEachLevel) {
  Write("/proc/self/cgroup", "0::/jobs/stoker");
  Write("/sys/fs/cgroup/jobs/stoker/memory.max", "max");
  Write("/sys/fs/cgroup/jobs/memory.max", "1000000");
  Write("/sys/fs/cgroup/jobs/stoker/cpu.max", "10000 100000");
  EXPECT_EQ(AvailableMemory(root_), 1'000'000);
  EXPECT_EQ(AvailableCpus(root_), 1);
}

TEST_F(CgroupTest, Version1LimitsCountAtEachLevel) {
  Write("/proc/self/cgroup", "9:memory:/jobs/stoker\n5:cpu,cpuacct:/jobs/stoker\n1:name=systemd:/jobs");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  Write("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "3000000");
  Write("/sys/fs/cgroup/memory/jobs/stoker/memory.limit_in_bytes", "2000000");
  Write("/sys/fs/cgroup/memory/jobs/another/memory.limit_in_bytes", "1000000");
  EXPECT_EQ(AvailableMemory(root_), 2'000'000);
  Write("/sys/fs/cgroup/cpu,cpuacct/jobs/stoker/cpu.cfs_quota_us", "-1");
  Write("/sys/fs/cgroup/cpu,cpuacct/jobs/stoker/cpu.cfs_period_us", "100000");
  Write("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "50000");
  Write("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000");
  EXPECT_EQ(AvailableCpus(root_), 1);
}

TEST_F(CgroupTest, InAContainerWithTheHostsPathTheMountedFolderCounts) {
  Write("/proc/self/cgroup", "9:memory:/docker/0123\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4000000");
  EXPECT_EQ(AvailableMemory(root_), 4'000'000);
}

TEST(SettingsTest, ConnectionsLeaveRoomForFiles) {
  const auto defaults = Resolve({});
  EXPECT_EQ(defaults->connections, AvailableFiles() / 4 * 3);
  EXPECT_GE(defaults->connections_per_peer, 64);
  EXPECT_LT(defaults->connections_per_peer, defaults->connections);
  v1::ServerConfig config;
  config.mutable_limits()->set_connections(100);
  EXPECT_EQ(Resolve(config)->connections_per_peer, 64);
  config.mutable_limits()->set_connections_per_peer(7);
  EXPECT_EQ(Resolve(config)->connections_per_peer, 7);
  config.mutable_limits()->set_connections(4'000'000'000);
  EXPECT_THAT(Resolve(config).status().message(), testing::HasSubstr("limits.connections: "));
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
