// Samples that a Mosaic makes of several, from the dataset's bytes to a span.

#include "server/work/joiner.h"

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/work/span_maker.h"
#include "tests/unit/server/work/photos.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ImageSize kTile = {20, 40};  // which becomes 40×80 in a quarter of 160×160
constexpr int64_t kCanvas = 160;

template <typename T>
void Append(Bytes& bytes, std::initializer_list<T> values) {
  for (const T value : values) {
    const auto* begin = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
  }
}

// Samples of one color and one label, which are 10 + their id, with a box around all of the image, a point and a class.
class Tiles : public Dataset {
 public:
  explicit Tiles(uint64_t size) : size_(size) {
    const auto rows = [](const char* name, v1::FieldKind kind, v1::Dtype dtype, std::vector<int64_t> shape) {
      return SourceField{.name = name,
                         .kind = SourceField::Kind::kRows,
                         .dtype = dtype,
                         .shape = std::move(shape),
                         .meaning = kind,
                         .max_bytes = 64,
                         .typical_bytes = 16};
    };
    schema_ = {rows("boxes", v1::FIELD_KIND_BOXES, v1::DTYPE_INT32, {4}),
               rows("classes", v1::FIELD_KIND_RAGGED, v1::DTYPE_INT64, {}),
               {.name = "image", .shape = {kTile.height, kTile.width, 3}},
               {.name = "labels",
                .dtype = v1::DTYPE_INT16,
                .shape = {kTile.height, kTile.width},
                .meaning = v1::FIELD_KIND_LABEL_MAP},
               {.name = "number", .dtype = v1::DTYPE_UINT8},
               rows("points", v1::FIELD_KIND_KEYPOINTS, v1::DTYPE_FLOAT32, {2})};
  }

  uint64_t size() const override { return size_; }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return "tiles"; }
  std::string SampleName(uint64_t id) const override { return "tile/" + std::to_string(id); }
  absl::Status Read(uint64_t id, SampleBytes& sample) const override {
    sample.fields.assign(6, {});
    Append<int32_t>(sample.fields[0], {0, 0, kTile.width, kTile.height});
    if (id != without_class) Append<int64_t>(sample.fields[1], {static_cast<int64_t>(id)});
    sample.fields[2].assign(kTile.height * kTile.width * 3, static_cast<uint8_t>(10 + id));
    for (int64_t i = 0; i < kTile.height * kTile.width; ++i)
      Append<int16_t>(sample.fields[3], {static_cast<int16_t>(10 + id)});
    sample.fields[4] = {static_cast<uint8_t>(id)};
    Append<float>(sample.fields[5], {10, 5});
    return absl::OkStatus();
  }

  uint64_t without_class = UINT64_MAX;  // the id of a bad sample: a box of it lacks its class

 private:
  const uint64_t size_;
  SourceSchema schema_;
  const std::string fingerprint_ = std::string(32, 't');
};

// A span of one sample: each output's bytes, by its place in the schema.
struct Made {
  v1::SpanHeader header;
  std::vector<Bytes> fields;
};

Made Make(const StreamPlan& plan, const Dataset& dataset, uint64_t position) {
  SpanMaker maker({});
  Bytes slab(plan.pipeline().sample_bytes(), 0xcd);
  Made made;
  made.header = maker.Make(plan, dataset, {0, position, 1}, slab, Interrupt());
  made.fields.resize(plan.pipeline().outputs().size());
  if (made.header.has_error()) return made;
  auto at = slab.begin();
  for (const SpanLayout::Part& part : plan.pipeline().layout().PartsOf(made.header)) {
    if (part.holds != SpanLayout::Part::Holds::kSizes) made.fields[part.field].assign(at, at + part.bytes);
    at += static_cast<ptrdiff_t>(part.bytes);
  }
  return made;
}

template <typename T>
std::vector<T> ValuesOf(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

constexpr char kMosaic[] = "ops { mosaic { size: 160 fill: 1 map_fill: -5 labels: 'classes' } } ";

struct Sample {
  MosaicDraw draw;
  std::vector<uint64_t> ids;  // of all cells
};
Sample SampleAt(const StreamPlan& plan, uint64_t position) {
  const SampleOrder order = plan.OrderOf(0);
  Sample sample{.draw = plan.DrawMosaicAt(order, 0, position)};
  plan.AddSamplesAt(order, 0, position, sample.ids);
  return sample;
}

// The cell that shows a pixel of the canvas.
int CellAt(const MosaicDraw& draw, int64_t y, int64_t x) {
  return (y >= draw.row ? 2 : 0) + (x >= draw.column ? 1 : 0);
}

// Whether the cell's image covers the pixel: it has 40×80 pixels from the point where the cells meet.
bool Covers(const MosaicDraw& draw, int64_t y, int64_t x) {
  return (y >= draw.row ? y - draw.row : draw.row - 1 - y) < 40 &&
         (x >= draw.column ? x - draw.column : draw.column - 1 - x) < 80;
}

TEST(JoinerTest, EachCellShowsItsSampleAndTheRestIsFilled) {
  const Tiles tiles(30);
  const StreamPlan plan = Plan(kMosaic, tiles);
  for (uint64_t position = 0; position < 30; ++position) {
    const Sample sample = SampleAt(plan, position);
    ASSERT_EQ(sample.ids.size(), 4);
    const Made made = Make(plan, tiles, position);
    ASSERT_FALSE(made.header.has_error()) << made.header.error().message();
    EXPECT_THAT(made.header.sample_ids(), ElementsAre(sample.ids[0]));
    EXPECT_THAT(made.fields[4], ElementsAre(sample.ids[0]));
    EXPECT_THAT(made.header.substitutions(), IsEmpty());
    const auto labels = ValuesOf<int16_t>(made.fields[3]);
    int64_t wrong = 0;
    for (int64_t y = 0; y < kCanvas; ++y)
      for (int64_t x = 0; x < kCanvas; ++x) {
        const bool covered = Covers(sample.draw, y, x);
        const auto value = static_cast<int16_t>(10 + sample.ids[CellAt(sample.draw, y, x)]);
        wrong += made.fields[2][3 * (y * kCanvas + x)] != (covered ? value : 1);
        wrong += labels[y * kCanvas + x] != (covered ? value : -5);
      }
    EXPECT_EQ(wrong, 0) << "position " << position;
  }
}

TEST(JoinerTest, RowsOfAllAreJoinedAndMovedToTheirCells) {
  const Tiles tiles(30);
  const StreamPlan plan = Plan(kMosaic, tiles);
  for (uint64_t position = 0; position < 30; ++position) {
    const auto [draw, ids] = SampleAt(plan, position);
    const Made made = Make(plan, tiles, position);
    const auto row = static_cast<float>(draw.row), column = static_cast<float>(draw.column);
    const float top = std::max(0.0F, row - 40), left = std::max(0.0F, column - 80);
    const float bottom = std::min<float>(kCanvas, row + 40), right = std::min<float>(kCanvas, column + 80);
    EXPECT_THAT(ValuesOf<float>(made.fields[0]), ElementsAre(left, top, column, row, column, top, right, row,  //
                                                             left, row, column, bottom, column, row, right, bottom));
    EXPECT_THAT(ValuesOf<int64_t>(made.fields[1]), testing::ElementsAreArray(ids));
    EXPECT_THAT(ValuesOf<float>(made.fields[5]), ElementsAre(column - 60, row - 30, column + 20, row - 30, column - 60,
                                                             row + 10, column + 20, row + 10));
  }
}

TEST(JoinerTest, TheOtherOpsDrawOnTheCanvas) {
  const Tiles tiles(8);
  const StreamPlan joined = Plan(kMosaic, tiles);
  const StreamPlan plan =
      Plan(std::string(kMosaic) + "ops { random_horizontal_flip { p: 1 } } ops { center_crop { size: 90 } }", tiles);
  const Made whole = Make(joined, tiles, 3), made = Make(plan, tiles, 3);
  ASSERT_FALSE(made.header.has_error()) << made.header.error().message();
  int64_t wrong = 0;
  for (int64_t y = 0; y < 90; ++y)
    for (int64_t x = 0; x < 90; ++x)
      wrong += made.fields[2][3 * (y * 90 + x)] != whole.fields[2][3 * ((y + 35) * kCanvas + kCanvas - 1 - (x + 35))];
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(ValuesOf<float>(made.fields[5])[1], ValuesOf<float>(whole.fields[5])[1] - 35);
}

TEST(JoinerTest, ASampleThatIsLeftAloneFillsTheCanvas) {
  const Tiles tiles(30);
  const StreamPlan plan = Plan("ops { mosaic { size: 160 fill: 1 p: 0.5 labels: 'classes' } }", tiles);
  int alone = 0;
  for (uint64_t position = 0; position < 30; ++position) {
    const Sample sample = SampleAt(plan, position);
    if (sample.draw.joins) continue;
    ++alone;
    EXPECT_EQ(sample.ids.size(), 1);
    const Made made = Make(plan, tiles, position);
    EXPECT_THAT(ValuesOf<float>(made.fields[0]), ElementsAre(0, 40, 160, 120));
    EXPECT_EQ(made.fields[2][0], 1);
    EXPECT_EQ(made.fields[2][3 * (80 * kCanvas + 5)], 10 + sample.ids[0]);
  }
  EXPECT_GT(alone, 5);
  EXPECT_LT(alone, 25);
}

// Returns a position of which sample `id` is a partner, but not the position's own, nor a partner twice.
uint64_t PositionWithPartner(const StreamPlan& plan, uint64_t id, uint64_t positions) {
  for (uint64_t position = 0; position < positions; ++position) {
    const std::vector<uint64_t> ids = SampleAt(plan, position).ids;
    if (ids[0] != id && std::count(ids.begin(), ids.end(), id) == 1) return position;
  }
  ADD_FAILURE() << "nobody draws " << id;
  return 0;
}

TEST(JoinerTest, ABadPartnerIsReplacedOnceAndTold) {
  Tiles tiles(30);
  const StreamPlan plan = Plan(std::string(kMosaic) + "bad_samples: BAD_SAMPLES_SUBSTITUTE", tiles);
  const uint64_t bad = 7, position = PositionWithPartner(plan, bad, 30);
  const Sample sample = SampleAt(plan, position);
  tiles.without_class = bad;
  const Made made = Make(plan, tiles, position);
  ASSERT_FALSE(made.header.has_error()) << made.header.error().message();
  ASSERT_EQ(made.header.substitutions_size(), 1);
  const v1::Substitution& told = made.header.substitutions(0);
  EXPECT_EQ(told.position(), position);
  EXPECT_EQ(told.bad_sample_id(), bad);
  EXPECT_EQ(told.bad_sample_name(), "tile/7");
  EXPECT_THAT(told.reason(), HasSubstr("its partner 'tile/7' (id 7), which Mosaic drew: field 'classes' has 0 rows"));
  std::vector<int64_t> expected(sample.ids.begin(), sample.ids.end());
  for (int cell = 1; cell < kMosaicCells; ++cell)
    if (sample.ids[cell] == bad)
      expected[cell] = static_cast<int64_t>(plan.OrderOf(0).SampleAt((sample.draw.partners[cell - 1] + 1) % 30));
  EXPECT_EQ(ValuesOf<int64_t>(made.fields[1]), expected);
}

TEST(JoinerTest, ABadPartnerEndsTheSpanWhereThePolicySaysSo) {
  Tiles tiles(30);
  const StreamPlan plan = Plan(kMosaic, tiles);
  const uint64_t position = PositionWithPartner(plan, 7, 30);
  tiles.without_class = 7;
  const Made made = Make(plan, tiles, position);
  EXPECT_EQ(made.header.error().kind(), v1::ERROR_KIND_SAMPLE);
  EXPECT_THAT(made.header.error().message(), HasSubstr("its partner 'tile/7' (id 7), which Mosaic drew: "));
}

TEST(JoinerTest, PartnersLieInTheShuffleWindow) {
  const Tiles tiles(64);
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_mosaic()->add_size(160);
  v1::Identity identity;
  identity.set_samples(tiles.size());
  v1::Shuffle shuffle;
  shuffle.set_mode(v1::SHUFFLE_MODE_BLOCK);
  shuffle.set_block_samples(4);
  shuffle.set_window_blocks(2);
  const auto plan =
      StreamPlan::Create("tiles", *ServerPipeline::Create(pipeline, tiles.schema()), identity, 7, shuffle, false);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const SampleOrder order = plan->OrderOf(0);
  for (uint64_t position = 0; position < 64; ++position)
    for (const uint64_t partner : plan->DrawMosaicAt(order, 0, position).partners)
      EXPECT_EQ(partner / 8, position / 8) << "position " << position;
}

TEST(JoinerTest, EncodedImagesAreDecodedIntoTheirCells) {
  std::vector<Bytes> files;
  for (uint64_t i = 0; i < 12; ++i) files.push_back(Jpeg(i, {60 + 20 * static_cast<int64_t>(i), 150}));
  files[5].resize(40);  // Nothing can be decoded of it.
  const Photos photos(std::move(files));
  const StreamPlan plan = Plan("ops { mosaic { size: 128 } } bad_samples: BAD_SAMPLES_SUBSTITUTE", photos);
  std::set<Bytes> images;
  int substituted = 0;
  for (uint64_t position = 0; position < 12; ++position) {
    const Made made = Make(plan, photos, position);
    ASSERT_FALSE(made.header.has_error()) << made.header.error().message();
    for (const v1::Substitution& it : made.header.substitutions()) EXPECT_EQ(it.bad_sample_id(), 5);
    substituted += made.header.substitutions_size();
    images.insert(made.fields[0]);
    EXPECT_EQ(Make(plan, photos, position).fields[0], made.fields[0]);
  }
  EXPECT_EQ(images.size(), 11);  // For the bad sample's position stands the next one, with all that it draws.
  EXPECT_GT(substituted, 0);
}

TEST(JoinerTest, ACanvasOfNativeSizeIsThatOfOneSize) {
  const Tiles tiles(8);
  const StreamPlan one = Plan(kMosaic, tiles);
  const StreamPlan native =
      Plan(std::string(kMosaic) + "native_size { max_pixels: 25600 } fields: ['boxes', 'classes', 'image']", tiles);
  const Made expected = Make(one, tiles, 3), made = Make(native, tiles, 3);
  ASSERT_FALSE(made.header.has_error()) << made.header.error().message();
  EXPECT_EQ(made.fields[2], expected.fields[2]);
  EXPECT_THAT(ValuesOf<int32_t>(made.fields[3]), ElementsAre(kCanvas, kCanvas));
}

TEST(JoinerTest, APipelineThatCannotJoinIsRefusedByName) {
  const Tiles tiles(4);
  const auto refusal = [&](const std::string& text) {
    v1::Pipeline pipeline;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
    return std::string(ServerPipeline::Create(pipeline, tiles.schema()).status().message());
  };
  EXPECT_EQ(refusal("ops { random_horizontal_flip {} } ops { mosaic { size: 8 } }"),
            "pipeline.ops[1]: Mosaic: joins images as they are stored; put it first");
  EXPECT_THAT(refusal("ops { random_apply { transforms { mosaic { size: 8 } } } }"),
              HasSubstr("Mosaic: stands in no other op"));
  EXPECT_THAT(refusal("views { name: 'v' ops { mosaic { size: 8 } } } fields: 'image'"),
              HasSubstr("Mosaic: views are of one sample"));
  EXPECT_EQ(refusal("ops { mosaic { size: 8 labels: 'number' } }"),
            "pipeline.ops[0]: Mosaic.labels: 'number' has no row for each box; its dataset's configuration gives it a "
            "kind");
  EXPECT_EQ(refusal("ops { mosaic { size: 8 labels: 'classes' } } fields: ['image', 'classes']"),
            "pipeline.ops[0]: Mosaic.labels: 'classes' has a row for each box, and no boxes are sent");
  EXPECT_EQ(refusal("ops { mosaic { size: 2000 } } limits { max_pixels: 1000000 }"),
            "pipeline.ops[0]: Mosaic.size: 2000×2000 is more than limits.max_pixels, 1000000");
  EXPECT_THAT(refusal("ops { mosaic { size: 8 } } fields: 'number'"), HasSubstr("Mosaic needs an image"));
}

TEST(JoinerTest, WhatPartnersTakeCountsInTheCost) {
  const std::vector<Bytes> files = {Jpeg(1, {60, 80})};
  const Photos photos(files);
  const ImageSize large = {3000, 4000};
  const Cost one = Plan("ops { resize { size: [160, 160] } }", photos).pipeline().CostOf(large);
  const Cost four = Plan("ops { mosaic { size: 160 } }", photos).pipeline().CostOf(large);
  EXPECT_GT(four.arithmetic, 3.5 * one.arithmetic);
}

}  // namespace
}  // namespace stoker
