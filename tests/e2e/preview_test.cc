// What `stoker preview` prints and draws.

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

std::string PipelineFile(const std::string& name, const std::string& yaml) {
  const std::string path = testing::TempDir() + "/" + name + ".yaml";
  std::ofstream(path) << yaml;
  return path;
}

Finished Preview(const StokerdProcess& server, std::vector<std::string> more) {
  std::vector<std::string> all = {"stoker", "preview", "--servers", server.address(), "--count", "3"};
  all.insert(all.end(), more.begin(), more.end());
  return RunProgram(all);
}

TEST(PreviewTest, DrawsNumbersBelowTheImages) {
  const std::string config = PipelineFile("preview_numbers", R"(datasets:
  - {name: made, synthetic: {samples: 5, fields: [{name: image, dtype: uint8, shape: [8, 40, 3]}, {name: number, dtype: int32}]}}
)");
  StokerdProcess server({"--config", config});
  const std::string sheet = testing::TempDir() + "/preview_numbers.png";
  const std::string crop = PipelineFile("preview_crop", "ops: [CenterCrop: {size: [8, 40]}]\n");
  const Finished run = Preview(server, {"--pipeline", crop, "--output", sheet});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("preview_numbers.png: 136×"));  // Three images of 40 pixels, and margins of 4.
  EXPECT_GT(std::filesystem::file_size(sheet), 100);
  const std::string image = PipelineFile("preview_image", "ops: [CenterCrop: {size: [8, 40]}]\nfields: [image]\n");
  EXPECT_THAT(Preview(server, {"--pipeline", image, "--output", sheet}).out, HasSubstr(": 136×16 pixels"));
}

TEST(PreviewTest, ComparesTheServerWithTheDevice) {
  StokerdProcess server({"--synthetic", "64x48x3"});
  const std::string sheet = testing::TempDir() + "/preview_compared.png";
  const std::string ops = PipelineFile("preview_ops", R"(ops:
  - RandomCrop: {size: 32}
  - RandomRotation: {degrees: 20, interpolation: bilinear}
  - RandomInvert: {p: 1}
  - ToDtype: {dtype: float32}
)");
  const Finished run = Preview(server, {"--pipeline", ops, "--compare", "--output", sheet});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("^1: up to [0-3] levels, 0\\.[0-9]+ on average\n2: .*\n3: "));
  EXPECT_THAT(run.out, ContainsRegex("RandomCrop, RandomRotation, RandomInvert on the device: up to [0-3] levels"));
  EXPECT_THAT(run.out, HasSubstr("preview_compared.png: 220×"));  // Six images.
}

TEST(PreviewTest, SaysWhyThereIsNothingToCompare) {
  StokerdProcess server({"--synthetic", "64x48x3"});
  const std::string sheet = testing::TempDir() + "/preview_none.png";
  const std::string ops = PipelineFile("preview_jpeg", "ops: [RandomCrop: {size: 32}, JPEG: {quality: 50}]\n");
  const Finished run = Preview(server, {"--pipeline", ops, "--compare", "--output", sheet});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("can be moved to the device: JPEG, the last one, runs on servers only"));
}

}  // namespace
}  // namespace stoker
