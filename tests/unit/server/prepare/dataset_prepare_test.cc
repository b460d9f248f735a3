// What prepare makes of datasets that are no folders of images.

#include <algorithm>
#include <array>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/prepare/folder_plan.h"
#include "server/prepare/shard_builder.h"
#include "server/read/registry/open_dataset.h"
#include "tests/unit/server/prepare/prepare_fixture.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using Values = std::vector<std::vector<uint8_t>>;

// A dataset of made-up samples: an image, an array and a scalar beside it, and a label if they are asked for.
class MadeUp final : public Dataset {
 public:
  struct Fields {
    bool array = false, label = true;
    v1::Dtype dtype = v1::DTYPE_FLOAT32;  // of the array
  };

  explicit MadeUp(std::vector<int64_t> labels, const Fields& fields) : labels_(std::move(labels)), fields_(fields) {
    schema_.push_back({.name = "photo", .kind = SourceField::Kind::kEncodedImage});
    if (fields.array) {
      schema_.push_back({.name = "boxes", .dtype = fields.dtype, .shape = {2, 3}});
      schema_.push_back({.name = "weight", .dtype = v1::DTYPE_INT16});
    }
    if (fields.label) schema_.push_back({.name = "label", .dtype = v1::DTYPE_INT64});
    for (size_t i = 0; i < labels_.size(); ++i)
      images_.push_back(MakeJpeg({}, {20 + static_cast<int>(i), 30}, static_cast<int>(i)));
  }

  uint64_t size() const override { return labels_.size(); }
  const SourceSchema& schema() const override { return schema_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  uint64_t resident_bytes() const override { return 0; }
  std::string description() const override { return "made up"; }
  std::string SampleName(uint64_t id) const override { return absl::StrCat("part-", id / 4, ".records:", id % 4); }
  uint64_t StoredBytes(uint64_t id) const override { return images_[id].size(); }

  absl::Status Read(uint64_t id, SampleBytes& sample) const override {
    sample.fields = {images_[id]};
    const auto add = [&](const auto& elements) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(&elements);
      sample.fields.emplace_back(bytes, bytes + sizeof elements);
    };
    if (fields_.array) {
      std::array<float, 6> boxes;
      boxes.fill(static_cast<float>(id) / 4);
      add(boxes);
      add(static_cast<int16_t>(-id));
    }
    if (fields_.label) add(labels_[id]);
    return absl::OkStatus();
  }

 private:
  const std::vector<int64_t> labels_;
  const Fields fields_;
  SourceSchema schema_;
  Values images_;
  const std::string fingerprint_ = std::string(32, 'f');
};

class DatasetPrepareTest : public PrepareTest {
 protected:
  PrepareOptions Of(std::shared_ptr<const Dataset> dataset, PreparedFormat format) const {
    PrepareOptions options = Lossless();
    options.data = "records";
    options.dataset = std::move(dataset);
    options.format = format;
    options.shard_bytes = 6000;
    return options;
  }

  std::shared_ptr<const Dataset> OpenAt(const std::string& name) const {
    v1::DatasetConfig config;
    config.set_data(folder_.path(name));
    auto opened = OpenDataset(config, {});
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return nullptr;
    EXPECT_THAT(opened->warnings, IsEmpty());
    return std::move(opened->dataset);
  }

  // What fields of each sample hold, in the order of `names`.
  static std::vector<Values> Samples(const Dataset& dataset, const std::vector<std::string>& names) {
    std::vector<Values> samples;
    SampleBytes sample;
    for (uint64_t id = 0; id < dataset.size(); ++id) {
      EXPECT_EQ(dataset.Read(id, sample), absl::OkStatus());
      Values& values = samples.emplace_back();
      for (const std::string& name : names)
        for (size_t i = 0; i < dataset.schema().size(); ++i)
          if (dataset.schema()[i].name == name) values.push_back(sample.fields[i]);
    }
    return samples;
  }
};

TEST_F(DatasetPrepareTest, ShardsOfShardsHaveTheSamplesOfTheFolder) {
  PrepareOptions first = Lossless();
  first.format = PreparedFormat::kWebDataset;
  first.shard_bytes = 6000;
  Prepared(first);
  const auto wanted = Samples(*OpenAt("out"), {"image", "label"});
  std::filesystem::rename(folder_.path("out"), folder_.path("tars"));
  for (const PreparedFormat format : {PreparedFormat::kMds, PreparedFormat::kWebDataset}) {
    const PrepareReport report = Prepared(Of(OpenAt("tars"), format));
    EXPECT_EQ(report.progress.made, 12);
    EXPECT_GT(report.shards, 1);
    EXPECT_EQ(Samples(*OpenAt("out"), {"image", "label"}), wanted);
    EXPECT_TRUE(Prepared(Of(OpenAt("tars"), format)).was_complete);
    std::filesystem::remove_all(folder_.path("out"));
  }
}

TEST_F(DatasetPrepareTest, ShardsHaveEveryFieldWithItsTypeAndShape) {
  const auto dataset =
      std::make_shared<MadeUp>(std::vector<int64_t>{5, -1, 5, 900, 0, 0}, MadeUp::Fields{.array = true});
  const std::vector<std::string> others = {"boxes", "weight", "label"};
  for (const PreparedFormat format : {PreparedFormat::kMds, PreparedFormat::kWebDataset}) {
    EXPECT_EQ(Prepared(Of(dataset, format)).progress.made, 6);
    const auto made = OpenAt("out");
    ASSERT_EQ(made->schema().size(), 4);
    for (const SourceField& field : dataset->schema()) {
      const auto same = std::find_if(made->schema().begin(), made->schema().end(),
                                     [&](const SourceField& one) { return one.name == field.name; });
      ASSERT_NE(same, made->schema().end()) << field.name;
      EXPECT_EQ(same->kind, field.kind) << field.name;
      if (field.kind == SourceField::Kind::kEncodedImage) continue;
      EXPECT_EQ(same->dtype, field.dtype) << field.name;
      EXPECT_EQ(same->shape, field.shape) << field.name;
    }
    EXPECT_EQ(Samples(*made, others), Samples(*dataset, others));
    std::filesystem::remove_all(folder_.path("out"));
  }
}

TEST_F(DatasetPrepareTest, WhatADatasetGotSinceGoesIntoNewShards) {
  std::vector<int64_t> labels = {0, 1, 2, 1, 0, 2, 1};
  for (const PreparedFormat format : {PreparedFormat::kMds, PreparedFormat::kWebDataset}) {
    std::filesystem::remove_all(folder_.path("out"));
    const uint64_t before = Prepared(Of(std::make_shared<MadeUp>(labels, MadeUp::Fields{}), format)).shards;
    auto held = Content("out");
    for (const char* changing : {"prepared.yaml", "prepared.shards", "index.json"}) held.erase(changing);
    std::vector<int64_t> more = labels;
    more.push_back(9), more.push_back(3);
    const auto grown = std::make_shared<MadeUp>(more, MadeUp::Fields{});
    const PrepareReport report = Prepared(Of(grown, format));
    EXPECT_EQ(report.progress.made, 2);
    EXPECT_GT(report.shards, before);
    EXPECT_THAT(Content("out"), IsSupersetOf(held));
    EXPECT_EQ(Samples(*OpenAt("out"), {"label"}), Samples(*grown, {"label"}));
    EXPECT_THAT(Refusal(Of(std::make_shared<MadeUp>(labels, MadeUp::Fields{}), format)),
                HasSubstr("its shards hold 'part-1.records:3', which --data lacks now"));
    EXPECT_THAT(Refusal(Of(std::make_shared<MadeUp>(more, MadeUp::Fields{.array = true}), format)),
                HasSubstr("with other settings"));
  }
}

TEST_F(DatasetPrepareTest, AStoppedRunGoesOnToTheSameBytes) {
  const auto dataset = std::make_shared<MadeUp>(std::vector<int64_t>(20, 1), MadeUp::Fields{.array = true});
  Prepared(Of(dataset, PreparedFormat::kWebDataset));
  auto wanted = Content("out");
  wanted.erase("prepared.yaml");
  std::filesystem::remove_all(folder_.path("out"));
  PrepareOptions options = Of(dataset, PreparedFormat::kWebDataset);
  options.workers = 1;
  std::atomic<bool> stop = false;
  options.stop = &stop;
  options.progress = [&](const PrepareProgress& progress) { stop = progress.made == 5; };
  EXPECT_TRUE(Prepared(options).stopped);
  options.stop = nullptr;
  Prepared(options);
  auto content = Content("out");
  content.erase("prepared.yaml");
  EXPECT_EQ(content, wanted);
}

TEST_F(DatasetPrepareTest, ClassFoldersHaveTheLabels) {
  const std::vector<int64_t> labels = {2, 0, 1, 10, 3, 4, 5, 6, 7, 8, 9, 0};
  const auto dataset = std::make_shared<MadeUp>(labels, MadeUp::Fields{});
  EXPECT_EQ(Prepared(Of(dataset, PreparedFormat::kFolder)).progress.made, 12);
  EXPECT_THAT(Content("out"), testing::Contains(testing::Key("00/part-2.records:3.jpg")));
  const auto folder = Open("out");
  ASSERT_TRUE(folder.ok()) << folder.status();
  ASSERT_EQ((*folder)->size(), 12);
  std::vector<int64_t> sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  for (uint64_t id = 0; id < 12; ++id) EXPECT_EQ((*folder)->index().Label(id), sorted[id]);
  EXPECT_TRUE(Prepared(Of(dataset, PreparedFormat::kFolder)).was_complete);
  std::filesystem::remove(folder_.path("out/10/part-0.records:3.jpg"));
  EXPECT_EQ(Prepared(Of(dataset, PreparedFormat::kFolder)).progress.made, 1);
}

TEST_F(DatasetPrepareTest, ClassFoldersKeepNamesOfClassesAndFiles) {
  Prepared(Lossless());
  const auto wanted = Content("out");
  std::filesystem::rename(folder_.path("out"), folder_.path("first"));
  v1::DatasetConfig config;
  config.mutable_image_folder()->set_path(folder_.path("in"));
  auto opened = OpenDataset(config, {});
  ASSERT_TRUE(opened.ok()) << opened.status();
  Prepared(Of(std::move(opened->dataset), PreparedFormat::kFolder));
  auto content = Content("out");
  content["prepared.yaml"] = wanted.at("prepared.yaml");
  EXPECT_EQ(content, wanted);
}

TEST_F(DatasetPrepareTest, WhatCannotBeWrittenIsNamedBeforeAnythingIs) {
  const auto refusal = [&](std::vector<int64_t> labels, MadeUp::Fields fields, PreparedFormat format) {
    return Refusal(Of(std::make_shared<MadeUp>(std::move(labels), fields), format));
  };
  constexpr auto kFolder = PreparedFormat::kFolder;
  EXPECT_THAT(refusal({0}, {.array = true}, kFolder), HasSubstr("--format folder: the field 'boxes' has no place"));
  EXPECT_THAT(refusal({0}, {.label = false}, kFolder), HasSubstr("the dataset has no field 'label'"));
  EXPECT_THAT(refusal({0, 2}, {}, kFolder), HasSubstr("no sample has the label 1"));
  EXPECT_THAT(refusal({0, -2}, {}, kFolder), HasSubstr("the label -2 is below 0"));
  EXPECT_THAT(refusal({0}, {.array = true, .dtype = v1::DTYPE_BFLOAT16}, PreparedFormat::kMds),
              HasSubstr("the field 'boxes' cannot be written to shards"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("out")));
  PrepareOptions inside = Of(std::make_shared<MadeUp>(std::vector<int64_t>{0}, MadeUp::Fields{}), kFolder);
  inside.roots = {folder_.path("in")};
  inside.out = folder_.path("in/below");
  EXPECT_THAT(Refusal(inside), HasSubstr("is, holds or lies in --data"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("in/below")));
}

TEST(FolderPlanTest, NamesThatAreNoPathsBecomeSome) {
  class Odd final : public Dataset {
   public:
    uint64_t size() const override { return 4; }
    const SourceSchema& schema() const override { return schema_; }
    const std::string& fingerprint() const override { return description_; }
    uint64_t resident_bytes() const override { return 0; }
    std::string description() const override { return ""; }
    std::string SampleName(uint64_t id) const override {
      return std::vector<std::string>{"../../etc/passwd", "/a//b.PNG", ".", std::string(300, 'x') + ".jpeg"}[id];
    }
    absl::Status Read(uint64_t, SampleBytes& sample) const override {
      sample.fields = {{}, std::vector<uint8_t>(8)};
      return absl::OkStatus();
    }

   private:
    const SourceSchema schema_ = {{.name = "image", .kind = SourceField::Kind::kEncodedImage},
                                  {.name = "label", .dtype = v1::DTYPE_INT64}};
    const std::string description_;
  };
  const Odd odd;
  const auto source = DatasetSource::Create(odd);
  ASSERT_TRUE(source.ok()) << source.status();
  const auto plan = PlanFolder(*source, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<std::string> paths;
  for (uint64_t place = 0; place < 3; ++place) paths.push_back(plan->index.Path(place));
  EXPECT_THAT(paths, ElementsAre("0/%2e./%2e./etc/passwd.jpg", "0/%2e.jpg", "0/a/b.PNG"));
  EXPECT_EQ(plan->index.Path(3).size(), 2 + 200 + 5);
  EXPECT_THAT(plan->ids, ElementsAre(0, 2, 1, 3));
  EXPECT_TRUE(plan->index.IsWellFormed());
}

}  // namespace
}  // namespace stoker
