#include "server/scan/scan.h"

#include <filesystem>
#include <set>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"
#include "tests/unit/server/scan/listed_samples.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// 70 photographs, of which 3 is cut short, 20 is text and 50 is a copy of 10.
std::vector<std::vector<uint8_t>> MixedImages() {
  auto images = Photographs(70);
  images[3].resize(images[3].size() / 2);
  images[20] = {'n', 'o', ' ', 'i', 'm', 'a', 'g', 'e'};
  images[50] = images[10];
  return images;
}

class ScanTest : public testing::Test {
 protected:
  ScanOptions Options(int workers = 2) const {
    ScanOptions options;
    options.workers = workers;
    options.state_file = folder_.path("state");
    return options;
  }

  static ScanReport Scanned(const Dataset& dataset, const ScanOptions& options) {
    auto report = Scan(dataset, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *std::move(report) : ScanReport{};
  }

  bool StateExists() const { return std::filesystem::exists(folder_.path("state")); }

  TemporaryFolder folder_;
  ListedSamples dataset_{MixedImages()};
};

TEST_F(ScanTest, FindsExactlyTheBadOnesWithAnyNumberOfThreads) {
  for (const int workers : {1, 2, 7}) {
    const ScanReport report = Scanned(dataset_, {.workers = workers});
    ASSERT_THAT(report.findings, SizeIs(3));
    EXPECT_EQ(ReportOf(report.findings, dataset_, ReportFormat::kText),
              "truncated: s/3 (id 3): image: cannot decode this JPEG: Premature end of JPEG file\n"
              "not-an-image: s/20 (id 20): image: not a JPEG, PNG, WebP, BMP, PNM or TIFF file (starts with "
              "6e6f20696d616765)\n"
              "duplicate: s/50 (id 50): has the same bytes as s/10 (id 10)\n");
    EXPECT_EQ(report.progress.scanned, 70);
    EXPECT_EQ(report.progress.images, 70);
    EXPECT_FALSE(report.stopped);
  }
}

TEST_F(ScanTest, StoppedAnywhereItFindsTheSame) {
  const ScanReport whole = Scanned(dataset_, {});
  std::atomic<bool> stop = false;
  ScanOptions options = Options(3);
  options.stop = &stop;
  uint64_t runs = 0;
  options.progress = [&](const ScanProgress& progress) { stop = progress.scanned == 21; };
  ScanReport report;
  do {
    stop = false;
    report = Scanned(dataset_, options);
    EXPECT_TRUE(!report.stopped || report.findings.empty());
    ASSERT_TRUE(StateExists());
    ASSERT_LT(++runs, 100);
    if (runs == 20) options.progress = nullptr;
  } while (report.stopped);
  EXPECT_GT(runs, 1);
  EXPECT_EQ(report.findings, whole.findings);
  EXPECT_EQ(report.progress.known + report.progress.scanned, 70);
  EXPECT_EQ(RemoveState(options, report), absl::OkStatus());
  EXPECT_FALSE(StateExists());
}

TEST_F(ScanTest, WhatIsKnownIsNotReadAgain) {
  Scanned(dataset_, Options());
  dataset_.before_read = [](uint64_t id) { ADD_FAILURE() << "read " << id; };
  const ScanReport report = Scanned(dataset_, Options());
  EXPECT_THAT(report.findings, SizeIs(3));
  EXPECT_EQ(report.progress.known, 70);
  EXPECT_EQ(report.progress.scanned, 0);
}

TEST_F(ScanTest, AnotherLimitBeginsAnew) {
  Scanned(dataset_, Options());
  ScanOptions options = Options();
  options.max_pixels = 40 * 60 - 1;
  const ScanReport report = Scanned(dataset_, options);
  EXPECT_EQ(report.progress.known, 0);
  EXPECT_EQ(report.Counts()[static_cast<int>(FindingKind::kOverLimits)], 69);
}

TEST_F(ScanTest, ALostShardIsToldOnceAndItsSamplesAreTriedAgain) {
  for (uint64_t id = 14; id < 40; ++id) dataset_.failing[id] = absl::UnavailableError("b.tar: gone");
  dataset_.failing[60] = absl::DataLossError("lacks a label");
  const ScanReport report = Scanned(dataset_, Options());
  EXPECT_EQ(ReportOf(report.findings, dataset_, ReportFormat::kText),
            "truncated: s/3 (id 3): image: cannot decode this JPEG: Premature end of JPEG file\n"
            "unreadable: s/14 to s/39 (ids 14 to 39): b.tar: gone\n"
            "duplicate: s/50 (id 50): has the same bytes as s/10 (id 10)\n"
            "wrong-field: s/60 (id 60): lacks a label\n");
  EXPECT_EQ(report.Counts()[static_cast<int>(FindingKind::kUnreadable)], 26);
  EXPECT_EQ(RemoveState(Options(), report), absl::OkStatus());
  ASSERT_TRUE(StateExists());

  dataset_.failing.clear();
  absl::Mutex mutex;
  std::set<uint64_t> read;
  dataset_.before_read = [&](uint64_t id) {
    const absl::MutexLock lock(&mutex);
    read.insert(id);
  };
  const ScanReport again = Scanned(dataset_, Options());
  EXPECT_EQ(again.findings[1].id, 20);
  EXPECT_EQ(*read.begin(), 0);    // the block of 14
  EXPECT_EQ(*read.rbegin(), 47);  // that of 39
}

TEST_F(ScanTest, AStateFileThatCannotBeWrittenIsAnError) {
  ScanOptions options = Options();
  options.state_file = "/dev/full";
  const auto report = Scan(dataset_, options);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("/dev/full"));
}

TEST_F(ScanTest, ProgressEndsWithAllSamples) {
  std::vector<uint64_t> scanned;
  ScanOptions options = Options();
  options.progress = [&](const ScanProgress& progress) { scanned.push_back(progress.scanned); };
  Scanned(dataset_, options);
  ASSERT_THAT(scanned, SizeIs(71));
  EXPECT_EQ(scanned.front(), 0);
  EXPECT_EQ(scanned.back(), 70);
}

}  // namespace
}  // namespace stoker
