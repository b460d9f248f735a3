// Several images of each sample, through real servers.

#include <set>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::StartsWith;

v1::ServerConfig JpegConfig() {
  v1::ServerConfig config = SyntheticConfig(40);
  auto& field = *config.mutable_datasets(0)->mutable_synthetic()->mutable_fields(0);
  field.set_encoding(v1::SYNTHETIC_ENCODING_JPEG);
  field.clear_shape();
  for (int extent : {150, 200, 3}) field.add_shape(extent);
  return config;
}

v1::Pipeline Dino(int globals) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "views { name: 'global' ops { random_resized_crop { size: 24 scale: 0.4 scale: 1 } } "
      "        ops { random_horizontal_flip {} } } "
      "views { name: 'local' count: 6 ops { random_resized_crop { size: 8 scale: 0.05 scale: 0.4 } } }",
      &pipeline));
  pipeline.mutable_views(0)->set_count(globals);
  return pipeline;
}

LoaderOptions ViewsJob(const Cluster& cluster, int globals = 2) {
  LoaderOptions options;
  options.servers = cluster.addresses();
  options.pipeline = Dino(globals);
  options.batch_size = 8;
  options.seed = 7;
  options.span_samples = 4;
  return options;
}

TEST(ViewsTest, HaveOneDigestForAnyNumberOfServers) {
  std::set<std::string> digests;
  for (int servers : {1, 2}) {
    Cluster cluster(servers, JpegConfig());
    const EpochResult epoch = RunEpoch(ViewsJob(cluster));
    ASSERT_TRUE(epoch.status.ok()) << epoch.status;
    EXPECT_EQ(epoch.sample_ids.size(), 40);
    digests.insert(epoch.digest);
  }
  EXPECT_EQ(digests.size(), 1);
}

TEST(ViewsTest, AreFieldsOfTheirOwnShape) {
  Cluster cluster(1, JpegConfig());
  const auto loader = Loader::Create(ViewsJob(cluster));
  ASSERT_TRUE(loader.ok()) << loader.status();
  const auto& fields = (*loader)->description().fields();
  ASSERT_EQ(fields.size(), 3);
  EXPECT_EQ(fields[0].name(), "global");
  EXPECT_THAT(fields[0].shape(), ElementsAre(2, 24, 24, 3));
  EXPECT_EQ(fields[1].name(), "local");
  EXPECT_THAT(fields[1].shape(), ElementsAre(6, 8, 8, 3));
  EXPECT_EQ(fields[2].name(), "number");
}

TEST(ViewsTest, AreExplained) {
  Cluster cluster(1, JpegConfig());
  const auto client = Client::Create({.servers = cluster.addresses()});
  ASSERT_TRUE(client.ok()) << client.status();
  v1::DescribeRequest request;
  request.set_dataset("synthetic");
  *request.mutable_pipeline() = Dino(2);
  const auto brief = (*client)->Describe(request);
  ASSERT_TRUE(brief.ok()) << brief.status();
  EXPECT_THAT(brief->plan(), ElementsAre());
  request.set_explain(true);
  const auto explained = (*client)->Describe(request);
  ASSERT_TRUE(explained.ok()) << explained.status();
  EXPECT_THAT(explained->plan(), Contains(StartsWith("local: each of 6 views")));
  EXPECT_THAT(explained->plan(), Contains(StartsWith("2. ops[0] RandomResizedCrop + ops[1] RandomHorizontalFlip:")));
}

}  // namespace
}  // namespace stoker
