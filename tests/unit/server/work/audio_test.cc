// Audio from the files' bytes to a span, beside other fields and alone.

#include <algorithm>
#include <string>
#include <vector>

#include "common/pipeline/pipeline.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/augment/explain.h"
#include "server/work/sample_maker.h"
#include "tests/unit/server/decode/audio/clips.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const SourceField kAudio = {.name = "audio",
                            .kind = SourceField::Kind::kRows,
                            .meaning = v1::FIELD_KIND_AUDIO,
                            .max_bytes = 8192,
                            .typical_bytes = 4000};
const SourceField kLabel = {.name = "label", .dtype = v1::DTYPE_INT64};
const SourceSchema kSchema = {kAudio, kLabel};

absl::StatusOr<ServerPipeline> Pipeline(const std::string& text, const SourceSchema& schema = kSchema) {
  v1::Pipeline pipeline;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &pipeline)) << text;
  return ServerPipeline::Create(pipeline, schema);
}

std::string ErrorOf(const std::string& text, const SourceSchema& schema = kSchema) {
  return std::string(Pipeline(text, schema).status().message());
}

struct Made {
  absl::Status status;
  v1::SpanHeader header;
  std::vector<uint8_t> payload;
  v1::StageTimes times;
};

// Makes a span of samples that are the clips of these names.
Made Make(const ServerPipeline& pipeline, const std::vector<std::string>& names, uint64_t first = 0) {
  const Interrupt interrupt;
  SampleMaker maker({});
  Made made;
  made.payload.resize(names.size() * pipeline.sample_bytes());
  made.header.set_count(names.size());
  SpanWriter writer(pipeline, static_cast<uint32_t>(names.size()), made.payload);
  for (uint32_t i = 0; i < names.size() && made.status.ok(); ++i) {
    SampleBytes sample;
    sample.fields = {Clip(names[i]), std::vector<uint8_t>(8, static_cast<uint8_t>(i))};
    made.status = maker.Make({pipeline, kSchema, 1, 0, first + i, interrupt}, sample, writer, i, made.times);
  }
  if (!made.status.ok()) return made;
  writer.Finish(made.header);
  made.payload.resize(*pipeline.layout().PayloadBytes(made.header));
  return made;
}

TEST(AudioSpanTest, ADatasetWithoutAnImageHasADefaultPipeline) {
  EXPECT_EQ(DefaultPipelineOf(kSchema).ops_size(), 0);
  EXPECT_EQ(
      DefaultPipelineOf({kAudio, {.name = "image", .kind = SourceField::Kind::kEncodedImage}}).SerializeAsString(),
      DefaultPipeline().SerializeAsString());
  const auto pipeline = ServerPipeline::Create(DefaultPipelineOf(kSchema), kSchema);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const v1::Field& field = pipeline->outputs()[0].field;
  EXPECT_EQ(field.kind(), v1::FIELD_KIND_AUDIO);
  EXPECT_EQ(field.dtype(), v1::DTYPE_INT16);
  EXPECT_THAT(field.shape(), ElementsAre(1));
  EXPECT_EQ(field.sample_rate(), 0);
  EXPECT_EQ(field.max_bytes(), 8192);
}

TEST(AudioSpanTest, WholeFilesAreRowsOfDifferentSizes) {
  const auto pipeline = Pipeline("");
  const Made made = Make(*pipeline, {"mono.wav", "mono.flac", "stereo.wav"});
  ASSERT_TRUE(made.status.ok()) << made.status;
  EXPECT_THAT(made.header.values_bytes(), ElementsAre((1200 + 2400 + 800) * 2));
  const size_t sizes = 3 * 8;  // behind the labels
  EXPECT_EQ(SizeAt(std::span(made.payload).subspan(sizes), 0), 2400);
  EXPECT_EQ(SizeAt(std::span(made.payload).subspan(sizes), 1), 4800);
  const std::vector<uint8_t> wav = Clip("mono.wav");
  EXPECT_TRUE(std::equal(wav.begin() + 44, wav.end(), made.payload.begin() + sizes + 12));
  EXPECT_GT(made.times.decode(), 0);
}

TEST(AudioSpanTest, StretchesOfOneLengthAreOneArray) {
  const auto pipeline = Pipeline("ops { resample { sample_rate: 16000 } } ops { random_audio_crop { samples: 1000 } }");
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  const v1::Field& field = pipeline->outputs()[0].field;
  EXPECT_EQ(field.kind(), v1::FIELD_KIND_UNSPECIFIED);
  EXPECT_THAT(field.shape(), ElementsAre(1000, 1));
  EXPECT_EQ(field.sample_rate(), 16000);
  EXPECT_EQ(pipeline->sample_bytes(), 2008);
  const Made made = Make(*pipeline, {"mono.flac", "mono.ogg", "mono.mp3"});
  ASSERT_TRUE(made.status.ok()) << made.status;
  EXPECT_EQ(made.payload.size(), 3 * 2008u);
}

TEST(AudioSpanTest, AStretchIsDrawnByItsPosition) {
  const auto pipeline = Pipeline("ops { random_audio_crop { samples: 100 } }");
  const auto at = [&](uint64_t position) { return Make(*pipeline, {"mono.flac"}, position).payload; };
  EXPECT_EQ(at(5), at(5));
  EXPECT_NE(at(5), at(6));
  const auto& audio = *pipeline->outputs()[0].audio;
  int64_t least = 1000, most = 0, sum = 0;
  for (uint64_t position = 0; position < 4000; ++position) {
    const int64_t start = pipeline->DrawStart(audio, 1100, 1, 0, position);
    least = std::min(least, start), most = std::max(most, start), sum += start;
  }
  EXPECT_LT(least, 10);
  EXPECT_EQ(std::clamp<int64_t>(most, 991, 1000), most);
  EXPECT_NEAR(static_cast<double>(sum) / 4000, 500, 15) << "uniform";
  EXPECT_EQ(pipeline->DrawStart(audio, 100, 1, 0, 0), 0);
  EXPECT_EQ(pipeline->DrawStart(audio, 7, 1, 0, 0), 0);
  const auto center = Pipeline("ops { random_audio_crop { samples: 100 center: true } }");
  EXPECT_EQ(center->DrawStart(*center->outputs()[0].audio, 1101, 1, 0, 3), 500);
}

TEST(AudioSpanTest, OpsNameAudioOnceAndInTheirOrder) {
  const std::string resample = "ops { resample { sample_rate: 16000 } }",
                    crop = "ops { random_audio_crop { samples: 9 } }";
  EXPECT_EQ(ErrorOf(crop + resample),
            "pipeline.ops[1]: Resample.field: 'audio' is cropped already; put the crop last, and have one of them");
  EXPECT_EQ(ErrorOf(crop + crop),
            "pipeline.ops[1]: RandomAudioCrop.field: 'audio' is cropped already; put the crop "
            "last, and have one of them");
  EXPECT_EQ(ErrorOf(resample + resample),
            "pipeline.ops[1]: Resample.field: 'audio' is resampled already; leave one out");
  EXPECT_EQ(ErrorOf("ops { resample { sample_rate: 9 field: 'speech' } }"),
            "pipeline.ops[0]: Resample.field: 'speech' is not sent");
  EXPECT_EQ(ErrorOf("ops { resample { sample_rate: 9 field: 'label' } }"),
            "pipeline.ops[0]: Resample.field: 'label' is no audio; its dataset's configuration says `kind: audio`");
  EXPECT_EQ(ErrorOf("fields: 'label' " + resample), "pipeline.ops[0]: Resample.field: 'audio' is not sent");
  EXPECT_THAT(ErrorOf("ops { to_dtype { dtype: DTYPE_FLOAT32 field: 'audio' } placement: PLACEMENT_SERVER }"),
              HasSubstr("is audio, whose dtype its dataset's configuration says"));
  EXPECT_THAT(ErrorOf("ops { random_horizontal_flip {} }"), HasSubstr("needs an image"));
}

TEST(AudioSpanTest, TheDeviceScalesIntegers) {
  EXPECT_TRUE(Pipeline("ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true field: 'audio' } }").ok());
  SourceSchema halves = kSchema;
  halves[0].audio.dtype = v1::DTYPE_FLOAT16;
  EXPECT_TRUE(Pipeline("ops { to_dtype { dtype: DTYPE_FLOAT32 field: 'audio' } }", halves).ok());
  EXPECT_THAT(ErrorOf("ops { to_dtype { dtype: DTYPE_FLOAT32 scale: true field: 'audio' } }", halves),
              HasSubstr("has float16, not uint8 or int16; leave `scale` out"));
}

TEST(AudioSpanTest, ErrorsNameTheField) {
  const auto pipeline = Pipeline("");
  EXPECT_THAT(Make(*pipeline, {"cut_mono.wav"}).status.message(), HasSubstr("field 'audio': the audio ends early"));
  EXPECT_TRUE(absl::IsDataLoss(Make(*pipeline, {"other.aiff"}).status));
  const auto longer = Pipeline("ops { resample { sample_rate: 48000 } }");
  EXPECT_THAT(Make(*longer, {"mono.wav"}).status.message(), HasSubstr("has 14400 bytes, more than its max_bytes"));
}

TEST(AudioSpanTest, IsExplained) {
  const auto pipeline = Pipeline("ops { resample { sample_rate: 16000 } } ops { random_audio_crop { samples: 9 } }");
  EXPECT_THAT(
      Explain(*pipeline, kSchema),
      ElementsAre("audio: decoded from a file, its channels mixed to one, resampled to 16000 samples a second, 9 "
                  "samples of it taken at a drawn place, rounded to int16"));
}

}  // namespace
}  // namespace stoker
