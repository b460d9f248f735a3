#include "common/host/host_check.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class HostCheckTest : public testing::Test {
 protected:
  HostCheckTest() {
    host_.root = testing::TempDir() + "host_check-" + std::to_string(getpid());
    std::filesystem::remove_all(host_.root);
    host_.open_files = 1 << 20;
    host_.locked_bytes = UINT64_MAX;
    host_.clock_is_synchronized = true;
    host_.environment = [this](const char* name) { return environment_[name]; };
    std::filesystem::create_directories(host_.root);
  }
  ~HostCheckTest() override { std::filesystem::remove_all(host_.root); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = host_.root + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }

  // The finding of that name; an empty one where there is none.
  HostFinding Find(const std::string& what, HostRole role = HostRole::kServer) {
    for (const HostFinding& finding : CheckHost(host_, role))
      if (finding.what == what) return finding;
    return {};
  }

  // Why the finding is bad, once with `good` in the file and once with `bad`.
  void ExpectFound(const std::string& what, const std::string& path, const std::string& good, const std::string& bad,
                   const std::string& remedy) {
    EXPECT_EQ(Find(what).value, "") << "it is left out where the kernel does not tell: " << what;
    Write(path, good);
    EXPECT_THAT(Find(what).why, IsEmpty()) << what;
    Write(path, bad);
    EXPECT_NE(Find(what).why, "") << what;
    EXPECT_THAT(Find(what).remedy, HasSubstr(remedy)) << what;
  }

  Host host_;
  std::map<std::string, std::string> environment_;
};

TEST_F(HostCheckTest, OpenFilesAreCounted) {
  EXPECT_EQ(Find("open files").why, "");
  host_.open_files = 1024;
  EXPECT_THAT(Find("open files").remedy, HasSubstr("LimitNOFILE=65536"));
  EXPECT_EQ(Find("locked memory").value, "no limit");
}

TEST_F(HostCheckTest, TheClockIsLookedAt) {
  EXPECT_EQ(Find("clock").why, "");
  host_.clock_is_synchronized = false;
  EXPECT_THAT(Find("clock").remedy, HasSubstr("set-ntp"));
  ExpectFound("clock source", "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc", "hpet", "tsc");
}

TEST_F(HostCheckTest, MemoryIsLookedAt) {
  ExpectFound("swap", "/proc/meminfo", "MemTotal: 100 kB\nSwapTotal: 8388604 kB\nSwapFree: 8388604 kB",
              "SwapTotal: 8388604 kB\nSwapFree: 4194302 kB", "swapoff");
  EXPECT_EQ(Find("swap").value, "3.9GiB of 7.9GiB in use");
  Write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
  ExpectFound("transparent huge pages", "/sys/kernel/mm/transparent_hugepage/defrag", "always defer [madvise] never",
              "[always] defer madvise never", "defrag");
  Write("/proc/sys/vm/zone_reclaim_mode", "1");
  EXPECT_THAT(Find("zone_reclaim_mode").remedy, HasSubstr("sysctl"));
}

TEST_F(HostCheckTest, PressureIsLookedAt) {
  for (const std::string resource : {"cpu", "memory", "io"})
    ExpectFound(resource + " pressure", "/proc/pressure/" + resource,
                "some avg10=0.00 avg60=9.99 avg300=0.13 total=1\nfull avg10=0.00 avg60=50.00 avg300=0.00 total=2",
                "some avg10=0.00 avg60=10.50 avg300=0.13 total=1", "");
  ExpectFound("cgroup", "/sys/fs/cgroup/cpu.stat", "", "usage_usec 5\nnr_throttled 7", "workers");
}

TEST_F(HostCheckTest, ProcessorsAreLookedAt) {
  Write("/sys/devices/system/node/possible", "0-1");
  Write("/sys/devices/system/node/node0/cpulist", "0-3");
  EXPECT_EQ(Find("NUMA nodes").why, "");
  Write("/sys/devices/system/node/node1/cpulist", "4-7");
  EXPECT_EQ(Find("NUMA nodes").value, "2");
  EXPECT_EQ(Find("NUMA nodes").why, "") << "servers bind their workers";
  EXPECT_THAT(Find("NUMA nodes", HostRole::kTrainer).remedy, HasSubstr("numactl"));
  Write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
  EXPECT_EQ(Find("CPU governor").why, "");
  Write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave");
  EXPECT_EQ(Find("CPU governor").value, "performance, powersave");
  EXPECT_NE(Find("CPU governor").why, "");
}

TEST_F(HostCheckTest, TheNetworkIsLookedAt) {
  ExpectFound("tcp_rmem", "/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456", "4096\t87380\t212992",
              "sysctl net.ipv4.tcp_rmem=\"4096 87380 16777216\"");
  Write("/sys/class/net/lo/mtu", "65536");
  Write("/sys/class/net/eth0/mtu", "1500");
  Write("/sys/class/net/eth0/speed", "-1");
  EXPECT_EQ(Find("network lo").value, "");
  EXPECT_EQ(Find("network eth0").value, "MTU 1500");
  EXPECT_EQ(Find("network eth0").why, "");
  Write("/sys/class/net/eth0/speed", "25000");
  EXPECT_THAT(Find("network eth0").remedy, HasSubstr("mtu 9000"));
  Write("/sys/class/net/eth0/mtu", "9000");
  EXPECT_EQ(Find("network eth0").why, "");
}

TEST_F(HostCheckTest, OtherLibrariesAreATrainersConcern) {
  EXPECT_EQ(Find("OMP_NUM_THREADS").value, "");
  EXPECT_EQ(Find("OMP_NUM_THREADS", HostRole::kTrainer).why, "");
  environment_["LOCAL_WORLD_SIZE"] = "8";
  EXPECT_THAT(Find("OMP_NUM_THREADS", HostRole::kTrainer).why, HasSubstr("each of 8 ranks"));
  environment_["OMP_NUM_THREADS"] = "4";
  EXPECT_EQ(Find("OMP_NUM_THREADS", HostRole::kTrainer).why, "");
}

TEST_F(HostCheckTest, AReportHasTheRemedyBelowWhatIsBad) {
  host_.open_files = 1024;
  EXPECT_EQ(HostReport(CheckHost(host_, HostRole::kServer)),
            "look  open files: 1024\n"
            "        connections and shards take a file each\n"
            "        → LimitNOFILE=65536 in the unit, or ulimit -n 65536\n"
            "ok    locked memory: no limit\n"
            "ok    clock: synchronized\n"
            "1 of 3 findings deserve a look\n");
}

TEST(ThisHostTest, TellsSomething) {
  EXPECT_GT(CheckHost(Host::This(HostRole::kTrainer), HostRole::kTrainer).size(), 3);
}

}  // namespace
}  // namespace stoker
