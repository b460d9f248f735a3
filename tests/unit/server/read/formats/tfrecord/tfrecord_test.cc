#include "server/read/formats/tfrecord/tfrecord.h"

#include <cstring>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/read/binary.h"
#include "server/read/formats/tfrecord/crc32c.h"
#include "server/read/formats/tfrecord/example.h"
#include "server/read/formats/tfrecord/foreign_index.h"
#include "server/read/formats/tfrecord/record.h"
#include "server/read/registry/sharded.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kJpeg[] = "\xff\xd8\xff\xe0 an image";

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string Number(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  return bytes + static_cast<char>(number);
}

// A length-delimited field.
std::string Message(int number, const std::string& content) {
  return absl::StrCat(Number(number << 3 | 2), Number(content.size()), content);
}

std::string FeatureOf(const std::string& name, int kind, const std::string& list) {
  return Message(1, Message(1, name) + Message(2, Message(kind, list)));
}
std::string BytesFeature(const std::string& name, const std::string& value) {
  return FeatureOf(name, 1, Message(1, value));
}
std::string IntFeature(const std::string& name, const std::vector<int64_t>& values) {
  std::string packed;
  for (const int64_t value : values) packed += Number(static_cast<uint64_t>(value));
  return FeatureOf(name, 3, Message(1, packed));
}
std::string FloatFeature(const std::string& name, const std::vector<float>& values) {
  std::string packed(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(packed.data(), values.data(), packed.size());
  return FeatureOf(name, 2, Message(1, packed));
}
std::string ExampleOf(const std::vector<std::string>& features) {
  std::string all;
  for (const std::string& feature : features) all += feature;
  return Message(1, all);
}

std::string RecordOf(std::string_view data) {
  BinaryWriter record;
  record.Put<uint64_t>(data.size());
  record.Put<uint32_t>(MaskedCrc32c(BytesOf(record.bytes)));
  record.bytes += data;
  record.Put<uint32_t>(MaskedCrc32c(BytesOf(data)));
  return record.bytes;
}

std::string ImageRecord(int64_t label) {
  return RecordOf(ExampleOf({BytesFeature("image/encoded", kJpeg), IntFeature("image/class/label", {label})}));
}

// Opens what `config` names, or returns the error.
absl::StatusOr<std::unique_ptr<StoredDataset>> Open(const v1::DatasetConfig& config) { return OpenShards(config, {}); }

v1::DatasetConfig ConfigOf(const std::string& path) {
  v1::DatasetConfig config;
  config.mutable_tfrecord()->add_path(path);
  return config;
}

std::string OpenError(const TemporaryFolder& folder) {
  return std::string(Open(ConfigOf(folder.path())).status().message());
}

TEST(Crc32cTest, HasTheValuesOfTheStandard) {
  // RFC 3720, appendix B.4, and the check value of CRC catalogues.
  EXPECT_EQ(Crc32c(BytesOf(std::string(32, '\0'))), 0x8a9136aa);
  EXPECT_EQ(Crc32c(BytesOf(std::string(32, '\xff'))), 0x62a8ab43);
  EXPECT_EQ(Crc32c(BytesOf("123456789")), 0xe3069283);
  EXPECT_EQ(Crc32c({}), 0u);
}

TEST(Crc32cTest, IsTheSameByTables) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(Crc32cByTables(BytesOf(text)), Crc32c(BytesOf(text))) << i;
    text += static_cast<char>(i * 37);
  }
}

TEST(TfRecordTest, ReadsImagesAndLabels) {
  const TemporaryFolder folder;
  folder.Write("b.tfrecord", ImageRecord(7));
  folder.Write("a.tfrecord", ImageRecord(-1) + ImageRecord(5));
  folder.Write("notes.txt", "not one of them");
  const auto dataset = Open(ConfigOf(folder.path()));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ((*dataset)->size(), 3);
  EXPECT_EQ((*dataset)->SampleName(1), "a.tfrecord:1");
  ASSERT_EQ((*dataset)->schema().size(), 2);
  SampleBytes sample;
  for (const auto& [id, label] : std::vector<std::pair<int, int64_t>>{{0, -1}, {1, 5}, {2, 7}}) {
    ASSERT_TRUE((*dataset)->Read(id, sample).ok());
    EXPECT_EQ(std::string(sample.fields[0].begin(), sample.fields[0].end()), kJpeg);
    EXPECT_EQ(WholeNumberAt(sample.fields[1].data(), v1::DTYPE_INT64, 0), label);
  }
}

TEST(TfRecordTest, FindsRecordsThatAreLongerThanWhatIsReadAtOnce) {
  const TemporaryFolder folder;
  std::string shard;
  for (const size_t bytes : {10, 70'000, 10, 16'000, 300'000, 10, 65'500, 10})
    shard += RecordOf(ExampleOf({BytesFeature("image", kJpeg + std::string(bytes, 'x')), IntFeature("label", {1})}));
  folder.Write("a.tfrecord", shard);
  const auto dataset = Open(ConfigOf(folder.path()));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ((*dataset)->size(), 8);
  SampleBytes sample;
  for (int id = 0; id < 8; ++id) EXPECT_TRUE((*dataset)->Read(id, sample).ok());
}

TEST(TfRecordTest, KnowsItsShardsByTheirNames) {
  for (const char* name : {"a.tfrecord", "b/a.tfrecords", "a.tfrec", "a.tfrecord-00000-of-00010", "x/t-00017-of-01024"})
    EXPECT_TRUE(TfRecord::IsShardName(name)) << name;
  for (const char* name : {"", "a", "12345", "a.tfrecord.idx", "a.jpg", "t-00017-of-01024.parquet", "t-1-of-2",
                           "00017-of-01024", "t-00017-01024", "a.tfrecord/x"})
    EXPECT_FALSE(TfRecord::IsShardName(name)) << name;
}

TEST(TfRecordTest, TheDataOptionFindsItByName) {
  const TemporaryFolder folder;
  folder.Write("train-00000-of-00001", ImageRecord(1));
  v1::DatasetConfig config;
  config.set_data(folder.path());
  EXPECT_TRUE(FindFormat(config)->has_tfrecord());
  folder.Write("train-00000-of-00001", "a text that happens to have this name");
  EXPECT_FALSE(FindFormat(config)->has_tfrecord());
}

TEST(TfRecordTest, AnIndexOfAnotherToolGivesTheSameFingerprint) {
  const TemporaryFolder folder;
  const std::string one = ImageRecord(1), two = ImageRecord(300);
  folder.Write("a.tfrecord", one + two);
  const std::string walked = (*Open(ConfigOf(folder.path())))->fingerprint();
  for (const char* name : {"a.tfrecord.idx", "a.idx", "a.tfindex"}) {
    folder.Write(name, absl::StrCat("0 ", one.size(), "\n", one.size(), " ", two.size(), "\n"));
    const auto indexed = Open(ConfigOf(folder.path()));
    ASSERT_TRUE(indexed.ok()) << indexed.status();
    EXPECT_EQ((*indexed)->fingerprint(), walked);
    EXPECT_EQ((*Open(ConfigOf(folder.path("a.tfrecord"))))->fingerprint(), walked);
    folder.Write(name, absl::StrCat("0 ", one.size(), "\n"));
    EXPECT_THAT(OpenError(folder), HasSubstr(absl::StrCat(name, ": does not fit a.tfrecord")));
    EXPECT_FALSE(Open(ConfigOf(folder.path("a.tfrecord"))).ok()) << "it is looked for beside a file, too";
    std::filesystem::remove(folder.path(name));
  }
}

TEST(ForeignIndexTest, MustCoverTheShard) {
  const auto parse = [](std::string_view text) {
    ShardIndex::Rows rows(0);
    const absl::Status parsed = ParseForeignIndex(text, 100, rows);
    return parsed.ok() ? absl::StrCat(rows.size(), " records") : std::string(parsed.message());
  };
  EXPECT_EQ(parse("0 60\n60 40\n"), "2 records");
  EXPECT_THAT(parse("0 60\n61 39\n"), HasSubstr("line 2: a record begins at 61"));
  EXPECT_THAT(parse("0 60\n60 41\n"), HasSubstr("line 2: a record of 41 bytes ends beyond"));
  EXPECT_THAT(parse("0 85\n85 15\n"), HasSubstr("line 2: a record cannot have 15"));
  EXPECT_THAT(parse("0 60\n"), HasSubstr("its records end at 60, where the shard has 100"));
  EXPECT_THAT(parse("0 18446744073709551615\n"), HasSubstr("ends beyond"));
  for (const char* text : {"0 100", "0  100\n", "-0 100\n", "a\n", "0 99999999999999999999999\n"})
    EXPECT_THAT(parse(text), HasSubstr("is not `OFFSET BYTES`")) << text;
}

TEST(TfRecordTest, NamesShardAndOffsetOfWhatDoesNotParse) {
  const TemporaryFolder folder;
  const std::string good = ImageRecord(1);
  folder.Write("a.tfrecord", good);
  const auto error_of = [&](const std::string& shard) {
    folder.Write("b.tfrecord", shard);
    return OpenError(folder);
  };
  const std::string at = absl::StrCat("b.tfrecord: at byte ", good.size(), ": ");
  EXPECT_EQ(error_of(good + "short"), at + "the file ends within a record");
  EXPECT_EQ(error_of(good + std::string(20, '\0')), at + "the checksum of the record's length is wrong");
  const std::string gzip = std::string("\x1f\x8b\x08") + std::string(16, '\0');
  BinaryWriter lie;
  lie.Put<uint64_t>(~uint64_t{} - 15);
  lie.Put<uint32_t>(MaskedCrc32c(BytesOf(lie.bytes)));
  EXPECT_EQ(error_of(good + lie.bytes + "data"),
            at + "the record tells of 18446744073709551600 bytes, where the file has 0 left");
  EXPECT_THAT(error_of(gzip), HasSubstr("b.tfrecord: is compressed by gzip"));
  EXPECT_EQ(error_of("anything else that lies there"), "b.tfrecord: does not begin as a TFRecord file");
  std::filesystem::remove(folder.path("a.tfrecord"));
  EXPECT_THAT(error_of(gzip), HasSubstr("b.tfrecord: is compressed as a whole"));
  EXPECT_THAT(error_of(good.substr(0, 14)), HasSubstr("b.tfrecord: at byte 0: the file ends within a record"));
  EXPECT_THAT(error_of(good.substr(0, 5)), HasSubstr("b.tfrecord: at byte 0: the file ends within a record"));
  EXPECT_THAT(error_of(""), HasSubstr("no record"));
  EXPECT_EQ(Open(ConfigOf(folder.path())).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(TfRecordTest, ABadRecordIsABadSample) {
  const TemporaryFolder folder;
  std::string flipped = ImageRecord(1);
  flipped[20] ^= 1;
  const std::string lacking = RecordOf(ExampleOf({BytesFeature("image/encoded", kJpeg)}));
  const std::string longer =
      RecordOf(ExampleOf({BytesFeature("image/encoded", kJpeg), IntFeature("image/class/label", {1, 2})}));
  const std::string garbage = RecordOf("\xff\xff\xff");
  folder.Write("a.tfrecord", ImageRecord(1) + flipped + lacking + longer + garbage + ImageRecord(2));
  const auto dataset = Open(ConfigOf(folder.path()));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  SampleBytes sample;
  std::vector<std::string> errors;
  for (uint64_t id = 0; id < (*dataset)->size(); ++id) {
    const absl::Status read = (*dataset)->Read(id, sample);
    EXPECT_TRUE(read.ok() || absl::IsDataLoss(read)) << read;
    errors.push_back(std::string(read.message()));
  }
  EXPECT_THAT(errors, ElementsAre("", "a.tfrecord:1: the checksum of the record's data is wrong",
                                  "a.tfrecord:2: there is no feature image/class/label",
                                  "a.tfrecord:3: the feature image/class/label: has more than 1 values, as many as the "
                                  "first record has",
                                  "a.tfrecord:4: its Example does not parse", ""));
}

TEST(TfRecordTest, TakesAllFeaturesWhereNoneHasAUsualName) {
  const TemporaryFolder folder;
  folder.Write("a.tfrecord", RecordOf(ExampleOf({FloatFeature("box", {0.5, 1, 2, 3}), BytesFeature("text", "a cat"),
                                                 IntFeature("none", {}), IntFeature("id", {9})})));
  const auto dataset = Open(ConfigOf(folder.path()));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ((*dataset)->schema().size(), 2);
  EXPECT_EQ((*dataset)->schema()[0].name, "box");
  EXPECT_THAT((*dataset)->schema()[0].shape, ElementsAre(4));
  EXPECT_THAT((*dataset)->warnings(),
              ElementsAre("the feature 'none' is left out: it has no value in the first record; `fields` takes it by "
                          "{kind: ragged, max_bytes: …}",
                          "the feature 'text' is left out: it is bytes of no fixed size, and no image; `fields` "
                          "takes it by {kind: text, max_bytes: …}"));
}

TEST(ExampleTest, TakesNumbersThatAreNotPacked) {
  const std::string ints = "\x08\x05\x08\x06", floats = Number(1 << 3 | 5) + std::string("\0\0\x80\x3f", 4);
  std::vector<uint8_t> elements;
  Feature feature{.kind = Feature::Kind::kInts, .values = BytesOf(ints)};
  ASSERT_TRUE(IntValues(feature, 2, elements).ok());
  EXPECT_EQ(WholeNumberAt(elements.data(), v1::DTYPE_INT64, 1), 6);
  feature = {.kind = Feature::Kind::kFloats, .values = BytesOf(floats)};
  ASSERT_TRUE(FloatValues(feature, 1, elements).ok());
  float number = 0;
  std::memcpy(&number, elements.data(), sizeof number);
  EXPECT_EQ(number, 1.0f);
  EXPECT_FALSE(IntValues(feature, 1, elements).ok()) << "floats are no integers";
}

TEST(ExampleTest, RefusesAFeatureOfTwoLists) {
  const std::string example = Message(1, Message(1, Message(1, "x") + Message(2, Message(3, "") + Message(1, ""))));
  EXPECT_TRUE(absl::IsDataLoss(VisitFeatures(BytesOf(example), [](const Feature&) { return absl::OkStatus(); })));
}

// ---- Fields whose samples differ in size ----

// Returns the field `x` of each record, in hexadecimal or as its error, or the error of opening.
std::vector<std::string> ValuesOf(const std::string& records, const std::string& from) {
  const TemporaryFolder folder;
  folder.Write("a.tfrecord", records);
  v1::DatasetConfig config = ConfigOf(folder.path());
  EXPECT_TRUE(
      google::protobuf::TextFormat::ParseFromString(from, &(*config.mutable_tfrecord()->mutable_fields())["x"]));
  const auto dataset = Open(config);
  if (!dataset.ok()) return {std::string(dataset.status().message())};
  std::vector<std::string> values;
  SampleBytes sample;
  for (uint64_t id = 0; id < (*dataset)->size(); ++id) {
    const absl::Status read = (*dataset)->Read(id, sample);
    const auto& field = sample.fields[0];
    const std::string_view bytes(reinterpret_cast<const char*>(field.data()), field.size());
    values.push_back(read.ok() ? absl::BytesToHexString({bytes.data(), bytes.size()}) : std::string(read.message()));
  }
  return values;
}

TEST(TfRecordTest, ListsOfAnyLengthAreRows) {
  const std::string floats = RecordOf(ExampleOf({FloatFeature("x", {})})) +
                             RecordOf(ExampleOf({FloatFeature("x", {1, 2})})) +
                             RecordOf(ExampleOf({FeatureOf("x", 7, "")})) +  // no list at all
                             RecordOf(ExampleOf({FloatFeature("x", {1, 2, 3})})) +
                             RecordOf(ExampleOf({IntFeature("x", {1})})) + RecordOf(ExampleOf({}));
  EXPECT_THAT(ValuesOf(floats, "kind: FIELD_KIND_KEYPOINTS max_bytes: '64'"),
              ElementsAre("", "0000803f00000040", "",
                          "a.tfrecord:3: its field x: has 3 numbers, which are no whole rows of [2]",
                          "a.tfrecord:4: the feature x: is no list of floats", "a.tfrecord:5: there is no feature x"));
  const std::string ints = RecordOf(ExampleOf({IntFeature("x", {-1})})) + RecordOf(ExampleOf({IntFeature("x", {})}));
  EXPECT_THAT(ValuesOf(ints, "kind: FIELD_KIND_RAGGED max_bytes: '64'"), ElementsAre("ffffffffffffffff", ""));
}

TEST(TfRecordTest, BytesAreTextOrBytes) {
  const std::string records =
      RecordOf(ExampleOf({BytesFeature("x", "a cat")})) + RecordOf(ExampleOf({BytesFeature("x", "")})) +
      RecordOf(ExampleOf({FeatureOf("x", 1, "")})) + RecordOf(ExampleOf({BytesFeature("x", "\xff")})) +
      RecordOf(ExampleOf({FeatureOf("x", 1, Message(1, "a") + Message(1, "b"))}));
  EXPECT_THAT(ValuesOf(records, "kind: FIELD_KIND_TEXT max_bytes: '64'"),
              ElementsAre("6120636174", "", "", HasSubstr("a.tfrecord:3: its field x: is not UTF-8"),
                          "a.tfrecord:4: the feature x: has 2 values, where one is"));
  EXPECT_THAT(ValuesOf(records, "kind: FIELD_KIND_BYTES max_bytes: '64'"),
              ElementsAre("6120636174", "", "", "ff", HasSubstr("2 values")));
  EXPECT_THAT(ValuesOf(records, "kind: FIELD_KIND_BOXES max_bytes: '64'"),
              ElementsAre("fields.x.kind: boxes are numbers, and this is bytes"));
}

}  // namespace
}  // namespace stoker
