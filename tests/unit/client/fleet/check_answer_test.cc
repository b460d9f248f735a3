#include "client/fleet/check_answer.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

v1::DescribeResponse Description() {
  v1::DescribeResponse description;
  description.mutable_identity()->set_samples(100);
  v1::Field& image = *description.add_fields();
  image.set_name("image"), image.set_dtype(v1::DTYPE_UINT8);
  for (int64_t extent : {2, 2, 3}) image.add_shape(extent);
  description.set_sample_bytes(12);
  description.set_span_samples(16);
  return description;
}

void ExpectRefused(const v1::DescribeResponse& description, const std::string& reason) {
  const absl::Status status = CheckAnswer(v1::DescribeRequest(), description);
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("its answer is not what a stokerd sends: "));
  EXPECT_THAT(status.message(), HasSubstr(reason));
}

TEST(CheckAnswerTest, ADescriptionAddsUp) {
  EXPECT_TRUE(CheckAnswer(v1::DescribeRequest(), Description()).ok());
  v1::DescribeResponse wrong = Description();
  wrong.set_sample_bytes(13);
  ExpectRefused(wrong, "samples of 13 bytes, whose fields have 12");
  wrong = Description();
  wrong.mutable_fields(0)->set_shape(0, -2);
  ExpectRefused(wrong, "field 'image'");
}

TEST(CheckAnswerTest, NumbersThatMemoryIsAllocatedByAreBounded) {
  v1::DescribeResponse wrong = Description();
  for (uint32_t samples : {0u, 4097u, ~0u}) {
    wrong.set_span_samples(samples);
    ExpectRefused(wrong, "spans of");
  }
  wrong = Description();
  wrong.mutable_identity()->set_samples(~uint64_t{0});
  ExpectRefused(wrong, "18446744073709551615 samples");
  wrong = Description();
  wrong.set_dataset_samples(~uint64_t{0});
  ExpectRefused(wrong, "18446744073709551615 samples");
  wrong = Description();
  for (int i = 0; i < 5000; ++i) *wrong.add_fields() = wrong.fields(0);
  ExpectRefused(wrong, "5001 fields");
  wrong = Description();
  for (int i = 0; i < 50; ++i) wrong.mutable_fields(0)->add_shape(1);
  ExpectRefused(wrong, "a field of 53 dimensions");
  wrong = Description();
  wrong.mutable_fields(0)->clear_shape();
  wrong.mutable_fields(0)->add_shape(200 << 20);
  *wrong.add_fields() = wrong.fields(0);
  wrong.set_sample_bytes(400 << 20);
  ExpectRefused(wrong, "samples of 419430400 bytes");
}

TEST(CheckAnswerTest, SamplesThatDifferInSizeAreBounded) {
  v1::DescribeResponse description = Description();
  v1::Field& boxes = *description.add_fields();
  boxes.set_name("boxes"), boxes.set_dtype(v1::DTYPE_FLOAT32), boxes.set_kind(v1::FIELD_KIND_BOXES);
  boxes.add_shape(4);
  boxes.set_max_bytes(1600);
  description.set_sample_bytes(12 + 4 + 1600);
  EXPECT_TRUE(CheckAnswer(v1::DescribeRequest(), description).ok());
  v1::DescribeResponse wrong = description;
  wrong.mutable_fields(1)->set_max_bytes(~uint64_t{0});
  ExpectRefused(wrong, "max_bytes");
  wrong = description;
  wrong.mutable_fields(1)->set_typical_bytes(1601);
  ExpectRefused(wrong, "typical_bytes: 1601 is above max_bytes");
  wrong = description;
  wrong.mutable_fields(1)->set_shape(0, 5);
  ExpectRefused(wrong, "boxes cannot be float32 [5]");
  wrong = description;
  wrong.mutable_fields(1)->set_max_bytes(100 << 20);
  wrong.set_sample_bytes(12 + 4 + (100 << 20));
  ExpectRefused(wrong, "spans of 16 samples of 104857616 bytes");
  wrong = description;
  wrong.mutable_fields(1)->set_box_format(static_cast<v1::BoxFormat>(9));
  EXPECT_THAT(CheckAnswer(v1::DescribeRequest(), wrong).message(),
              HasSubstr("field 'boxes' has boxes in a format that this client does not know (9)"));
}

TEST(CheckAnswerTest, PartsStandOneAfterAnotherUpToTheLastSample) {
  v1::DescribeResponse mix = Description();
  mix.set_dataset_samples(100);
  for (uint64_t end : {60, 100}) {
    v1::DatasetPart& part = *mix.add_parts();
    part.set_name("photos"), part.set_end(end), part.set_weight(end / 20);
  }
  EXPECT_TRUE(CheckAnswer(v1::DescribeRequest(), mix).ok());
  mix.mutable_identity()->set_samples(7);
  EXPECT_TRUE(CheckAnswer(v1::DescribeRequest(), mix).ok()) << "a subset of it, or an epoch of another length";
  v1::DescribeResponse wrong = mix;
  wrong.mutable_parts(0)->set_end(0);
  ExpectRefused(wrong, "a part from sample 0 to 0");
  wrong.mutable_parts(0)->set_end(101);
  ExpectRefused(wrong, "a part from sample 101 to 100");
  wrong = mix;
  wrong.mutable_parts(1)->set_end(60);
  ExpectRefused(wrong, "a part from sample 60 to 60");
  wrong = mix;
  wrong.set_dataset_samples(101);
  ExpectRefused(wrong, "parts of 100 samples, where the dataset has 101");
}

TEST(CheckAnswerTest, PartsAreFewAndHaveNamesOfDatasetsAndWeightsOfAMix) {
  v1::DescribeResponse wrong = Description();
  wrong.set_dataset_samples(100);
  v1::DatasetPart& part = *wrong.add_parts();
  part.set_name("photos"), part.set_end(100);
  EXPECT_TRUE(CheckAnswer(v1::DescribeRequest(), wrong).ok());
  for (const std::string& name : {std::string(1 << 20, 'x'), std::string(), std::string("a\nb")}) {
    part.set_name(name);
    ExpectRefused(wrong, absl::StrCat("a part with a name of ", name.size(), " bytes"));
  }
  part.set_name("photos");
  part.set_weight((uint64_t{1} << 32) + 1);
  ExpectRefused(wrong, "weights whose sum is above 4294967296");
  part.set_weight(1), part.set_end(50);
  v1::DatasetPart& second = *wrong.add_parts();
  second.set_name("drawings"), second.set_end(100);
  ExpectRefused(wrong, "parts of which some have weights");
  second.set_weight(~uint64_t{0});
  ExpectRefused(wrong, "weights whose sum is above");
  for (uint64_t end = 101; end <= 1123; ++end) {
    *wrong.add_parts() = wrong.parts(0);
    wrong.mutable_parts()->rbegin()->set_end(end);
  }
  ExpectRefused(wrong, "1025 parts");
}

TEST(CheckAnswerTest, APageOfClassesBringsTheIndexForward) {
  v1::ListClassesRequest request;
  request.set_first(2);
  v1::ListClassesResponse page;
  page.set_total(4);
  EXPECT_TRUE(absl::IsInternal(CheckAnswer(request, page))) << "it would be asked for without end";
  for (int i = 0; i < 2; ++i) {
    page.add_classes("cat");
    EXPECT_TRUE(CheckAnswer(request, page).ok());
  }
  page.add_classes("one too many");
  EXPECT_TRUE(absl::IsInternal(CheckAnswer(request, page)));
  page.set_total(uint64_t{1} << 40);
  EXPECT_TRUE(absl::IsInternal(CheckAnswer(request, page)));
}

TEST(CheckAnswerTest, APageOfLabelsBringsTheIndexForward) {
  v1::ListSamplesRequest request;
  request.mutable_labels()->set_first(2);
  v1::ListSamplesResponse page;
  page.set_total(10);
  EXPECT_TRUE(absl::IsInternal(CheckAnswer(request, page)));
  page.add_labels()->set_count(8);
  EXPECT_TRUE(CheckAnswer(request, page).ok());
  page.add_labels();
  EXPECT_TRUE(absl::IsInternal(CheckAnswer(request, page))) << "runs of none would fill the memory";
  page.clear_labels();
  page.add_labels()->set_count(9);
  EXPECT_TRUE(absl::IsInternal(CheckAnswer(request, page)));
}

TEST(CheckAnswerTest, NoMoreNamesComeThanWereAskedFor) {
  v1::ListSamplesRequest request;
  request.mutable_names()->add_ids(7);
  v1::ListSamplesResponse page;
  EXPECT_TRUE(absl::IsInternal(CheckAnswer(request, page)));
  page.add_names("a");
  EXPECT_TRUE(CheckAnswer(request, page).ok());
  page.add_names("b");
  EXPECT_TRUE(absl::IsInternal(CheckAnswer(request, page)));
}

}  // namespace
}  // namespace stoker
