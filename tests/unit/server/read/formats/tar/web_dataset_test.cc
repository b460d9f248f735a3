// Tar shards, good and hostile, through the datasets that are made of them.

#include "server/read/formats/tar/web_dataset.h"

#include <set>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/read/formats/tar/json_number.h"
#include "server/read/registry/sharded.h"
#include "tests/unit/server/read/formats/folder/temporary_folder.h"
#include "tests/unit/server/read/formats/tar/tar_writer.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Pax(const std::string& record) { return TarFile("pax", record, 'x'); }

class WebDatasetTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<StoredDataset>> Open(const std::string& path = "t/a.tar") {
    v1::DatasetConfig config;
    config.mutable_webdataset()->add_path(folder_.path(path));
    for (const auto& [name, from] : fields_) (*config.mutable_webdataset()->mutable_fields())[name].set_from(from);
    return OpenShards(config, {.name = "tar"});
  }

  // Opens a shard of these members and its end.
  absl::StatusOr<std::unique_ptr<StoredDataset>> OpenShard(const std::string& members) {
    folder_.Write("t/a.tar", members + TarEnd());
    return Open();
  }

  std::string ErrorOf(const std::string& members) { return std::string(OpenShard(members).status().message()); }

  // The names of all samples.
  std::vector<std::string> NamesOf(const std::string& members) {
    const auto dataset = OpenShard(members);
    EXPECT_TRUE(dataset.ok()) << dataset.status();
    std::vector<std::string> names;
    for (uint64_t id = 0; dataset.ok() && id < (*dataset)->size(); ++id) names.push_back((*dataset)->SampleName(id));
    return names;
  }

  std::string ReadErrorOf(const std::string& members, uint64_t id) {
    const auto dataset = OpenShard(members);
    if (!dataset.ok()) return dataset.status().ToString();
    SampleBytes sample;
    const absl::Status status = (*dataset)->Read(id, sample);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    return std::string(status.message());
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> fields_ = {{"image", "jpg;png"}, {"label", "cls"}};
};

TEST_F(WebDatasetTest, GroupsMembersByTheirKeys) {
  const auto dataset = OpenShard(TarFile("d/a.cls", "7\n") + TarFile("d/a.txt", "words") + TarFile("d/a.JPG", "jpeg") +
                                 TarFile("a.png", "png") + TarFile("a.cls", "-3"));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ((*dataset)->size(), 2);
  EXPECT_EQ((*dataset)->SampleName(0), "d/a");
  SampleBytes sample;
  ASSERT_TRUE((*dataset)->Read(0, sample).ok());
  EXPECT_THAT(sample.fields, ElementsAre(ElementsAre('j', 'p', 'e', 'g'), ElementsAre(7, 0, 0, 0, 0, 0, 0, 0)));
  ASSERT_TRUE((*dataset)->Read(1, sample).ok());
  EXPECT_THAT(sample.fields[0], ElementsAre('p', 'n', 'g'));
  EXPECT_EQ(sample.fields[1][0], 0xfd);
}

TEST_F(WebDatasetTest, NamesAreTakenFromEveryKindOfHeader) {
  fields_.erase("label");
  const std::string long_name = std::string(200, 'n') + ".jpg";
  EXPECT_THAT(NamesOf(Pax("19 path=pax/é.jpg\n") + TarFile("other.jpg", "1") + TarFile("L", long_name, 'L') +
                      TarFile("short.jpg", "2") + TarHeaderBlock("c.jpg", "1", '0', "prefix") + std::string(512, 'x')),
              ElementsAre("pax/é", std::string(200, 'n'), "prefix/c"));
}

TEST_F(WebDatasetTest, WhatIsNoSampleIsSkipped) {
  fields_.erase("label");
  EXPECT_THAT(NamesOf(TarFile("folder/", "", '5') + TarFile("README", "x") + TarFile(".hidden.jpg", "x") +
                      TarFile("__meta.jpg__", "x") + TarFile("link.jpg", "", '2') + TarFile("hard.jpg", "", '1') +
                      TarFile("notes.md", "x") + TarFile("a.jpg", "x")),
              ElementsAre("a"));
}

TEST_F(WebDatasetTest, NamesAreNoPaths) {
  fields_.erase("label");
  EXPECT_THAT(
      NamesOf(TarFile("../../etc/passwd.jpg", "1") + TarFile("/etc/shadow.jpg", "2") + TarFile("a\nb.jpg", "3")),
      ElementsAre("../../etc/passwd", "/etc/shadow", "a\\x0ab"));
  EXPECT_THAT(ErrorOf(Pax(std::string("14 path=a\0b.c\n", 14)) + TarFile("a.jpg", "1")), HasSubstr("a zero byte"));
}

TEST_F(WebDatasetTest, SamplesThatLackAMemberAreBad) {
  const std::string good = TarFile("a.jpg", "x") + TarFile("a.cls", "1");
  EXPECT_THAT(ReadErrorOf(good + TarFile("b.jpg", "x"), 1), AllOf(HasSubstr("tar: b: "), HasSubstr(".cls is missing")));
  EXPECT_THAT(ReadErrorOf(good + TarFile("b.cls", "2"), 1), HasSubstr("member .jpg or .png is missing or empty"));
  EXPECT_THAT(ReadErrorOf(good + TarFile("b.jpg", "") + TarFile("b.cls", "2"), 1), HasSubstr("missing or empty"));
  EXPECT_THAT(ReadErrorOf(good + TarFile("b.jpg", "x") + TarFile("b.cls", "dog"), 1), HasSubstr("'dog' is no whole"));
}

TEST_F(WebDatasetTest, MembersThatNobodyWantsAreNotReadAndMayBeBad) {
  v1::DatasetConfig config;
  auto& fields = *config.mutable_webdataset()->mutable_fields();
  fields["image"].set_from("jpg");
  fields["label"].set_from("cls");
  fields["note"].set_from("txt");
  fields["note"].set_kind(v1::FIELD_KIND_TEXT);
  fields["note"].set_max_bytes("100");
  config.mutable_webdataset()->add_path(folder_.path("t/a.tar"));
  folder_.Write("t/a.tar", TarFile("a.jpg", std::string(5000, 'x')) + TarFile("a.txt", "") + TarFile("a.cls", "7") +
                               TarFile("b.jpg", "y") + TarFile("b.txt", "hello") + TarFile("b.cls", "no number") +
                               TarFile("c.cls", "9") + TarEnd());
  const auto dataset = OpenShards(config, {.name = "tar"});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  const auto read = [&](uint64_t id, size_t only) {
    SampleBytes sample;
    sample.wanted = FieldSet();
    sample.wanted.Add(only);
    const absl::Status status = (*dataset)->Read(id, sample);
    EXPECT_LT(sample.stored.size(), 2000) << "the image is not read";
    return status.ok() ? std::string(sample.fields[only].begin(), sample.fields[only].end()) : status.ToString();
  };
  EXPECT_EQ(read(0, 1)[0], 7);
  EXPECT_EQ(read(0, 2), "") << "an empty text is one";
  EXPECT_EQ(read(1, 0), "y") << "its label is not looked at";
  EXPECT_EQ(read(1, 2), "hello");
  EXPECT_THAT(read(1, 1), HasSubstr("no whole"));
  EXPECT_EQ(read(2, 1)[0], 9);
  EXPECT_THAT(read(2, 0), HasSubstr("member .jpg is missing"));
}

TEST_F(WebDatasetTest, AFieldThatNoSampleHasIsRefused) {
  EXPECT_THAT(ErrorOf(TarFile("a.jpeg", "x") + TarFile("a.cls", "1")),
              AllOf(HasSubstr("fields.image: none of"), HasSubstr("they have .cls, .jpeg")));
  fields_ = {{"image", "mp4"}};
  EXPECT_THAT(ErrorOf(TarFile("a.mp4", "x")), HasSubstr("fields.image.from: a member .mp4 is not taken"));
}

TEST_F(WebDatasetTest, DamageIsAnErrorThatNamesTheShardAndTheByte) {
  const std::string good = TarFile("a.jpg", "x") + TarFile("a.cls", "1");
  std::string damaged = TarFile("b.jpg", "x");
  damaged[3] = 'X';
  EXPECT_THAT(ErrorOf(good + damaged), HasSubstr("a.tar: at byte 2048: this is no tar header: its checksum is wrong"));
  EXPECT_THAT(ErrorOf(good + TarHeaderBlock("b.jpg", "77777777777")), HasSubstr("a member of 8589934591 bytes begins"));
  EXPECT_THAT(ErrorOf(good + TarHeaderBlock("b.jpg", "\x80\x7f" + std::string(10, '\xff'))),
              HasSubstr("its size is no"));
  EXPECT_THAT(ErrorOf(good + Pax("28 size=9223372036854775807\n") + TarFile("b.jpg", "x")), HasSubstr("cut short"));
  EXPECT_THAT(ErrorOf(good + TarFile("b.jpg", "x", 'S')), HasSubstr("sparse"));
  EXPECT_THAT(ErrorOf(good + Pax("22 GNU.sparse.major=1\n") + TarFile("b.jpg", "x")), HasSubstr("sparse"));
  EXPECT_THAT(ErrorOf(good + TarHeaderBlock("L", "00010000001", 'L') + std::string(3 << 20, 'n')),
              HasSubstr("too large"));
  EXPECT_THAT(ErrorOf(good + TarFile("b.jpg", "x") + TarFile("b.jpg", "y")),
              HasSubstr("sample b has two members .jpg"));
  folder_.Write("t/a.tar", good.substr(0, 1300));
  EXPECT_THAT(std::string(Open().status().message()), HasSubstr("at byte 1024: the archive is cut short"));
  folder_.Write("t/a.tar", good);
  EXPECT_THAT(std::string(Open().status().message()), HasSubstr("at byte 2048: the archive ends without"));
}

TEST_F(WebDatasetTest, FindsFieldsByItself) {
  fields_.clear();
  const auto dataset = OpenShard(TarFile("a.png", "x") + TarFile("a.cls", "1") + TarFile("a.txt", "a cat") +
                                 TarFile("b.jpg", "x") + TarFile("b.cls", "1") + TarFile("b.png", "x"));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ((*dataset)->schema().size(), 2);
  EXPECT_EQ((*dataset)->schema()[0].name, "image");
  EXPECT_EQ((*dataset)->schema()[1].name, "label");
  EXPECT_THAT((*dataset)->warnings(), ElementsAre(HasSubstr(".txt")));
}

TEST_F(WebDatasetTest, AnIndexBesideAShardIsUsedOnlyIfItFits) {
  const std::string shard =
      TarFile("a.jpg", "x") + TarFile("a.cls", "1") + TarFile("b.jpg", "y") + TarFile("b.cls", "2");
  const auto scanned = OpenShard(shard);
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  const std::string good = "v1.2 2\njpg 512 1 a.jpg cls 1536 1 a.cls\njpg 2560 1 b.jpg cls 3584 1 b.cls\n";
  for (const std::string& index :
       {good, std::string("v1.2 1\njpg 512 1 a.jpg cls 1536 1 a.cls\n"), std::string("v1.1 0\n"),
        std::string("v1.2 1\njpg 512 99999999999999999999 a.jpg\n"), std::string("v1.2 1\njpg 0 1 a.jpg\n"),
        std::string("v1.2 1\njpg 1048576 1 a.jpg\n"), std::string("<html>")}) {
    folder_.Write("t/a.idx", index);
    const auto opened = OpenShard(shard);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ((*opened)->fingerprint(), (*scanned)->fingerprint()) << index;
  }
  // One that leaves out a member in the middle shows that an index is used.
  folder_.Write("t/a.idx", "v1.2 2\njpg 512 1 a.jpg cls 1536 1 a.cls\ncls 3584 1 b.cls\n");
  EXPECT_NE((*OpenShard(shard))->fingerprint(), (*scanned)->fingerprint());
}

TEST_F(WebDatasetTest, ListsOfShardsLeadNowhereElse) {
  folder_.Write("t/a.tar", TarFile("a.jpg", "x") + TarFile("a.cls", "1") + TarEnd());
  const auto error_of = [&](const std::string& list) {
    folder_.Write("t/list.json", list);
    return std::string(Open("t/list.json").status().message());
  };
  EXPECT_THAT(error_of(R"({"shardlist": [{"url": "a.tar", "nsamples": 1}]})"), IsEmpty());
  for (const char* url : {"../t/a.tar", "/etc/passwd", "https://host/a.tar", "", "b/../../a.tar"})
    EXPECT_THAT(error_of(absl::StrCat(R"({"shardlist": [{"url": ")", url, R"(", "nsamples": 1}]})")),
                HasSubstr("no path below the list's own folder"));
  EXPECT_THAT(error_of(R"({"shardlist": [{"url": "a.tar", "nsamples": 2}]})"), HasSubstr("has 1 samples, where"));
  EXPECT_THAT(error_of(R"({"shardlist": {}})"), HasSubstr("no `shardlist`"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("no JSON object"));
}

TEST_F(WebDatasetTest, CompressedShardsAreRefusedWithWhatToDo) {
  folder_.Write("t/a.tar.gz", "x");
  EXPECT_THAT(std::string(Open("t").status().message()),
              AllOf(HasSubstr("a.tar.gz"), HasSubstr("raw_cache: {disk:"), HasSubstr("gunzip")));
}

TEST_F(WebDatasetTest, DataIsTarsUnlessThereAreImagesToo) {
  folder_.Write("t/a.tar", TarEnd());
  v1::DatasetConfig config;
  config.set_data(folder_.path("t"));
  EXPECT_TRUE(FindFormat(config)->has_webdataset());
  folder_.Write("t/cat/1.jpg", "x");
  EXPECT_TRUE(FindFormat(config)->has_image_folder()) << "as it always was";
  config.set_data(folder_.path("t/*.tar"));
  EXPECT_TRUE(FindFormat(config)->has_webdataset());
}

TEST(JsonNumberTest, FindsTheNumberAtItsPath) {
  const auto whole = [](const char* document, const char* path) {
    const auto parsed = ParseJsonPath(path);
    if (!parsed.ok()) return int64_t{-2};
    const auto number = NumberAt(document, *parsed);
    return number.ok() && number->is_whole ? number->whole : -1;
  };
  EXPECT_EQ(whole(R"({"x": {"b": 9}, "a": {"b": [[1], 2, {"c": 3}]}})", "$.a.b[2].c"), 3);
  EXPECT_EQ(whole(R"({"a": [[7, 8], [9]]})", "$['a'][0][1]"), 8);
  EXPECT_EQ(whole("5", "$"), 5);
  EXPECT_EQ(whole(R"({"a": {"b": 1}, "a": {}})", "$.a.b"), -1) << "the later one counts";
  EXPECT_EQ(whole(R"({"a": 1, "a": 2})", "$.a"), 2);
  EXPECT_EQ(whole(R"({"c": {"a": 1}, "b": [{"a": 2}]})", "$.a"), -1);
  EXPECT_EQ(whole(R"({"a": 18446744073709551615})", "$.a"), -1);
  EXPECT_EQ(whole(R"({"a": 1)", "$.a"), -1) << "not JSON";
  for (const char* path : {"", "a", "$a", "$.", "$[", "$[]", "$[x]", "$[-1]", "$..a"})
    EXPECT_EQ(whole("1", path), -2) << path;
}

TEST_F(WebDatasetTest, AMapsKindIsPartOfTheFingerprintAndItsFileAPng) {
  folder_.Write("t/a.tar",
                TarFile("a.png", "png") + TarFile("a.seg.png", "png") + TarFile("a.seg.jpg", "jpg") + TarEnd());
  const auto open = [&](const std::string& from, v1::FieldKind kind, v1::Dtype dtype) {
    v1::DatasetConfig config;
    config.mutable_webdataset()->add_path(folder_.path("t/a.tar"));
    auto& fields = *config.mutable_webdataset()->mutable_fields();
    fields["image"].set_from("png");
    fields["mask"].set_from(from);
    fields["mask"].set_kind(kind);
    fields["mask"].set_dtype(dtype);
    return OpenShards(config, {.name = "tar"});
  };
  std::set<std::string> fingerprints;
  for (auto [kind, dtype] : {std::pair(v1::FIELD_KIND_UNSPECIFIED, v1::DTYPE_UNSPECIFIED),
                             {v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_UNSPECIFIED},
                             {v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_INT16},
                             {v1::FIELD_KIND_BINARY_MAP, v1::DTYPE_UNSPECIFIED}}) {
    const auto dataset = open("seg.png", kind, dtype);
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    EXPECT_EQ((*dataset)->schema()[1].meaning, kind);
    fingerprints.insert((*dataset)->fingerprint());
  }
  EXPECT_EQ(fingerprints.size(), 4);
  EXPECT_THAT(open("seg.jpg", v1::FIELD_KIND_LABEL_MAP, v1::DTYPE_UNSPECIFIED).status().message(),
              HasSubstr("fields.mask.from: a label_map is a .png or .npy, not .seg.jpg"));
}

// ---- Fields whose samples differ in size ----

// A member .npy of version 1.0 with this header and these elements.
std::string Npy(const std::string& descr, const std::string& shape, const std::string& elements) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(118, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + elements;
}

class WebDatasetRowsTest : public testing::Test {
 protected:
  // Opens a shard of these members with the fields that a text names.
  absl::StatusOr<std::unique_ptr<StoredDataset>> Open(const std::string& members, const std::string& fields) {
    folder_.Write("t/a.tar", members + TarEnd());
    v1::DatasetConfig config;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(fields, config.mutable_webdataset())) << fields;
    config.mutable_webdataset()->add_path(folder_.path("t/a.tar"));
    return OpenShards(config, {.name = "tar"});
  }

  // Returns the field `x` of each sample, in bytes or as its error, with a line each.
  std::string ValuesOf(const std::string& members, const std::string& from) {
    const auto dataset = Open(members, "fields {key: 'x' value {" + from + "}}");
    if (!dataset.ok()) return std::string(dataset.status().message());
    std::string values;
    SampleBytes sample;
    for (uint64_t id = 0; id < (*dataset)->size(); ++id) {
      const absl::Status read = (*dataset)->Read(id, sample);
      EXPECT_TRUE(read.ok() || absl::IsDataLoss(read)) << read;
      values += read.ok() ? std::string(sample.fields[0].begin(), sample.fields[0].end()) : std::string(read.message());
      values += "\n";
    }
    return values;
  }

  TemporaryFolder folder_;
};

TEST_F(WebDatasetRowsTest, TextsAndBytesAreWholeMembers) {
  const std::string members = TarFile("a.txt", "a cat") + TarFile("b.txt", "") + TarFile("c.txt", "\xff") +
                              TarFile("d.TXT", "d") + TarFile("d.bin", "\x01\xff");
  const std::string text = "from: 'txt' kind: FIELD_KIND_TEXT max_bytes: '64'";
  EXPECT_EQ(ValuesOf(members, text),
            "a cat\n\ntar: c: its field x: is not UTF-8, as a text has to be; kind: bytes takes any bytes\nd\n");
  EXPECT_EQ(ValuesOf(members, "from: 'bin;txt' kind: FIELD_KIND_BYTES max_bytes: '64'"), "a cat\n\n\xff\n\x01\xff\n");
}

TEST_F(WebDatasetRowsTest, AnEmptyTextIsNoMissingOne) {
  const std::string fields =
      "fields {key: 'words' value {from: 'txt' kind: FIELD_KIND_TEXT max_bytes: '64'}} "
      "fields {key: 'label' value {from: 'cls'}}";
  const auto dataset = Open(TarFile("a.txt", "") + TarFile("a.cls", "1") + TarFile("b.cls", "2") +
                                TarFile("c.cls", "3") + TarFile("c.txt", "") + TarFile("d.txt", ""),
                            fields);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ((*dataset)->size(), 4);
  SampleBytes sample;
  for (const int id : {0, 2}) {
    ASSERT_TRUE((*dataset)->Read(id, sample).ok()) << id;
    EXPECT_EQ(sample.fields[0][0], id + 1);
    EXPECT_THAT(sample.fields[1], IsEmpty());
  }
  EXPECT_THAT((*dataset)->Read(1, sample).message(), HasSubstr("b: its member .txt is missing"));
  EXPECT_THAT((*dataset)->Read(3, sample).message(), HasSubstr("d: its member .cls is missing"));
}

TEST_F(WebDatasetRowsTest, AnArraysFirstDimensionCountsRows) {
  const std::string members =
      TarFile("a.npy", Npy("<f8", "(0,)", "")) + TarFile("b.npy", Npy("|u1", "(2, 2)", "abcd")) +
      TarFile("c.npy", Npy("|u1", "(0, 2)", "")) + TarFile("d.npy", Npy("|u1", "(4,)", "efgh")) +
      TarFile("e.npy", Npy("|u1", "(1, 3)", "xyz")) + TarFile("f.npy", Npy("|u1", "(3,)", "xyz")) +
      TarFile("g.npy", Npy("<i2", "(1, 2)", "wxyz")) + TarFile("h.npy", Npy("|u1", "(3, 2)", "x"));
  EXPECT_EQ(ValuesOf(members, "from: 'npy' kind: FIELD_KIND_RAGGED max_bytes: '64'"),
            "\nabcd\n\nefgh\n"
            "tar: e: its member .npy is uint8 [1, 3], which is no array of rows: ragged uint8 [2] up to 64 bytes\n"
            "tar: f: its field x: has 3 numbers, which are no whole rows of [2]\n"
            "tar: g: its member .npy is int16 [1, 2], which is no array of rows: ragged uint8 [2] up to 64 bytes\n"
            "tar: h: its member .npy has another size than its header tells\n");
  EXPECT_THAT(ValuesOf(members, "from: 'npy'"), HasSubstr("fields.x: the first member .npy"));
}

TEST_F(WebDatasetRowsTest, APathIntoJsonNamesRowsOrAText) {
  const std::string members = TarFile("a.json", R"({"t": "a cat", "b": [97, 98], "o": [{"p": [65, 66]}]})") +
                              TarFile("b.json", R"({"t": "", "b": [], "o": []})") + TarFile("c.json", R"({"o": [{}]})");
  EXPECT_EQ(ValuesOf(members, "json: '$.t' kind: FIELD_KIND_TEXT max_bytes: '64'"),
            "a cat\n\ntar: c: its member .json $.t: has no text there\n");
  EXPECT_EQ(ValuesOf(members, "json: '$.b' kind: FIELD_KIND_RAGGED max_bytes: '64' dtype: DTYPE_UINT8"),
            "ab\n\ntar: c: its member .json $.b: lacks it, or an element on the way does, where rows of [] are\n");
  EXPECT_EQ(
      ValuesOf(members, "json: '$.o[*].p' kind: FIELD_KIND_RAGGED max_bytes: '64' dtype: DTYPE_UINT8 shape: 2"),
      "AB\n\ntar: c: its member .json $.o[*].p: lacks it, or an element on the way does, where rows of [2] are\n");
}

TEST_F(WebDatasetRowsTest, RowsOfJsonHaveUsualTypes) {
  const auto dtype = [&](const std::string& from) {
    const auto dataset = Open(TarFile("a.json", R"({"b": [1, 2, 3, 4]})"),
                              "fields {key: 'x' value {json: '$.b' max_bytes: '64' " + from + "}}");
    return dataset.ok() ? DtypeName((*dataset)->schema()[0].dtype) : std::string(dataset.status().message());
  };
  EXPECT_EQ(dtype("kind: FIELD_KIND_BOXES"), "float32");
  EXPECT_EQ(dtype("kind: FIELD_KIND_BOXES dtype: DTYPE_INT32"), "int32");
  EXPECT_EQ(dtype("kind: FIELD_KIND_KEYPOINTS"), "float32");
  EXPECT_EQ(dtype("kind: FIELD_KIND_RAGGED"), "int64");
  EXPECT_EQ(dtype("kind: FIELD_KIND_RAGGED shape: 2"), "float32");
  EXPECT_THAT(dtype("kind: FIELD_KIND_RAGGED dtype: DTYPE_FLOAT16"), HasSubstr("fields.x.dtype: numbers of a JSON"));
}

TEST_F(WebDatasetRowsTest, WhatCannotBeTakenIsRefusedByItsKey) {
  const std::string members = TarFile("a.txt", "x") + TarFile("a.json", "{}");
  const auto error = [&](const std::string& from) { return ValuesOf(members, from); };
  EXPECT_THAT(error("from: 'txt' kind: FIELD_KIND_TEXT"), HasSubstr("fields.x.max_bytes: missing"));
  EXPECT_THAT(error("from: 'txt' kind: FIELD_KIND_BOXES max_bytes: '64'"),
              HasSubstr("fields.x.from: boxes are taken from a .npy, or by a path into JSON"));
  EXPECT_THAT(error("json: '$.a' kind: FIELD_KIND_BYTES max_bytes: '64'"), HasSubstr("fields.x.kind: a JSON document"));
  EXPECT_THAT(error("json: '$[*].a' kind: FIELD_KIND_TEXT max_bytes: '64'"),
              HasSubstr("fields.x.json: '$[*].a' leads to many values"));
  EXPECT_THAT(error("json: '$[*].a'"), HasSubstr("fields.x.json: '$[*].a' leads to many values"));
  EXPECT_THAT(error("from: 'txt' max_bytes: '64'"), HasSubstr("fields.x.max_bytes: is for the kinds"));
  EXPECT_THAT(error("json: '$.a' kind: FIELD_KIND_BOXES max_bytes: '64'"),
              HasSubstr("fields.x: the first member .json of a.tar: $.a: lacks it"));
}

TEST_F(WebDatasetRowsTest, AllThatSamplesDependOnIsPartOfTheFingerprint) {
  const std::string members = TarFile("a.json", R"({"b": [1, 2, 3, 4]})");
  const auto fingerprint = [&](const std::string& from) {
    const auto dataset = Open(members, "fields {key: 'x' value {json: '$.b' " + from + "}}");
    EXPECT_TRUE(dataset.ok()) << dataset.status();
    return dataset.ok() ? (*dataset)->fingerprint() : "";
  };
  const std::string boxes = "kind: FIELD_KIND_BOXES max_bytes: '64'";
  const std::set<std::string> different = {
      fingerprint(boxes),
      fingerprint("kind: FIELD_KIND_BOXES max_bytes: '65'"),
      fingerprint(boxes + " box_format: BOX_FORMAT_XYWH"),
      fingerprint(boxes + " dtype: DTYPE_INT64"),
      fingerprint("kind: FIELD_KIND_KEYPOINTS max_bytes: '64'"),
      fingerprint("kind: FIELD_KIND_KEYPOINTS max_bytes: '64' shape: [2, 2]"),
  };
  EXPECT_EQ(different.size(), 6);
  EXPECT_EQ(fingerprint(boxes), fingerprint(boxes + " typical_bytes: '16' box_format: BOX_FORMAT_XYXY"));
}

}  // namespace
}  // namespace stoker
