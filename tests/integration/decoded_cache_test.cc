// Servers that keep decoded images.

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

v1::ServerConfig JpegConfig(const std::string& decoded_cache) {
  v1::ServerConfig config = SyntheticConfig(60);
  auto& field = *config.mutable_datasets(0)->mutable_synthetic()->mutable_fields(0);
  field.set_encoding(v1::SYNTHETIC_ENCODING_JPEG);
  field.clear_shape();
  for (int extent : {150, 200, 3}) field.add_shape(extent);
  config.set_decoded_cache(decoded_cache);
  return config;
}

constexpr char kCrops[] = "ops { random_resized_crop { size: 32 } } ops { random_horizontal_flip {} }";
constexpr char kMosaics[] = "ops { mosaic { size: 64 size: 64 } } ops { random_horizontal_flip {} }";

LoaderOptions DecodedJob(const Cluster& cluster, uint64_t seed, const char* ops = kCrops) {
  LoaderOptions options;
  options.servers = cluster.addresses();
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(ops, &options.pipeline.emplace()));
  options.batch_size = 8;
  options.seed = seed;
  options.span_samples = 4;
  options.last_batch = LastBatch::kPartial;
  return options;
}

TEST(DecodedCacheTest, JobsOfOtherSeedsFindWhatIsDecodedAndHaveTheSameDigests) {
  Cluster with(1, JpegConfig("64MiB")), without(1, JpegConfig(""));
  EXPECT_FALSE(without.server(0).decoded_cache().enabled());
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const EpochResult kept = RunEpoch(DecodedJob(with, seed)), plain = RunEpoch(DecodedJob(without, seed));
    ASSERT_TRUE(kept.status.ok()) << kept.status;
    EXPECT_EQ(kept.digest, plain.digest);
    EXPECT_EQ(kept.sample_ids, plain.sample_ids);
  }
  EXPECT_GT(with.server(0).decoded_cache().stats().hits, 60);
  EXPECT_THAT(with.server(0).decoded_cache().Text({}), testing::StartsWith("decoded cache: "));
}

TEST(DecodedCacheTest, ACellOfAMosaicIsFoundByWhoeverDecodedItsImage) {
  Cluster with(1, JpegConfig("64MiB")), without(1, JpegConfig(""));
  const EpochResult kept = RunEpoch(DecodedJob(with, 0, kMosaics)), plain = RunEpoch(DecodedJob(without, 0, kMosaics));
  ASSERT_TRUE(kept.status.ok()) << kept.status;
  EXPECT_EQ(kept.digest, plain.digest);
  const DecodedCache::Stats stats = with.server(0).decoded_cache().stats();
  EXPECT_GE(stats.hits + stats.misses, 4 * 60);
  EXPECT_GT(stats.hits, 120);
}

TEST(DecodedCacheTest, IsAPartOfTheMemory) {
  v1::ServerConfig config = JpegConfig("2GiB");
  config.set_memory_limit("1GiB");
  EXPECT_EQ(Server::Start(config).status().message(),
            "decoded_cache: 2147483648 bytes are more than memory_limit, 1073741824, which they are part of");
  config.set_decoded_cache("1GiB");
  EXPECT_THAT(Server::Start(config).status().message(), testing::HasSubstr("lower max_pixels, workers, span_cache"));
}

}  // namespace
}  // namespace stoker
