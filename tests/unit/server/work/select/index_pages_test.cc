#include "server/work/select/index_pages.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/work/select/fake_dataset.h"

namespace stoker {
namespace {

JobSamples All(const Dataset& dataset) { return {.positions = dataset.size(), .fingerprint = dataset.fingerprint()}; }

// All labels, asked for page by page.
std::vector<int64_t> LabelsOf(const Dataset& dataset, const JobSamples& samples, int* pages = nullptr) {
  std::vector<int64_t> labels;
  while (labels.size() < samples.positions) {
    const auto page = PageOfLabels(dataset, samples, labels.size());
    if (!page.ok() || page->labels().empty()) break;
    EXPECT_LE(page->ByteSizeLong(), 300 << 10);
    for (const v1::LabelRun& run : page->labels()) labels.insert(labels.end(), run.count(), run.label());
    if (pages != nullptr) ++*pages;
  }
  return labels;
}

TEST(PageOfLabelsTest, PagesFollowEachOther) {
  std::vector<int64_t> labels;
  for (int i = 0; i < 40'000; ++i) labels.push_back(i % 7 == 0 ? -i : i % 3);
  const FakeDataset dataset({}, labels);
  int pages = 0;
  EXPECT_EQ(LabelsOf(dataset, All(dataset), &pages), labels);
  EXPECT_GT(pages, 1);
}

TEST(PageOfLabelsTest, RunsAreTakenTogetherAcrossGaps) {
  const FakeDataset dataset({}, {5, 5, 1, 5, 5});
  const JobSamples some = {.selection = {.subset = std::make_shared<SampleSet>(std::vector<uint64_t>{0b11011})},
                           .positions = 4,
                           .fingerprint = "subset"};
  const auto page = PageOfLabels(dataset, some, 1);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->labels_size(), 1);
  EXPECT_EQ(page->labels(0).count(), 3);
  EXPECT_EQ(page->fingerprint(), "subset");
  EXPECT_EQ(page->total(), 4);
}

TEST(PageOfClassesTest, PagesFollowEachOther) {
  std::vector<std::string> classes;
  for (int i = 0; i < 5000; ++i) classes.push_back(std::string(100, 'c') + std::to_string(i));
  const FakeDataset dataset(classes, {0});
  std::vector<std::string> found;
  int pages = 0;
  for (; found.size() < classes.size(); ++pages) {
    const auto page = PageOfClasses(dataset, found.size());
    ASSERT_TRUE(page.ok() && !page->classes().empty());
    EXPECT_EQ(page->total(), classes.size());
    EXPECT_LE(page->ByteSizeLong(), 300 << 10);
    found.insert(found.end(), page->classes().begin(), page->classes().end());
  }
  EXPECT_EQ(found, classes);
  EXPECT_GT(pages, 1);
}

TEST(PageOfNamesTest, ComesInTheOrderThatWasAskedForAndHasAnEnd) {
  FakeDataset dataset(4000);
  v1::SampleIds ids;
  for (uint64_t id : {7, 3, 7}) ids.add_ids(id);
  EXPECT_THAT(PageOfNames(dataset, ids)->names(), testing::ElementsAre("sample-7", "sample-3", "sample-7"));
  ids.add_ids(4000);
  EXPECT_THAT(PageOfNames(dataset, ids).status().message(), testing::HasSubstr("none has the id 4000"));
  dataset.names.assign(4000, std::string(1000, 'n'));
  ids.clear_ids();
  for (uint64_t id = 0; id < 4000; ++id) ids.add_ids(id);
  const auto page = PageOfNames(dataset, ids);
  EXPECT_GT(page->names_size(), 0);
  EXPECT_LE(page->ByteSizeLong(), 300 << 10);
}

TEST(IndexPagesTest, ADatasetWithoutLabelsSaysSo) {
  const FakeDataset dataset(5);
  EXPECT_TRUE(absl::IsInvalidArgument(PageOfClasses(dataset, 0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(PageOfLabels(dataset, All(dataset), 0).status()));
}

}  // namespace
}  // namespace stoker
