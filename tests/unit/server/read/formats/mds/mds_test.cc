#include "server/read/formats/mds/mds.h"

#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/read/binary.h"
#include "server/read/registry/sharded.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// A sample with the columns image (jpeg) and label (int).
std::string SampleOf(std::string_view image, int64_t label) {
  BinaryWriter sample;
  sample.Put<uint32_t>(image.size());
  sample.bytes += image;
  sample.Put<int64_t>(label);
  return sample.bytes;
}

std::string ShardOf(const std::vector<std::string>& samples) {
  BinaryWriter shard;
  shard.Put<uint32_t>(samples.size());
  uint32_t offset = 4 * (samples.size() + 2);
  shard.Put<uint32_t>(offset);
  for (const std::string& sample : samples) shard.Put<uint32_t>(offset += sample.size());
  for (const std::string& sample : samples) shard.bytes += sample;
  return shard.bytes;
}

std::string EntryOf(const std::string& name, uint64_t bytes, uint64_t samples) {
  return absl::StrCat(R"({"version": 2, "format": "mds", "compression": null, "hashes": [], "size_limit": null,)",
                      R"("column_names": ["image", "label"], "column_encodings": ["jpeg", "int"],)",
                      R"("column_sizes": [null, 8], "zip_data": null, "samples": )", samples,
                      R"(, "raw_data": {"basename": ")", name, R"(", "bytes": )", bytes, R"(, "hashes": {}}})");
}
std::string IndexOf(const std::string& entries) { return absl::StrCat(R"({"version": 2, "shards": [)", entries, "]}"); }

v1::DatasetConfig ConfigOf(const std::vector<std::string>& paths) {
  v1::DatasetConfig config;
  for (const std::string& path : paths) config.mutable_mds()->add_path(path);
  return config;
}

void WriteDataset(const TemporaryFolder& folder, const std::string& below, const std::string& shard, int samples) {
  folder.Write(below + "shard.00000.mds", shard);
  folder.Write(below + "index.json", IndexOf(EntryOf("shard.00000.mds", shard.size(), samples)));
}

std::string OpenError(const std::string& path) {
  return std::string(OpenShards(ConfigOf({path}), {}).status().message());
}

TEST(MdsTest, ReadsTheSamplesOfSeveralFolders) {
  const TemporaryFolder folder;
  WriteDataset(folder, "a/", ShardOf({SampleOf("one", 1), SampleOf("", -2)}), 2);
  WriteDataset(folder, "b/", ShardOf({SampleOf("three", 3)}), 1);
  const auto dataset = OpenShards(ConfigOf({folder.path("a"), folder.path("b/")}), {});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ((*dataset)->size(), 3);
  EXPECT_EQ((*dataset)->SampleName(1), "a/shard.00000.mds:1");
  SampleBytes sample;
  std::string all;
  for (int id = 0; id < 3; ++id) {
    ASSERT_TRUE((*dataset)->Read(id, sample).ok());
    absl::StrAppend(&all, std::string(sample.fields[0].begin(), sample.fields[0].end()), " ",
                    WholeNumberAt(sample.fields[1].data(), v1::DTYPE_INT64, 0), "; ");
  }
  EXPECT_EQ(all, "one 1;  -2; three 3; ");
}

TEST(MdsTest, TheDataOptionFindsIt) {
  const TemporaryFolder folder;
  WriteDataset(folder, "", ShardOf({SampleOf("one", 1)}), 1);
  v1::DatasetConfig config;
  for (const std::string& path : {folder.path(), folder.path("index.json")}) {
    config.set_data(path);
    const auto found = FindFormat(config);
    ASSERT_TRUE(found.ok() && found->has_mds()) << path;
    EXPECT_TRUE(OpenShards(*found, {}).ok());
  }
}

TEST(MdsTest, NamesShardAndNumberWhereTheIndexDoesNotFit) {
  const TemporaryFolder folder;
  const std::string good = ShardOf({SampleOf("one", 1), SampleOf("two", 2)});
  const auto error_of = [&](const std::string& shard, int samples) {
    WriteDataset(folder, "", shard, samples);
    return OpenError(folder.path());
  };
  // Replaces the number at `place`, counted in numbers from the shard's begin.
  const auto with = [&](size_t place, uint32_t number) {
    std::string shard = good;
    std::memcpy(shard.data() + place * sizeof number, &number, sizeof number);
    return shard;
  };
  EXPECT_EQ(error_of(good, 2), "");
  EXPECT_EQ(error_of(good, 1), "shard.00000.mds: has 2 samples, where index.json tells of 1");
  EXPECT_THAT(error_of(good, 1'000'000'000), HasSubstr("bytes, too few for the 1000000000 samples"));
  EXPECT_THAT(error_of(with(1, 3), 2), HasSubstr("its sample 0 begins at 3, within the header"));
  EXPECT_THAT(error_of(with(2, 5), 2), HasSubstr("its sample 0 ends at 5, before it begins at 16"));
  EXPECT_THAT(error_of(with(3, 4'000'000), 2), HasSubstr("its last sample ends at 4000000, where the shard has 46"));
  EXPECT_THAT(error_of(with(3, 4'000'000'000), 2), HasSubstr("its sample 1 has more than"));
  EXPECT_THAT(error_of("", 1), HasSubstr("too few"));
  folder.Write("index.json", IndexOf(EntryOf("shard.00000.mds", 7, 2)));
  folder.Write("shard.00000.mds", good);
  EXPECT_EQ(OpenError(folder.path()), "shard.00000.mds: has 46 bytes, where index.json tells of 7");
}

TEST(MdsTest, ABadSampleIsOne) {
  const TemporaryFolder folder;
  BinaryWriter lie;
  lie.Put<uint32_t>(4'000'000'000);
  lie.Put<uint64_t>(0);
  WriteDataset(folder, "",
               ShardOf({SampleOf("one", 1), lie.bytes, "abc", SampleOf("x", 1) + "more", SampleOf("two", 2)}), 5);
  const auto dataset = OpenShards(ConfigOf({folder.path()}), {});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  std::vector<std::string> errors;
  SampleBytes sample;
  for (int id = 0; id < 5; ++id) errors.push_back(std::string((*dataset)->Read(id, sample).message()));
  EXPECT_THAT(errors,
              ElementsAre("", HasSubstr("mds:1: the column image has 4000000000 bytes, where the sample has 8 left"),
                          HasSubstr("mds:2: the sample is shorter than its sizes"),
                          HasSubstr("mds:3: the sample has 4 bytes beyond its columns"), ""));
}

TEST(MdsTest, SaysWhatToDoWithCompressedShards) {
  const TemporaryFolder folder;
  const std::string entry = EntryOf("shard.00000.mds", 10, 1);
  folder.Write("index.json",
               IndexOf(absl::StrReplaceAll(entry, {{R"("compression": null)", R"("compression": "zstd:7")"}})));
  folder.Write("shard.00000.mds.zstd", "x");
  v1::DatasetConfig config;
  config.set_data(folder.path());
  const auto opened = OpenShards(*FindFormat(config), {});
  EXPECT_TRUE(absl::IsUnimplemented(opened.status()));
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("shard.00000.mds.zstd: is compressed as a whole"));
}

TEST(MdsIndexTest, NamesTheShardAndTheKeyThatIsWrong) {
  const std::string entry = EntryOf("s.mds", 10, 1);
  const auto error_of = [&](const std::string& from, const std::string& to) {
    const std::string changed = absl::StrReplaceAll(entry, {{from, to}});
    EXPECT_NE(changed, entry);
    return std::string(ParseMdsIndex(IndexOf(absl::StrCat(entry, ",", changed))).status().message());
  };
  EXPECT_TRUE(ParseMdsIndex(IndexOf(entry)).ok());
  EXPECT_EQ(error_of(R"("version": 2)", R"("version": 3)"), "shards[1]: version: is 3, where only 2 can be read");
  EXPECT_EQ(error_of(R"("format": "mds")", R"("format": "csv")"), "shards[1]: format: is 'csv' rather than mds");
  EXPECT_EQ(error_of(R"("samples": 1)", R"("samples": -1)"), "shards[1]: samples: is no whole number");
  EXPECT_EQ(error_of(R"("jpeg")", R"("png")"), "shards[1]: has other columns than the first shard");
  EXPECT_THAT(error_of(R"([null, 8])", R"([8])"), HasSubstr("no lists of equal length"));
  for (const char* name : {"../s.mds", "/etc/passwd", "a/../../s", "", "s\\u0000.mds", "."})
    EXPECT_THAT(error_of(R"("s.mds")", absl::StrCat("\"", name, "\"")), HasSubstr("does not stay below")) << name;
}

TEST(MdsIndexTest, RefusesWhatIsNone) {
  for (const std::string& text : {std::string(), std::string("["), std::string(100'000, '['), std::string("null"),
                                  std::string(R"({"version": 2, "shards": []})"), std::string(R"({"version": 1})"),
                                  IndexOf("7"), std::string("\xff\xfe")})
    EXPECT_TRUE(absl::IsDataLoss(ParseMdsIndex(text).status())) << text.substr(0, 40);
}

// Returns the words of the field, or the error.
std::string FieldOfValue(const std::string& encoding, std::string_view value) {
  const auto field = FieldOf(ParseMdsEncoding(encoding), BytesOf(value));
  return field.ok() ? FieldWords(*field) : std::string(field.status().message());
}

TEST(MdsEncodingTest, ArraysTellTheirShape) {
  EXPECT_EQ(FieldOfValue("ndarray:int16:2,3", "abcdefabcdef"), "int16 [2, 3]");
  EXPECT_EQ(FieldOfValue("ndarray:int16",
                         "\x08\x02\x01"
                         "abcd"),
            "int16 [2, 1]");
  EXPECT_EQ(FieldOfValue("ndarray",
                         "\x10\x04\x03"
                         "abcdef"),
            "int32 [3]")
      << "uint16 becomes int32";
  EXPECT_EQ(FieldOfValue("ndarray", std::string_view("\x22\x05\x01\x00"
                                                     "abcd",
                                                     8)),
            "float32 [1]")
      << "an extent of two bytes";
  EXPECT_THAT(FieldOfValue("ndarray", ""), HasSubstr("no type"));
  EXPECT_THAT(FieldOfValue("ndarray", std::string_view("\x22\x00", 2)), HasSubstr("cut short"));
  EXPECT_THAT(FieldOfValue("ndarray", "\x22\xff\xff"), HasSubstr("cut short"));
  EXPECT_THAT(FieldOfValue("ndarray:uint8", "\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
              HasSubstr("dimension that is 0 or too large"));
  EXPECT_THAT(FieldOfValue("ndarray:uint8:3", "ab"), HasSubstr("has 2 bytes of elements"));
  EXPECT_THAT(FieldOfValue("ndarray:complex64", "ab"), HasSubstr("encoding that is not taken"));
  EXPECT_THAT(FieldOfValue("ndarray:uint8:0", "ab"), HasSubstr("encoding that is not taken"));
}

TEST(MdsEncodingTest, PilImagesArePixels) {
  BinaryWriter value;
  for (const uint32_t number : {3, 2, 3}) value.Put<uint32_t>(number);
  EXPECT_EQ(FieldOfValue("pil", value.bytes + "RGB" + std::string(18, 'x')), "uint8 [2, 3, 3]");
  EXPECT_THAT(FieldOfValue("pil", value.bytes + "RGB" + std::string(17, 'x')), HasSubstr("does not fit its pixels"));
  EXPECT_THAT(FieldOfValue("pil", value.bytes + "I;1"), HasSubstr("mode that is not taken"));
  EXPECT_THAT(FieldOfValue("pil", "abc"), HasSubstr("cut short"));
}

TEST(MdsEncodingTest, NumbersMustBeOnes) {
  const auto error_of = [](const std::string& encoding, const std::string& value) {
    std::vector<uint8_t> bytes;
    const MdsEncoding parsed = ParseMdsEncoding(encoding);
    return std::string(DecodeMds(parsed, *FieldOf(parsed, {}), BytesOf(value), bytes).message());
  };
  EXPECT_EQ(error_of("str_int", "-12"), "");
  EXPECT_EQ(error_of("str_int", "12.5"), "is no whole number");
  EXPECT_EQ(error_of("str_int", "99999999999999999999"), "is no whole number");
  EXPECT_EQ(error_of("str_float", "x"), "is no number");
  EXPECT_EQ(error_of("int", "abc"), "has another size than its type");
  EXPECT_EQ(error_of("uint64", std::string(8, '\xff')), "has a number above the largest int64");
}

// ---- Fields whose samples differ in size ----

// Returns the value's bytes as rows of what the first value shows, or the error.
std::string RowsOfValue(const std::string& encoding, std::string_view first, std::string_view value,
                        v1::FieldKind kind = v1::FIELD_KIND_RAGGED) {
  const MdsEncoding parsed = ParseMdsEncoding(encoding);
  const auto stored = RowsOf(parsed, BytesOf(first));
  if (!stored.has_value()) return "none";
  v1::FieldFrom asked;
  asked.set_kind(kind);
  asked.set_max_bytes("64");
  SourceField field;
  if (const absl::Status set = SetRows(asked, *stored, field); !set.ok()) return std::string(set.message());
  std::vector<uint8_t> bytes;
  const absl::Status decoded = DecodeMds(parsed, field, BytesOf(value), bytes);
  return decoded.ok() ? std::string(bytes.begin(), bytes.end()) : std::string(decoded.message());
}

TEST(MdsEncodingTest, AnArraysFirstDimensionCountsRows) {
  const std::string two_rows =
                        "\x08\x02\x02"
                        "abcd",
                    other =
                        "\x08\x01\x03"
                        "xyz",
                    flat =
                        "\x04\x04"
                        "efgh";
  const std::string none("\x08\x00\x02", 3);
  EXPECT_EQ(RowsOfValue("ndarray:uint8", two_rows, two_rows), "abcd");
  EXPECT_EQ(RowsOfValue("ndarray:uint8", none, two_rows), "abcd");
  EXPECT_EQ(RowsOfValue("ndarray:uint8", two_rows, none), "");
  EXPECT_EQ(RowsOfValue("ndarray:uint8", two_rows, flat), "efgh");
  EXPECT_EQ(RowsOfValue("ndarray:uint8", two_rows, other),
            "is uint8 [1, 3], which is no array of rows: ragged uint8 [2] up to 64 bytes");
  EXPECT_EQ(RowsOfValue("ndarray:uint8:2,2", "abcd", "efgh"), "efgh");
  EXPECT_EQ(RowsOfValue("ndarray:int8", flat, flat), std::string("e\0f\0g\0h\0", 8)) << "int8 becomes int16";
  EXPECT_THAT(RowsOfValue("ndarray", "\x08" + flat,
                          "\x11\x04\x02"
                          "abcd"),
              HasSubstr("is int16 [2], which is no"));
  EXPECT_THAT(FieldOfValue("ndarray:uint8", none), HasSubstr("a dimension that is 0"));
}

TEST(MdsEncodingTest, TextsAndBytesAreTaken) {
  for (const char* encoding : {"str", "json", "bytes", "jpeg"})
    EXPECT_EQ(RowsOfValue(encoding, "a", "a cat", v1::FIELD_KIND_TEXT), "a cat") << encoding;
  EXPECT_EQ(RowsOfValue("str", "a", "", v1::FIELD_KIND_BYTES), "");
  EXPECT_THAT(FieldOfValue("str", "a cat"), HasSubstr("is text"));
  for (const char* encoding : {"int", "float32", "str_int", "pil", "pkl"})
    EXPECT_EQ(RowsOfValue(encoding, "12345678", "12345678"), "none") << encoding;
}

}  // namespace
}  // namespace stoker
