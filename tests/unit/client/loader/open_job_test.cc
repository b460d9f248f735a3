#include "client/loader/open_job.h"

#include <cmath>
#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

LoaderOptions Options() { return {.dataset = "photos", .batch_size = 4, .rank = 0, .world_size = 1}; }

// 100 samples of an image of 2×2 and a label: 20 bytes each.
v1::DescribeResponse Description() {
  v1::DescribeResponse description;
  v1::Field& image = *description.add_fields();
  image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
  for (int64_t extent : {2, 2, 3}) image.add_shape(extent);
  v1::Field& label = *description.add_fields();
  label.set_name("label"), label.set_dtype(v1::DTYPE_INT64);
  description.set_sample_bytes(20);
  description.set_span_samples(16);
  description.mutable_identity()->set_samples(100);
  return description;
}

absl::StatusOr<OpenedJob> Join(LoaderOptions options, v1::DescribeResponse description = Description()) {
  return JoinJob(std::move(options), nullptr, std::move(description));
}

// What RANK and WORLD_SIZE say is this process's own afterwards.
class CompleteOptionsTest : public testing::Test {
 protected:
  CompleteOptionsTest() { Forget(); }
  ~CompleteOptionsTest() override { Forget(); }
  static void Forget() { unsetenv("RANK"), unsetenv("WORLD_SIZE"); }

  static std::string ErrorOf(LoaderOptions options) { return std::string(CompleteOptions(options).message()); }
};

TEST_F(CompleteOptionsTest, OneRankIfNothingSaysMore) {
  LoaderOptions options = {.batch_size = 4};
  ASSERT_TRUE(CompleteOptions(options).ok());
  EXPECT_EQ(options.rank, 0);
  EXPECT_EQ(options.world_size, 1);
}

TEST_F(CompleteOptionsTest, TheEnvironmentNamesTheRankUnlessTheOptionsDo) {
  setenv("RANK", "2", 1), setenv("WORLD_SIZE", "8", 1);
  LoaderOptions options = {.batch_size = 4};
  ASSERT_TRUE(CompleteOptions(options).ok());
  EXPECT_EQ(options.rank, 2);
  EXPECT_EQ(options.world_size, 8);
  options = Options();
  ASSERT_TRUE(CompleteOptions(options).ok());
  EXPECT_EQ(options.world_size, 1);
}

TEST_F(CompleteOptionsTest, ErrorsNameTheOptionOrTheVariable) {
  setenv("RANK", "two", 1);
  EXPECT_THAT(ErrorOf({.batch_size = 4}), HasSubstr("RANK='two'"));
  setenv("RANK", "2", 1);
  EXPECT_THAT(ErrorOf({.batch_size = 4}), HasSubstr("give both or none"));
  LoaderOptions options = Options();
  options.batch_size = 0;
  EXPECT_THAT(ErrorOf(options), HasSubstr("batch_size"));
  options = Options();
  options.span_deadline = absl::ZeroDuration();
  EXPECT_THAT(ErrorOf(options), HasSubstr("span_deadline"));
  for (const double share : {-0.1, 1.1, std::nan("")}) {
    options = Options();
    options.verify = share;
    EXPECT_THAT(ErrorOf(options), HasSubstr("verify"));
  }
  options = Options();
  options.span_samples = 1u << 30;
  EXPECT_THAT(ErrorOf(options), HasSubstr("span_samples"));
}

TEST(JoinJobTest, AJobHasTheSizesThatTheServersDescribe) {
  const auto job = Join(Options());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(job->field_bytes, testing::ElementsAre(12, 8));
  EXPECT_EQ(job->batch_bytes(), 80);
  EXPECT_EQ(job->span_samples(), 16);
  EXPECT_EQ(job->plan.samples, 100);
  EXPECT_NE(job->options.device, nullptr);
  EXPECT_EQ(job->stream_open().dataset(), "photos");
  EXPECT_EQ(job->identity().dataset, "photos");
}

TEST(JoinJobTest, SlabsHaveAQuarterMoreThanUsualSamplesThatDifferInSize) {
  v1::Field text;
  text.set_name("text"), text.set_dtype(v1::DTYPE_UINT8), text.set_kind(v1::FIELD_KIND_TEXT);
  text.set_max_bytes(4000), text.set_typical_bytes(400);
  auto job = Join(Options());
  ASSERT_TRUE(job.ok()) << job.status();
  const auto of_one_size = job->description.fields();
  job->layout = SpanLayout(std::vector<v1::Field>{of_one_size[0], text});
  job->field_bytes = {12, 4};
  EXPECT_EQ(job->batch_bytes(), 4 * (12 + 4 + 400));
  EXPECT_EQ(job->slab_bytes(), 4 * (12 + 4 + 500));
}

TEST(JoinJobTest, SpansMayBeOfTheUsersSizeUpToTheLargestSample) {
  LoaderOptions options = Options();
  options.span_samples = 3;
  const auto job = Join(options);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->span_samples(), 3);
  v1::DescribeResponse large = Description();
  large.mutable_fields(0)->set_shape(0, 4096), large.mutable_fields(0)->set_shape(1, 4096);
  large.set_span_samples(1);
  large.set_sample_bytes(4096 * 4096 * 3 + 8);
  options.span_samples = 6;
  EXPECT_THAT(std::string(Join(options, large).status().message()), HasSubstr("span_samples: spans of 6"));
}

TEST(JoinJobTest, ADescriptionThatContradictsItselfIsRefused) {
  v1::DescribeResponse wrong = Description();
  wrong.set_sample_bytes(21);
  EXPECT_EQ(Join(Options(), wrong).status().code(), absl::StatusCode::kInternal);
  wrong = Description();
  wrong.set_span_samples(0);
  EXPECT_EQ(Join(Options(), wrong).status().code(), absl::StatusCode::kInternal);
  wrong.clear_fields();
  wrong.set_span_samples(1);
  wrong.set_sample_bytes(0);
  EXPECT_EQ(Join(Options(), wrong).status().code(), absl::StatusCode::kInternal);
}

TEST(JoinJobTest, AJobThatDoesNotFitTheDatasetIsRefused) {
  LoaderOptions options = Options();
  options.batch_size = 101;
  const auto job = Join(options);
  EXPECT_EQ(job.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(job.status().message()), HasSubstr("batch_size"));
}

SpanLayout LayoutOf(int64_t sample_bytes) {
  v1::Field field;
  field.set_name("image"), field.set_dtype(v1::DTYPE_UINT8), field.add_shape(sample_bytes);
  return SpanLayout(std::vector<v1::Field>{field});
}

TEST(JoinJobTest, PrefetchKeepsServersBusyWithinItsBytes) {
  auto job = Join(Options());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->prefetch(), 64) << "tiny batches: no more than so many";
  job->layout = LayoutOf(1 << 20);
  EXPECT_EQ(job->prefetch(), 16) << "64 MiB of 4 MiB each";
  job->layout = LayoutOf(100 << 20);
  EXPECT_EQ(job->prefetch(), 2) << "large batches: no fewer than so many";
  job->options.prefetch = 5;
  EXPECT_EQ(job->prefetch(), 2) << "1 GiB has room for two of 400 MiB";
  job->options.prefetch_bytes = 1;
  EXPECT_EQ(job->prefetch(), 1) << "one is always on its way";
}

}  // namespace
}  // namespace stoker
