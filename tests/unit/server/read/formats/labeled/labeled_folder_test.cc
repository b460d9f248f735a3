#include "server/read/formats/labeled/labeled_folder.h"

#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LabeledFolderTest : public testing::Test {
 protected:
  LabeledFolderTest() {
    folder_.Write("images/b.jpg", "the second");
    folder_.Write("images/a.jpg", "first");
    folder_.Write("images/deep/c.jpg", "third");
    folder_.Write("images/unlisted.jpg", "nobody's");
    config_.set_path(folder_.path("images"));
  }

  absl::StatusOr<std::unique_ptr<LabeledFolder>> Open(const std::string& file, const std::string& labels) {
    folder_.Write(file, labels);
    config_.set_labels(folder_.path(file));
    return LabeledFolder::Open(config_, "dogs", 2);
  }

  std::string OpenError(const std::string& labels) { return std::string(Open("l.csv", labels).status().message()); }

  TemporaryFolder folder_;
  v1::LabeledFolder config_;
};

int64_t LabelOf(const SampleBytes& sample) {
  int64_t label = -1;
  std::memcpy(&label, sample.fields[1].data(), sizeof(label));
  return label;
}

TEST_F(LabeledFolderTest, YieldsTheListedFilesInBytewiseOrderWithTheirLabels) {
  const auto dataset = Open("labels.csv", "file,breed\ndeep/c.jpg,pug\nb.jpg,beagle\na.jpg,pug\n");
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ((*dataset)->size(), 3);
  SampleBytes sample;
  std::vector<std::string> names, bytes;
  std::vector<int64_t> labels;
  for (uint64_t id = 0; id < 3; ++id) {
    ASSERT_TRUE((*dataset)->Read(id, sample).ok());
    names.push_back((*dataset)->SampleName(id));
    bytes.emplace_back(sample.fields[0].begin(), sample.fields[0].end());
    labels.push_back(LabelOf(sample));
    EXPECT_EQ((*dataset)->labels()->RunAt(id).label, labels.back());
  }
  EXPECT_THAT(names, ElementsAre("a.jpg", "b.jpg", "deep/c.jpg"));
  EXPECT_THAT(bytes, ElementsAre("first", "the second", "third"));
  EXPECT_THAT(labels, ElementsAre(1, 0, 1));
  EXPECT_THAT((*dataset)->labels()->classes(), ElementsAre("beagle", "pug"));
  EXPECT_THAT((*dataset)->description(), HasSubstr("2 classes"));
}

TEST_F(LabeledFolderTest, WholeNumbersAreLabelsAsTheyAre) {
  config_.set_suffix(".jpg");
  const auto dataset = Open("labels.json", R"({"a": 7, "b": -2, "deep/c": 7})");
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ((*dataset)->labels()->RunAt(1).label, -2);
  EXPECT_TRUE((*dataset)->labels()->classes().empty());
  const auto mixed = Open("labels.json", R"({"a": 7, "b": "x"})");
  ASSERT_TRUE(mixed.ok()) << mixed.status();
  EXPECT_THAT((*mixed)->labels()->classes(), ElementsAre("7", "x"));
}

TEST_F(LabeledFolderTest, ARunOfLabelsIsNoLongerThanALookIsShort) {
  std::string labels = "file,label\n";
  for (int i = 0; i < 200; ++i) {
    const std::string name = "same-" + std::to_string(i) + ".jpg";
    folder_.Write("images/" + name, "x");
    labels += name + ",3\n";
  }
  const auto dataset = Open("l.csv", labels);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ((*dataset)->labels()->RunAt(0).end, 64);
  EXPECT_EQ((*dataset)->labels()->RunAt(190).end, 200);
}

TEST_F(LabeledFolderTest, RunsOfLabelsReachToTheLastOfTheSame) {
  const auto dataset = Open("labels.jsonl",
                            "{\"file_name\": \"a.jpg\", \"label\": 4}\n"
                            "{\"file_name\": \"b.jpg\", \"label\": 4}\n"
                            "{\"file_name\": \"deep/c.jpg\", \"label\": 5}\n");
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ((*dataset)->labels()->RunAt(0).end, 2);
  EXPECT_EQ((*dataset)->labels()->RunAt(2).end, 3);
}

TEST_F(LabeledFolderTest, TheFingerprintIsThatOfTheContentAndNotOfItsPlace) {
  const std::string labels = "file,breed\na.jpg,pug\nb.jpg,beagle\n";
  const std::string first = (*Open("l.csv", labels))->fingerprint();
  config_.set_file_column("file");
  config_.set_label_column("breed");
  EXPECT_EQ((*Open("m.csv", "breed,file\n\"beagle\",b.jpg\npug,a.jpg\n"))->fingerprint(), first);
  EXPECT_NE((*Open("l.csv", "file,breed\na.jpg,pug\nb.jpg,boxer\n"))->fingerprint(), first);
  folder_.Write("images/a.jpg", "longer than it was");
  EXPECT_NE((*Open("l.csv", labels))->fingerprint(), first);
}

TEST_F(LabeledFolderTest, ErrorsNameTheFileAndTheLine) {
  EXPECT_THAT(OpenError("file,label\na.jpg,1\nnone.jpg,2\n"),
              testing::AllOf(HasSubstr("labeled_folder.labels: "), HasSubstr("l.csv: line 3: 'none.jpg' below"),
                             HasSubstr("No such file or directory")));
  EXPECT_THAT(OpenError("file,label\na.jpg,1\nb.jpg,2\na.jpg,2\n"),
              HasSubstr("'a.jpg' stands in line 2 and again in line 4"));
  for (const char* path : {"../a.jpg", "/etc/passwd", "deep/../a.jpg", "\"\""})
    EXPECT_THAT(OpenError(std::string("file,label\n") + path + ",1\n"), HasSubstr("line 2: '")) << path;
  EXPECT_THAT(OpenError("file,label\na.jpg,1\nb.jpg,\n"), HasSubstr("line 3: 'b.jpg' has no label"));
  EXPECT_THAT(OpenError("file,label\ndeep,1\n"), HasSubstr("not a regular file"));
  EXPECT_THAT(OpenError("file,label\n"), HasSubstr("it lists no file"));
  EXPECT_THAT(std::string(Open("labels.txt", "x").status().message()), HasSubstr("ends in .csv, .json or .jsonl"));
  config_.set_labels(folder_.path("none.csv"));
  EXPECT_TRUE(absl::IsNotFound(LabeledFolder::Open(config_, "dogs", 1).status()));
  config_.set_path(folder_.path("none"));
  EXPECT_THAT(LabeledFolder::Open(config_, "dogs", 1).status().message(), HasSubstr("labeled_folder.path: "));
}

TEST_F(LabeledFolderTest, AFileThatChangedIsSaid) {
  const auto dataset = Open("l.csv", "file,label\na.jpg,1\n");
  ASSERT_TRUE(dataset.ok());
  folder_.Write("images/a.jpg", "longer than it was");
  SampleBytes sample;
  const absl::Status status = (*dataset)->Read(0, sample);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(status.message(), HasSubstr("dogs: a.jpg: changed since it was indexed"));
}

TEST_F(LabeledFolderTest, WhoWantsLabelsAloneReadsNoFile) {
  const auto dataset = Open("l.csv", "file,label\na.jpg,1\n");
  ASSERT_TRUE(dataset.ok());
  folder_.Write("images/a.jpg", "longer than it was");
  SampleBytes sample;
  sample.wanted = FieldSet();
  sample.wanted.Add(1);
  EXPECT_TRUE((*dataset)->Read(0, sample).ok());
  EXPECT_EQ(LabelOf(sample), 1);
}

TEST_F(LabeledFolderTest, AFileThatWasWrittenToIsSaidThoughItHasAsManyBytes) {
  const auto dataset = Open("l.csv", "file,label\na.jpg,1\n");
  ASSERT_TRUE(dataset.ok());
  SampleBytes sample;
  EXPECT_TRUE((*dataset)->Read(0, sample).ok());
  folder_.SetTime("images/a.jpg", 1'000'000'000);
  EXPECT_THAT((*dataset)->Read(0, sample).message(), HasSubstr("changed since it was indexed: it was written to"));
}

}  // namespace
}  // namespace stoker
