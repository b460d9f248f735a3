// What `stoker describe` says of a server's pipeline.

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(DescribeTest, ExplainsHowTheServerMakesAnImageWhenAsked) {
  StokerdProcess server({"--synthetic", "64x48x3"});
  const std::vector<std::string> describe = {"stoker", "describe", "--servers", server.address()};
  const Finished brief = RunProgram(describe);
  EXPECT_EQ(brief.status, 0) << brief.err;
  EXPECT_THAT(brief.out, Not(HasSubstr("in one pass")));
  EXPECT_THAT(brief.out, HasSubstr("\nlayout       image: height × width × channels as sent; torch gets channels × "
                                   "height × width\n"));
  std::vector<std::string> explain = describe;
  explain.push_back("--explain");
  const Finished explained = RunProgram(explain);
  EXPECT_EQ(explained.status, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("plan\n  image: from an image of 48×64 pixels\n"
                                       "  1. ops[0] RandomResizedCrop + ops[1] RandomHorizontalFlip: crop, resize to "
                                       "224×224 (bilinear, antialiased) and flip left and right, in one pass\n"));
  EXPECT_THAT(explained.out,
              ContainsRegex("\n  a sample with an image of 500×375 pixels takes at most about [0-9.]+ ms of "
                            "one worker: [0-9.]+ passes, [^ ]+ operations, [^ ]+ bytes; "
                            "limits.sample_seconds is 10\n$"));
}

TEST(DescribeTest, ShowsWhatAMixIsMadeOf) {
  const std::string config = testing::TempDir() + "/describe_a_mix.yaml";
  std::ofstream(config) << R"(datasets:
  - {name: photos, synthetic: {samples: 40, fields: [{name: image, dtype: uint8, shape: [8, 8, 3]}]}}
  - {name: drawings, synthetic: {samples: 30, fields: [{name: image, dtype: uint8, shape: [8, 8, 3]}]}}
  - {name: both, mix: [{dataset: photos, weight: 3}, {dataset: drawings, weight: 1}]}
  - {name: all, mix: [{dataset: drawings}, {dataset: photos}]}
)";
  StokerdProcess server({"--config", config});
  const auto describe = [&](const std::string& dataset) {
    return RunProgram({"stoker", "describe", "--servers", server.address(), "--dataset", dataset}).out;
  };
  EXPECT_THAT(describe("both"), HasSubstr("\nmix          photos: 40 samples, weight 3\n"
                                          "             drawings: 30 samples, weight 1\n"));
  EXPECT_THAT(describe("all"), HasSubstr("\nmix          drawings: 30 samples\n             photos: 40 samples\n"));
  EXPECT_THAT(describe("photos"), Not(HasSubstr("\nmix ")));
}

TEST(DescribeTest, SaysAtOnceThatAPortIsClosed) {
  const Finished run = RunProgram({"stoker", "describe", "--servers", "127.0.0.1:1"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, testing::StartsWith("stoker: no server can be reached (127.0.0.1:1: connection refused; is "
                                           "stokerd running there?)"));
}

}  // namespace
}  // namespace stoker
