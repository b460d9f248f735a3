#include "server/plan/stream_plan.h"

#include <set>
#include <string>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

// All that a plan is made of.
struct Parts {
  std::string dataset = "photos", pipeline, identity = "fingerprint: '0123456789abcdef0123456789abcdef' samples: 9";
  uint64_t seed = 7;
  std::string shuffle;
  bool names = false;
};

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

StreamPlan Plan(const Parts& parts) {
  const SourceSchema schema = {{.name = "image", .kind = SourceField::Kind::kEncodedImage}};
  auto pipeline =
      ServerPipeline::Create(Parse<v1::Pipeline>("ops { center_crop { size: 8 } }" + parts.pipeline), schema);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  auto plan = StreamPlan::Create(parts.dataset, *std::move(pipeline), Parse<v1::Identity>(parts.identity), parts.seed,
                                 Parse<v1::Shuffle>(parts.shuffle), parts.names);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

TEST(StreamPlanTest, EqualPlansHaveEqualKeys) {
  EXPECT_EQ(Plan({}).key(), Plan({}).key());
  EXPECT_EQ(Plan({.pipeline = "limits { max_scans: 100 }"}).key(), Plan({}).key()) << "the default, written out";
}

TEST(StreamPlanTest, EverythingThatBytesDependOnChangesTheKey) {
  const std::string identity = Parts().identity,
                    weighted = "mode: SHUFFLE_MODE_WEIGHTED class_weights { key: 'a' value: 2 }";
  std::set<StreamPlan::Key> keys;
  int plans = 0;
  for (const Parts& parts : std::initializer_list<Parts>{
           {},
           {.dataset = "other"},
           {.pipeline = "ops { random_vertical_flip {} }"},
           {.pipeline = "limits { max_pixels: 9 }"},
           {.identity = "fingerprint: '0123456789abcdef0123456789abcdeF' samples: 9"},  // Its last byte of 32 differs.
           {.identity = identity + " content: 'c'"},
           {.identity = identity + " pixel_version: 1"},
           {.identity = identity + " pixel_check: 1"},
           {.identity = "fingerprint: '0123456789abcdef0123456789abcdef' samples: 10"},
           {.seed = 8},
           {.shuffle = "mode: SHUFFLE_MODE_NONE"},
           {.shuffle = "mode: SHUFFLE_MODE_BLOCK block_samples: 4"},
           {.shuffle = "mode: SHUFFLE_MODE_BLOCK window_blocks: 4"},
           {.shuffle = weighted},
           {.shuffle = weighted + " class_weights { key: 'b' value: 2 }"},
           {.shuffle = "mode: SHUFFLE_MODE_WEIGHTED class_weights { key: 'b' value: 2 }"},
           {.names = true}}) {
    keys.insert(Plan(parts).key());
    ++plans;
  }
  EXPECT_EQ(keys.size(), plans);
}

TEST(StreamPlanTest, TheStreamKeyIsTheKeysFirstBytes) {
  const StreamPlan plan = Plan({});
  uint64_t first = 0;
  for (int i = 7; i >= 0; --i) first = first << 8 | plan.key()[i];
  EXPECT_EQ(plan.stream_key(), first);
}

}  // namespace
}  // namespace stoker
