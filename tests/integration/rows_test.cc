// Fields whose samples differ in size, through whole epochs: one digest whatever the spans, batches and servers.

#include <functional>
#include <string>
#include <utility>

#include "client/loader/epoch_digest.h"
#include "client/loader/loader.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/support/cluster.h"

namespace stoker {
namespace {

constexpr char kConfig[] = R"pb(
  datasets {
    name: "synthetic"
    synthetic {
      samples: 500
      fields {
        name: "boxes"
        shape: 4
        kind: FIELD_KIND_BOXES
        max_bytes: "640"
        typical_bytes: "64"
        box_format: BOX_FORMAT_XYWH
      }
      fields { name: "image" dtype: DTYPE_UINT8 shape: 24 shape: 30 shape: 3 }
      fields { name: "label" dtype: DTYPE_INT64 }
      fields { name: "text" kind: FIELD_KIND_TEXT max_bytes: "300" }
    }
  }
)pb";

v1::ServerConfig Config() {
  v1::ServerConfig config;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kConfig, &config));
  return config;
}

LoaderOptions RowsJob(const Cluster& cluster) {
  LoaderOptions options;
  options.servers = cluster.addresses();
  options.batch_size = 32;
  options.seed = 11;
  options.last_batch = LastBatch::kPartial;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "ops { random_resized_crop { size: 16 } } ops { random_horizontal_flip {} }", &options.pipeline.emplace()));
  return options;
}

// An epoch's digest, and what came on the way.
struct Epoch {
  std::string digest;
  LoaderStats stats;
  uint64_t rows = 0;
};

Epoch Read(
    LoaderOptions options, const std::function<void(uint64_t)>& after_batch = [](uint64_t) {}) {
  Epoch epoch;
  auto loader = Loader::Create(std::move(options));
  EXPECT_TRUE(loader.ok()) << loader.status();
  EpochDigest digest;
  for (uint64_t number = 0;; ++number) {
    const auto batch = (*loader)->Next();
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok() || !batch->has_value()) break;
    EXPECT_TRUE(digest.Add(**batch).ok());
    epoch.rows += (*batch)->Find("boxes")->shape[0];
    EXPECT_EQ((*batch)->Find("boxes.offsets")->shape[0], (*batch)->size() + 1);
    after_batch(number);
  }
  epoch.digest = digest.Hex();
  epoch.stats = (*loader)->stats();
  return epoch;
}

TEST(RowsTest, OneDigestWhateverTheSpansBatchesAndServers) {
  Cluster cluster(3, Config());
  LoaderOptions options = RowsJob(cluster);
  const Epoch whole = Read(options);
  EXPECT_GT(whole.rows, 1000);
  for (const uint32_t span_samples : {1, 7, 64}) {
    options.span_samples = span_samples;
    options.batch_size = 3 + span_samples;
    options.verify = 1;
    const Epoch other = Read(options);
    EXPECT_EQ(other.digest, whole.digest) << span_samples;
    EXPECT_EQ(other.stats.differing_spans, 0);
    EXPECT_GT(other.stats.verified_spans, 0);
  }
  options.span_samples = 0;
  options.servers = {cluster.addresses()[0]};
  EXPECT_EQ(Read(options).digest, whole.digest);
}

TEST(RowsTest, ImagesOfNativeSizeHaveOneDigestWhateverTheSpansAndServers) {
  Cluster cluster(3, Config());
  LoaderOptions options = RowsJob(cluster);
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "native_size { max_pixels: 3000 typical_pixels: 700 } ops { scale_jitter { target_size: [24, 30] } } "
      "ops { random_horizontal_flip {} }",
      &*options.pipeline));
  const std::string whole = Read(options).digest;
  for (const uint32_t span_samples : {1, 7, 64}) {
    options.span_samples = span_samples;
    options.batch_size = 3 + span_samples;
    options.verify = 1;
    const Epoch other = Read(options);
    EXPECT_EQ(other.digest, whole) << span_samples;
    EXPECT_EQ(other.stats.differing_spans, 0);
  }
  EXPECT_EQ(Read(options,
                 [&](uint64_t number) {
                   if (number == 4) cluster.Stop(1);
                 })
                .digest,
            whole);
}

TEST(RowsTest, SparseFieldsHaveOneDigestWhateverTheSpansAndServers) {
  v1::ServerConfig config = Config();
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "samples: 500 fields { name: 'words' kind: FIELD_KIND_SPARSE dtype: DTYPE_FLOAT16 dense_shape: 50000 max_bytes: "
      "'400' } "
      "fields { name: 'tags' kind: FIELD_KIND_SPARSE dense_shape: 4294967296 dense_shape: 3 max_bytes: '80' } "
      "fields { name: 'boxes' shape: 4 kind: FIELD_KIND_BOXES max_bytes: '64' }",
      config.mutable_datasets(0)->mutable_synthetic()));
  Cluster cluster(2, config);
  LoaderOptions options = RowsJob(cluster);
  options.pipeline->clear_ops();
  const auto loader = Loader::Create(options);
  ASSERT_TRUE(loader.ok()) << loader.status();
  const auto batch = (*loader)->Next();
  ASSERT_TRUE(batch.ok() && batch->has_value()) << batch.status();
  EXPECT_EQ((*batch)->Find("words")->dtype, v1::DTYPE_INT32);
  EXPECT_EQ((*batch)->Find("words.values")->dtype, v1::DTYPE_FLOAT16);
  EXPECT_EQ((*batch)->Find("words.values")->shape, (*batch)->Find("words")->shape);
  EXPECT_EQ((*batch)->Find("tags")->dtype, v1::DTYPE_INT64);
  EXPECT_EQ((*batch)->Find("tags.values"), nullptr);
  const std::string whole = Read(options).digest;
  options.span_samples = 7;
  options.batch_size = 10;
  options.verify = 1;
  const Epoch other = Read(options);
  EXPECT_EQ(other.digest, whole);
  EXPECT_EQ(other.stats.differing_spans, 0);
}

TEST(RowsTest, AServerThatStopsInTheMiddleChangesNothing) {
  Cluster cluster(3, Config());
  LoaderOptions options = RowsJob(cluster);
  options.prefetch = 2;
  const std::string whole = Read(options).digest;
  EXPECT_EQ(Read(options,
                 [&](uint64_t number) {
                   if (number == 4) cluster.Stop(1);
                 })
                .digest,
            whole);
}

TEST(RowsTest, BatchesAboveWhatIsUsualTakeFurtherMemory) {
  v1::ServerConfig config = Config();
  for (v1::SyntheticField& field : *config.mutable_datasets(0)->mutable_synthetic()->mutable_fields())
    if (field.name() == "boxes") field.set_max_bytes("64KiB"), field.set_typical_bytes("16KiB");
  Cluster cluster(1, config);
  LoaderOptions options = RowsJob(cluster);
  options.prefetch_bytes = 1 << 20;
  const Epoch epoch = Read(options);
  EXPECT_GT(epoch.rows, 500 * 900) << "about a thousand boxes a sample";
  options.batch_size = 3;  // Few samples differ from what is usual by more.
  EXPECT_EQ(Read(options).digest, epoch.digest);
}

TEST(RowsTest, FieldsThatAreNotAskedForAreNotSent) {
  Cluster cluster(1, Config());
  LoaderOptions options = RowsJob(cluster);
  options.pipeline->clear_ops();
  options.pipeline->add_fields("text");
  auto loader = Loader::Create(options);
  ASSERT_TRUE(loader.ok()) << loader.status();
  EXPECT_EQ((*loader)->description().sample_bytes(), 4 + 300);
  const auto batch = (*loader)->Next();
  ASSERT_TRUE(batch.ok() && batch->has_value()) << batch.status();
  ASSERT_EQ((*batch)->tensors().size(), 2);
  EXPECT_GT((*batch)->Find("text")->bytes, 0);
}

}  // namespace
}  // namespace stoker
