#include "server/augment/explain.h"

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const SourceSchema kFolder = {{.name = "image", .kind = SourceField::Kind::kEncodedImage},
                              {.name = "label", .dtype = v1::DTYPE_INT64}};
const SourceSchema kRaw = {{.name = "image", .dtype = v1::DTYPE_UINT8, .shape = {32, 48, 3}}};

std::vector<std::string> Explained(const std::string& text, const SourceSchema& schema = kFolder) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  const auto server = ServerPipeline::Create(pipeline, schema);
  EXPECT_TRUE(server.ok()) << server.status();
  return Explain(*server, schema);
}

constexpr char kSimClr[] =
    "ops { random_resized_crop { size: 224 } } "
    "ops { random_apply { transforms { color_jitter { brightness: 0.4 contrast: 0.4 } } p: 0.8 } } "
    "ops { random_horizontal_flip {} } ops { random_grayscale { p: 0.2 } } ops { gaussian_blur { kernel_size: 23 } }";

TEST(ExplainTest, SaysWhatBecameOnePassAndWhatIsDecoded) {
  const auto lines = Explained(kSimClr);
  ASSERT_EQ(lines.size(), 5);
  EXPECT_EQ(lines[0], "image: from an image of 500×375 pixels");
  EXPECT_EQ(lines[1],
            "1. decode the part that is needed; of a JPEG at a reduced size where that part is large: 1/2 from "
            "896×896, 1/4 from 1792×1792, 1/8 from 3584×3584 pixels on (jpeg_scaling: k2)");
  EXPECT_EQ(lines[2],
            "2. ops[0] RandomResizedCrop + ops[2] RandomHorizontalFlip: crop, resize to 224×224 (bilinear, "
            "antialiased) and flip left and right, in one pass");
  EXPECT_THAT(lines[3], HasSubstr("3. ops[1] RandomApply + ops[3] RandomGrayscale: "));
  EXPECT_THAT(lines[3], HasSubstr("and grayscale, where the pixels lie"));
  EXPECT_EQ(lines[4], "4. ops[4] GaussianBlur: blur with a kernel of 23×23");
}

TEST(ExplainTest, SaysWhatIsLeftOutAndWhy) {
  EXPECT_THAT(Explained("ops { random_horizontal_flip { p: 0 } } ops { center_crop { size: 32 size: 48 } } "
                        "ops { random_vertical_flip { p: 1 } } ops { random_invert { p: 1 } } "
                        "ops { random_vertical_flip { p: 1 } }",
                        kRaw),
              ElementsAre("image: from an image of 48×32 pixels", "1. copy the pixels",
                          "2. ops[3] RandomInvert: invert, where the pixels lie",
                          "left out: ops[0] RandomHorizontalFlip: its p is 0",
                          "left out: ops[1] CenterCrop: it changes nothing",
                          "left out: ops[2] RandomVerticalFlip: another op undoes it",
                          "left out: ops[4] RandomVerticalFlip: another op undoes it"));
}

TEST(ExplainTest, ExactScalingPromisesNoReducedSize) {
  const auto lines = Explained("ops { resize { size: 16 size: 16 } } jpeg_scaling: JPEG_SCALING_EXACT");
  ASSERT_EQ(lines.size(), 3);
  EXPECT_EQ(lines[1], "1. decode the whole image");
}

TEST(ExplainTest, ExplainsEachGroupOfViews) {
  EXPECT_THAT(
      Explained("views { name: 'global' count: 2 ops { random_crop { size: 64 } } } "
                "views { name: 'local' ops { gaussian_blur { kernel_size: 5 } } ops { center_crop { size: 9 } } }"),
      ElementsAre("global: each of 2 views, from an image of 500×375 pixels", "1. decode the part that is needed",
                  "2. ops[0] RandomCrop: crop", "local: from an image of 500×375 pixels",
                  "1. decode the part that is needed",
                  "2. ops[0] GaussianBlur: blur with a kernel of 5×5; only what is needed later",
                  "3. ops[1] CenterCrop: crop"));
}

TEST(ExplainTest, TakesALargeImageWhereOpsRefuseAUsualOne) {
  EXPECT_THAT(Explained("ops { random_crop { size: 600 } }"),
              ElementsAre("image: from an image of 4000×3000 pixels", "1. decode the part that is needed",
                          "2. ops[0] RandomCrop: crop"));
  EXPECT_THAT(Explained("ops { random_crop { size: 5000 } }")[1], HasSubstr("RandomCrop.size"));
}

TEST(ExplainTest, SaysNothingWhereThereIsNoImage) { EXPECT_THAT(Explained("fields: 'label'"), ElementsAre()); }

// There are no boxes to look at, and yet there is a crop to show.
TEST(ExplainTest, ShowsACropByBoxesAsOneOfABoxInTheMiddle) {
  SourceSchema schema = kFolder;
  schema[1] = {.name = "boxes",
               .kind = SourceField::Kind::kRows,
               .dtype = v1::DTYPE_FLOAT32,
               .shape = {4},
               .meaning = v1::FIELD_KIND_BOXES,
               .max_bytes = 160,
               .typical_bytes = 160};
  const auto lines = Explained("ops { random_iou_crop {} } ops { resize { size: [ 30, 30 ] } }", schema);
  ASSERT_EQ(lines.size(), 3);
  EXPECT_THAT(lines[2], HasSubstr("2. ops[0] RandomIoUCrop + ops[1] Resize: crop and resize to 30×30"));
}

TEST(ExplainTest, NamesTheOpsThatMoveAMap) {
  SourceSchema schema = kFolder;
  schema[1] = {.name = "mask", .kind = SourceField::Kind::kEncodedImage, .meaning = v1::FIELD_KIND_LABEL_MAP};
  EXPECT_EQ(Explained(kSimClr, schema).back(),
            "mask: a label_map, moved to the nearest pixel by ops[0] RandomResizedCrop + ops[2] RandomHorizontalFlip");
}

}  // namespace
}  // namespace stoker
