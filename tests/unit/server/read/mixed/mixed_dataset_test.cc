#include "server/read/mixed/mixed_dataset.h"

#include <map>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/read/synthetic/synthetic.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// Returns the error of mixing two datasets with one field `x` each.
std::string ErrorOfMixing(const std::string& one, const std::string& other) {
  std::map<std::string, std::shared_ptr<const Dataset>> datasets;
  v1::Mix mix;
  for (const auto& [name, field] : {std::pair("one", one), {"other", other}}) {
    v1::Synthetic config;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString("samples: 3 fields {name: 'x' " + field + "}", &config));
    auto dataset = Synthetic::Create(config);
    EXPECT_TRUE(dataset.ok()) << dataset.status();
    if (dataset.ok()) datasets[name] = *std::move(dataset);
    mix.add_parts()->set_dataset(name);
  }
  const auto find = [&](const std::string& name) { return datasets[name]; };
  return std::string(MixedDataset::Create(mix, find).status().message());
}

TEST(MixedDatasetTest, PartsHaveTheSameFieldsWhoseSamplesDifferInSize) {
  const std::string boxes = "kind: FIELD_KIND_BOXES max_bytes: '64' ";
  EXPECT_EQ(ErrorOfMixing(boxes, boxes), "");
  EXPECT_EQ(ErrorOfMixing(boxes, boxes + "typical_bytes: '32'"), "") << "those of the first part are for all";
  EXPECT_THAT(
      ErrorOfMixing(boxes, boxes + "box_format: BOX_FORMAT_XYWH"),
      HasSubstr("'other' has the fields x boxes xywh float32 [4] up to 64 bytes, where 'one' has x boxes xyxy"));
  EXPECT_THAT(ErrorOfMixing(boxes, "kind: FIELD_KIND_BOXES max_bytes: '80'"), HasSubstr("up to 80 bytes, where 'one'"));
  EXPECT_THAT(ErrorOfMixing(boxes, "dtype: DTYPE_FLOAT32 shape: 4"), HasSubstr("x float32 [4], where 'one'"));
}

}  // namespace
}  // namespace stoker
