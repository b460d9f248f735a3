#include "server/scan/examiner.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/augment/self_check_images.h"
#include "server/decode/audio/audio_library.h"
#include "tests/support/made_png.h"
#include "tests/unit/server/decode/audio/clips.h"
#include "tests/unit/server/prepare/jpeg_files.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Bytes = std::vector<uint8_t>;

Bytes Embedded(const std::string& name) {
  for (const SelfCheckImage& image : kSelfCheckImages)
    if (image.name == name) {
      const std::string file = absl::HexStringToBytes(image.file);
      return {file.begin(), file.end()};
    }
  ADD_FAILURE() << name;
  return {};
}

Bytes Cut(Bytes file, size_t bytes) {
  file.resize(bytes);
  return file;
}

std::vector<Finding> Examine(const Bytes& file, uint64_t max_pixels = uint64_t{1} << 26) {
  const SourceSchema schema = {{.name = "label", .dtype = v1::DTYPE_INT64},
                               {.name = "photo", .kind = SourceField::Kind::kEncodedImage}};
  std::vector<Finding> findings;
  Examiner examiner(max_pixels, nullptr);
  EXPECT_EQ(examiner.Examine(7, schema, {.fields = {{0, 0}, file}}, findings), absl::OkStatus());
  return findings;
}

// Fails unless there is one finding of the kind, of the field "photo" of sample 7.
void ExpectOne(FindingKind kind, const std::string& reason, const std::vector<Finding>& findings) {
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(NameOf(findings[0].kind), NameOf(kind)) << findings[0].message;
  EXPECT_THAT(findings[0].message, HasSubstr(reason));
  EXPECT_EQ(findings[0].field, "photo");
  EXPECT_EQ(findings[0].id, 7);
}

TEST(ExaminerTest, WholeImagesOfEveryKindAreFine) {
  for (const JpegKind& kind : AllJpegKinds()) {
    SCOPED_TRACE(kind.name);
    EXPECT_THAT(Examine(MakeJpeg(kind, {41, 60})), IsEmpty());
  }
  for (const char* name : {"PNG", "lossy WebP"}) EXPECT_THAT(Examine(Embedded(name)), IsEmpty()) << name;
}

TEST(ExaminerTest, WhatEndsEarlyIsTruncated) {
  const Bytes jpeg = MakeJpeg({}, {64, 64});
  ExpectOne(FindingKind::kTruncated, "the file is empty", Examine({}));
  for (const size_t bytes : {size_t{3}, size_t{100}, jpeg.size() / 2, jpeg.size() - 20})
    ExpectOne(FindingKind::kTruncated, "Premature end", Examine(Cut(jpeg, bytes)));
  for (const char* name : {"PNG", "lossy WebP"}) {
    const Bytes file = Embedded(name);
    ExpectOne(FindingKind::kTruncated, "ends early", Examine(Cut(file, file.size() * 2 / 3)));
  }
}

// No pixel is missing, but whoever reads to the end sees that the file lost its end marker.
TEST(ExaminerTest, ALostEndMarkerIsSeenBelowTheLastRow) {
  const Bytes jpeg = MakeJpeg({}, {64, 64});
  ExpectOne(FindingKind::kTruncated, "Premature end", Examine(Cut(jpeg, jpeg.size() - 2)));
}

TEST(ExaminerTest, BytesLeftOverBelowTheLastRowAreAWarning) {
  Bytes jpeg = MakeJpeg({}, {64, 64});
  const uint8_t frame[] = {0xff, 0xc0};
  const auto at = std::search(jpeg.begin(), jpeg.end(), std::begin(frame), std::end(frame));
  ASSERT_NE(at, jpeg.end());
  at[6] = 32;  // rows; the scan has 64
  ExpectOne(FindingKind::kWarning, "extraneous bytes", Examine(jpeg));
}

TEST(ExaminerTest, DamageThatADecoderConcealsIsAWarning) {
  Bytes jpeg = MakeJpeg({.restart_interval = 2}, {64, 64});
  const uint8_t restart[] = {0xff, 0xd1};
  const auto at = std::search(jpeg.begin(), jpeg.end(), std::begin(restart), std::end(restart));
  ASSERT_NE(at, jpeg.end());
  at[1] = 0xd5;  // another restart marker than is due
  ExpectOne(FindingKind::kWarning, "Corrupt JPEG data", Examine(jpeg));
}

TEST(ExaminerTest, OtherDamageIsDamage) {
  Bytes png = Embedded("PNG");
  png[png.size() / 2] ^= 1;
  ExpectOne(FindingKind::kDamaged, "PNG", Examine(png));
  Bytes jpeg = MakeJpeg({}, {64, 64});
  const uint8_t frame[] = {0xff, 0xc0};
  *(std::search(jpeg.begin(), jpeg.end(), std::begin(frame), std::end(frame)) + 1) = 0xc3;  // lossless, as it says
  ExpectOne(FindingKind::kDamaged, "Unsupported JPEG process", Examine(jpeg));
}

TEST(ExaminerTest, TextIsNotAnImage) {
  ExpectOne(FindingKind::kNotAnImage, "starts with 3c68746d6c3e", Examine({'<', 'h', 't', 'm', 'l', '>'}));
}

TEST(ExaminerTest, LimitsArePixels) {
  for (const Bytes& file : {MakeJpeg({}, {19, 29}), Embedded("PNG"), Embedded("lossy WebP")}) {
    EXPECT_THAT(Examine(file, 29 * 19), IsEmpty());
    ExpectOne(FindingKind::kOverLimits, "above limits.max_pixels", Examine(file, 29 * 19 - 1));
  }
}

TEST(ExaminerTest, AStopIsNoFinding) {
  const std::atomic<bool> stop = true;
  std::vector<Finding> findings;
  const absl::Status status = Examiner(1 << 20, &stop)
                                  .Examine(0, {{.name = "image", .kind = SourceField::Kind::kEncodedImage}},
                                           {.fields = {MakeJpeg({}, {64, 64})}}, findings);
  EXPECT_EQ(status, absl::CancelledError("stopped"));
  EXPECT_THAT(findings, IsEmpty());
}

TEST(ExaminerTest, MapsAreHeldToTheirImageAndTheirType) {
  SourceSchema schema = {{.name = "photo", .kind = SourceField::Kind::kEncodedImage},
                         {.name = "labels",
                          .kind = SourceField::Kind::kEncodedImage,
                          .dtype = v1::DTYPE_UINT8,
                          .meaning = v1::FIELD_KIND_LABEL_MAP}};
  const Bytes photo = MakeJpeg({}, {16, 24});
  std::vector<uint16_t> labels(16 * 24, 255);
  const auto findings = [&](const Bytes& map) {
    std::vector<Finding> found;
    EXPECT_EQ(Examiner(1 << 20, nullptr).Examine(7, schema, {.fields = {photo, map}}, found), absl::OkStatus());
    return found.empty() ? "" : found[0].field + ": " + NameOf(found[0].kind) + ": " + found[0].message;
  };
  EXPECT_EQ(findings(MapPng({16, 24}, labels, 8)), "");
  EXPECT_EQ(
      findings(MapPng({24, 16}, labels, 8)),
      "labels: damaged: its field 'photo' has 24×16 pixels, and 'labels' 16×24; a map has the size of the image that "
      "it lies on");
  EXPECT_THAT(findings(photo), HasSubstr("labels: not-an-image: not a PNG"));
  labels[100] = 256;
  EXPECT_THAT(findings(MapPng({16, 24}, labels, 16)), HasSubstr("labels: damaged: a map's value is above 255"));
  schema[1].dtype = v1::DTYPE_INT16;
  EXPECT_EQ(findings(MapPng({16, 24}, labels, 16)), "");
}

// Returns the one finding of a field's bytes, or nothing.
std::string FindingOf(SourceField field, const Bytes& bytes) {
  field.name = "x";
  field.kind = SourceField::Kind::kRows;
  std::vector<Finding> found;
  EXPECT_EQ(Examiner(1 << 20, nullptr).Examine(7, {field}, {.fields = {bytes}}, found), absl::OkStatus());
  EXPECT_LE(found.size(), 1);
  return found.empty() ? "" : found[0].field + ": " + NameOf(found[0].kind) + ": " + found[0].message;
}

TEST(ExaminerTest, AudioIsDecodedToItsEnd) {
  if (!LoadedAudioLibrary().ok()) GTEST_SKIP() << "this build has no audio";
  const SourceField audio = {.meaning = v1::FIELD_KIND_AUDIO, .max_bytes = 1 << 14};
  for (const char* name : {"mono.wav", "stereo.flac", "mono.ogg", "mono.mp3"})
    EXPECT_EQ(FindingOf(audio, Clip(name)), "");
  EXPECT_THAT(FindingOf(audio, Clip("cut_mono.ogg")), HasSubstr("x: truncated: the audio ends early"));
  EXPECT_THAT(FindingOf(audio, Clip("damaged.flac")), HasSubstr("x: damaged: the audio cannot be decoded"));
  EXPECT_THAT(FindingOf(audio, Clip("endless.flac")), HasSubstr("x: over-limits: has 68719476735 samples"));
  EXPECT_THAT(FindingOf(audio, Clip("opus.ogg")), HasSubstr("x: damaged: is OGG of another codec"));
}

TEST(ExaminerTest, RowsAreHeldToTheirSizeAndTextsToUtf8) {
  const SourceField text = {.meaning = v1::FIELD_KIND_TEXT, .max_bytes = 5};
  const SourceField wide = {.dtype = v1::DTYPE_FLOAT64, .meaning = v1::FIELD_KIND_KEYPOINTS, .max_bytes = 16};
  SourceField bytes = text, points = wide;
  bytes.dtype = v1::DTYPE_UINT8;
  points.shape = {2};
  EXPECT_EQ(FindingOf(bytes, {'a', 'b'}), "");
  EXPECT_EQ(FindingOf(bytes, Bytes(6, 'a')), "x: over-limits: has 6 bytes, above max_bytes, 5");
  EXPECT_THAT(FindingOf(bytes, {0xff}), HasSubstr("x: wrong-field: is not UTF-8"));
  EXPECT_EQ(FindingOf(points, Bytes(32)), "") << "they are sent as float32";
  EXPECT_EQ(FindingOf(points, Bytes(48)), "x: over-limits: has 24 bytes, above max_bytes, 16");
  EXPECT_THAT(FindingOf(points, Bytes(8)), HasSubstr("x: wrong-field: has 1 numbers, which are no whole rows"));
}

TEST(ExaminerTest, BoxesAreFiniteAndHaveASize) {
  SourceField boxes = {.dtype = v1::DTYPE_FLOAT32,
                       .shape = {4},
                       .meaning = v1::FIELD_KIND_BOXES,
                       .max_bytes = 64,
                       .box_format = v1::BOX_FORMAT_XYXY};
  const auto finding = [&](const std::vector<float>& numbers) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(numbers.data());
    return FindingOf(boxes, Bytes(bytes, bytes + numbers.size() * sizeof(float)));
  };
  EXPECT_EQ(finding({1, 2, 3, 4, 5, 5, 5, 5}), "");
  EXPECT_THAT(finding({1, 2, 3, 4, 5, 6, 4, 8}), HasSubstr("x: wrong-field: box 1 has a width below 0"));
  EXPECT_THAT(finding({1, 2, 3, 1}), HasSubstr("box 0 has a height below 0"));
  EXPECT_THAT(finding({1, 2, NAN, 4}), HasSubstr("row 0 has nan, which is no finite number"));
  EXPECT_THAT(finding({1, 2, 3, 4, INFINITY, 0, 0, 0}), HasSubstr("row 1 has inf"));
  boxes.box_format = v1::BOX_FORMAT_XYWH;
  EXPECT_EQ(finding({5, 5, 1, 1}), "");
  EXPECT_THAT(finding({5, 5, -1, 1}), HasSubstr("width below 0"));
}

}  // namespace
}  // namespace stoker
