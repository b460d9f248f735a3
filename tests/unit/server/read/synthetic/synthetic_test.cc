#include "server/read/synthetic/synthetic.h"

#include <cmath>
#include <cstring>
#include <ctime>
#include <set>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/read/synthetic/photograph.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::Synthetic Config(const std::string& text) {
  v1::Synthetic config;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &config)) << text;
  return config;
}

std::unique_ptr<Synthetic> Create(const std::string& text) {
  auto dataset = Synthetic::Create(Config(text));
  EXPECT_TRUE(dataset.ok()) << dataset.status();
  return *std::move(dataset);
}

std::string Error(const std::string& text) {
  const auto dataset = Synthetic::Create(Config(text));
  if (dataset.ok()) return "OK";
  EXPECT_EQ(dataset.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(dataset.status().message());
}

std::vector<std::vector<uint8_t>> Read(const Dataset& dataset, uint64_t id) {
  SampleBytes sample;
  EXPECT_TRUE(dataset.Read(id, sample).ok());
  return sample.fields;
}

constexpr char kTwoFields[] =
    "fields {name: 'image' dtype: DTYPE_UINT8 shape: [32, 48, 3]} fields {name: 'label' dtype: DTYPE_INT64}";

TEST(SyntheticTest, SamplesArePureFunctionsOfTheirId) {
  const auto one = Create(kTwoFields), other = Create(kTwoFields);
  EXPECT_EQ(Read(*one, 42), Read(*other, 42));
  EXPECT_NE(Read(*one, 42), Read(*one, 43));
  SampleBytes reused;
  ASSERT_TRUE(one->Read(7, reused).ok());
  ASSERT_TRUE(one->Read(42, reused).ok());
  EXPECT_EQ(reused.fields, Read(*other, 42));
}

// Computed by another program from synthetic.h alone.
TEST(SyntheticTest, RawBytesAreTheDocumentedStream) {
  const auto dataset = Create("fields {name: 'a' dtype: DTYPE_UINT8} fields {name: 'b' dtype: DTYPE_UINT8 shape: 11}");
  const auto fields = Read(*dataset, 42);
  EXPECT_EQ(fields[0].size(), 1);
  EXPECT_EQ(absl::BytesToHexString({reinterpret_cast<const char*>(fields[1].data()), fields[1].size()}),
            "8f8cd323b734044c52426b");
}

TEST(SyntheticTest, FieldsOfASampleDiffer) {
  const auto dataset =
      Create("fields {name: 'a' dtype: DTYPE_UINT8 shape: 64} fields {name: 'b' dtype: DTYPE_UINT8 shape: 64}");
  const auto fields = Read(*dataset, 0);
  EXPECT_NE(fields[0], fields[1]);
}

TEST(SyntheticTest, RawBytesTakeEveryValueAboutAsOften) {
  const auto fields = Read(*Create("fields {name: 'a' dtype: DTYPE_UINT8 shape: 256000}"), 5);
  std::vector<int> counts(256);
  for (uint8_t byte : fields[0]) ++counts[byte];
  for (int count : counts) EXPECT_NEAR(count, 1000, 160);  // Five standard deviations.
}

TEST(SyntheticTest, FloatsAreFiniteAndBelowTwo) {
  const auto dataset = Create(
      "fields {name: 'a' dtype: DTYPE_FLOAT32 shape: 10001} fields {name: 'b' dtype: DTYPE_FLOAT64 shape: 10001} "
      "fields {name: 'c' dtype: DTYPE_BFLOAT16 shape: 10001} fields {name: 'd' dtype: DTYPE_FLOAT16 shape: 10001}");
  const auto fields = Read(*dataset, 1);
  std::set<bool> signs;
  for (size_t i = 0; i < 10001; ++i) {
    float a;
    double b;
    uint32_t c = 0;
    uint16_t d;
    std::memcpy(&a, &fields[0][i * 4], 4);
    std::memcpy(&b, &fields[1][i * 8], 8);
    std::memcpy(reinterpret_cast<char*>(&c) + 2, &fields[2][i * 2], 2);  // The upper half of a float32.
    std::memcpy(&d, &fields[3][i * 2], 2);
    float widened;
    std::memcpy(&widened, &c, 4);
    ASSERT_LT(std::abs(a), 2);
    ASSERT_LT(std::abs(b), 2);
    ASSERT_LT(std::abs(widened), 2);
    ASSERT_LT(d & 0x7fff, 0x4000);  // 2 in float16.
    signs.insert(std::signbit(a));
  }
  EXPECT_EQ(signs.size(), 2);
}

TEST(SyntheticTest, JpegIsAnEncodedImage) {
  const auto dataset =
      Create("fields {name: 'image' dtype: DTYPE_UINT8 shape: [60, 80, 3] encoding: SYNTHETIC_ENCODING_JPEG}");
  EXPECT_EQ(dataset->schema()[0].kind, SourceField::Kind::kEncodedImage);
  const auto file = Read(*dataset, 3)[0];
  EXPECT_EQ(file[0], 0xff);
  EXPECT_EQ(file[1], 0xd8);  // SOI
  EXPECT_EQ(file, Read(*dataset, 3)[0]);
  EXPECT_NE(file, Read(*dataset, 4)[0]);
}

TEST(SyntheticTest, HasDefaults) {
  const auto dataset = Create(kTwoFields);
  EXPECT_EQ(dataset->size(), 1048576);
  EXPECT_EQ(dataset->SampleName(42), "synthetic/000000000042");
  EXPECT_EQ(dataset->description(), "synthetic: image uint8 32×48×3, label int64");
  EXPECT_EQ(Create("samples: 5 fields {name: 'a' dtype: DTYPE_UINT8}")->size(), 5);
  const SourceSchema& schema = dataset->schema();
  EXPECT_EQ(schema[0].name, "image");
  EXPECT_EQ(schema[0].kind, SourceField::Kind::kDense);
  EXPECT_THAT(schema[0].shape, ElementsAre(32, 48, 3));
  EXPECT_EQ(schema[1].dtype, v1::DTYPE_INT64);
}

// The layout that synthetic.h gives, hashed by another implementation of SHA-256.
TEST(SyntheticFingerprintTest, HasItsDocumentedLayout) {
  EXPECT_EQ(absl::BytesToHexString(Create(kTwoFields)->fingerprint()),
            "c17d4b47da5e5805ee1711199f0242d44f4f4edb950a548298cb9d26fc47993d");
}

TEST(SyntheticFingerprintTest, ChangesWithFieldsAndSamplesButNotWithTime) {
  const std::string field = "fields {name: 'image' dtype: DTYPE_UINT8 shape: [8, 6, 3]}";
  const std::string reference = Create(field)->fingerprint();
  EXPECT_EQ(reference, Create(field + "spin_us: 1 sleep_us: 1 samples: 1048576")->fingerprint());
  for (const char* other :
       {"fields {name: 'imagf' dtype: DTYPE_UINT8 shape: [8, 6, 3]}",
        "fields {name: 'image' dtype: DTYPE_INT16 shape: [8, 6, 3]}",
        "fields {name: 'image' dtype: DTYPE_UINT8 shape: [6, 8, 3]}",
        "fields {name: 'image' dtype: DTYPE_UINT8 shape: [8, 6, 3] encoding: SYNTHETIC_ENCODING_JPEG}",
        "fields {name: 'image' dtype: DTYPE_UINT8 shape: [8, 6, 3]} samples: 7"})
    EXPECT_NE(reference, Create(other)->fingerprint()) << other;
}

TEST(SyntheticTest, NamesTheFieldThatIsWrong) {
  const std::string good = "fields {name: 'a' dtype: DTYPE_UINT8}";
  EXPECT_THAT(Error(""), StartsWith("fields: missing"));
  EXPECT_THAT(Error(good + "fields {dtype: DTYPE_UINT8}"), StartsWith("fields[1].name: missing"));
  EXPECT_THAT(Error("fields {name: 'a b' dtype: DTYPE_UINT8}"), StartsWith("fields[0].name: 'a b'"));
  EXPECT_THAT(Error("fields {name: '1a' dtype: DTYPE_UINT8}"), StartsWith("fields[0].name: '1a'"));
  EXPECT_THAT(Error("fields {name: 'a\\n' dtype: DTYPE_UINT8}"), HasSubstr("a\\x0a"));
  EXPECT_THAT(Error(good + good), StartsWith("fields[1].name: 'a' is the name of two"));
  EXPECT_THAT(Error("fields {name: 'a'}"), StartsWith("fields[0].dtype: missing"));
  EXPECT_THAT(Error(good + "fields {name: 'b' dtype: DTYPE_UINT8 shape: [3, 0]}"), StartsWith("fields[1].shape: 3×0"));
  EXPECT_THAT(Error("fields {name: 'b' dtype: DTYPE_UINT8 shape: -1}"), StartsWith("fields[0].shape"));
  EXPECT_THAT(Error("fields {name: 'b' dtype: DTYPE_UINT8 shape: [4294967296, 4294967296, 2]}"),
              StartsWith("fields[0].shape"));
  EXPECT_THAT(Error("fields {name: 'b' dtype: DTYPE_UINT8 shape: [1, 1, 1, 1, 1, 1, 1, 1, 1]}"),
              StartsWith("fields[0].shape"));
  EXPECT_THAT(Error("fields {name: 'a' dtype: DTYPE_UINT8 shape: 200000000} "
                    "fields {name: 'b' dtype: DTYPE_UINT8 shape: 200000000}"),
              StartsWith("fields: 400000000 bytes"));
  EXPECT_THAT(Error(good + "samples: 9223372036854775809"), StartsWith("samples"));
  EXPECT_THAT(Error(good + "spin_us: 60000001"), StartsWith("spin_us"));
  EXPECT_THAT(Error(good + "sleep_us: 60000001"), StartsWith("sleep_us"));
}

TEST(SyntheticTest, LimitsJpegToImages) {
  const std::string jpeg = " encoding: SYNTHETIC_ENCODING_JPEG}";
  EXPECT_EQ(Error("fields {name: 'image' shape: [8, 8, 3]" + jpeg), "OK");
  EXPECT_THAT(Error("fields {name: 'mask' dtype: DTYPE_UINT8 shape: [8, 8, 3]" + jpeg),
              StartsWith("fields[0].encoding"));
  EXPECT_THAT(Error("fields {name: 'image' dtype: DTYPE_INT16 shape: [8, 8, 3]" + jpeg), StartsWith("fields[0].dtype"));
  EXPECT_THAT(Error("fields {name: 'image' shape: [8, 8, 1]" + jpeg), StartsWith("fields[0].shape"));
  EXPECT_THAT(Error("fields {name: 'image' shape: [8, 8]" + jpeg), StartsWith("fields[0].shape"));
  EXPECT_THAT(Error("fields {name: 'image' shape: [1, 65501, 3]" + jpeg), StartsWith("fields[0].shape"));
}

double ThreadCpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

TEST(SyntheticTest, SpinsForItsCpuTime) {
  const auto dataset = Create("fields {name: 'a' dtype: DTYPE_UINT8} spin_us: 3000");
  const double before = ThreadCpuSeconds();
  Read(*dataset, 0);
  EXPECT_GE(ThreadCpuSeconds() - before, 0.003);
}

TEST(SyntheticTest, SleepsForItsTime) {
  const auto dataset = Create("fields {name: 'a' dtype: DTYPE_UINT8} sleep_us: 3000");
  timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  Read(*dataset, 0);
  clock_gettime(CLOCK_MONOTONIC, &after);
  EXPECT_GE(after.tv_sec - before.tv_sec + (after.tv_nsec - before.tv_nsec) / 1e9, 0.003);
}

TEST(SyntheticShapeTest, IsOneRawImage) {
  const auto config = Synthetic::ParseShape("1024x768x3");
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->fields_size(), 1);
  EXPECT_EQ(config->fields(0).name(), "image");
  EXPECT_EQ(config->fields(0).dtype(), v1::DTYPE_UINT8);
  EXPECT_THAT(config->fields(0).shape(), ElementsAre(1024, 768, 3));
  EXPECT_TRUE(Synthetic::Create(*config).ok());
  EXPECT_THAT(Synthetic::ParseShape("7")->fields(0).shape(), ElementsAre(7));
}

TEST(SyntheticShapeTest, SaysWhatItCannotRead) {
  for (const char* shape : {"", "x", "8x", "8x8x", "8,8", "8xax3", "0x1", "-1x2", "99999999999999999999"}) {
    const auto config = Synthetic::ParseShape(shape);
    ASSERT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument) << shape;
    EXPECT_THAT(std::string(config.status().message()), HasSubstr(shape));
  }
}

// ---- Fields whose samples differ in size ----

std::vector<float> FloatsOf(const std::vector<uint8_t>& bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

TEST(SyntheticTest, RowsAreAsManyAsTheyTypicallyAre) {
  const auto dataset = Create(
      "fields {name: 'few' kind: FIELD_KIND_RAGGED dtype: DTYPE_INT64 shape: 2 max_bytes: '1600' typical_bytes: '160'} "
      "fields {name: 'many' kind: FIELD_KIND_BYTES max_bytes: '100' typical_bytes: '90'}");
  uint64_t few = 0, many = 0;
  std::set<size_t> counts;
  for (uint64_t id = 0; id < 2000; ++id) {
    const auto fields = Read(*dataset, id);
    ASSERT_EQ(fields[0].size() % 16, 0);
    ASSERT_LE(fields[0].size(), 320);
    ASSERT_GE(fields[1].size(), 80);
    ASSERT_LE(fields[1].size(), 100);
    counts.insert(fields[0].size());
    few += fields[0].size();
    many += fields[1].size();
  }
  EXPECT_EQ(counts.size(), 21) << "from none to twice as many as usual";
  EXPECT_NEAR(few / 2000.0, 160, 8);
  EXPECT_NEAR(many / 2000.0, 90, 1);
  EXPECT_EQ(Read(*dataset, 5), Read(*dataset, 5));
}

TEST(SyntheticTest, TextsArePrintable) {
  const auto dataset = Create("fields {name: 'text' kind: FIELD_KIND_TEXT max_bytes: '4000'}");
  EXPECT_EQ(dataset->schema()[0].dtype, v1::DTYPE_UINT8);
  std::set<uint8_t> seen;
  for (uint64_t id = 0; id < 20; ++id) {
    const auto fields = Read(*dataset, id);
    seen.insert(fields[0].begin(), fields[0].end());
  }
  EXPECT_EQ(seen.size(), 95);
  EXPECT_EQ(*seen.begin(), ' ');
  EXPECT_EQ(*seen.rbegin(), '~');
}

TEST(SyntheticTest, PointsLieInTheImage) {
  const std::string points =
      "fields {name: 'boxes' kind: FIELD_KIND_BOXES max_bytes: '800' typical_bytes: '400'} "
      "fields {name: 'points' kind: FIELD_KIND_KEYPOINTS max_bytes: '800' typical_bytes: '400'} ";
  const auto check = [](const Synthetic& dataset, float width, float height) {
    float most_x = 0, most_y = 0;
    for (uint64_t id = 0; id < 200; ++id) {
      const auto fields = Read(dataset, id);
      const std::vector<float> boxes = FloatsOf(fields[0]), at = FloatsOf(fields[1]);
      for (size_t i = 0; i < boxes.size(); i += 4) {
        ASSERT_GE(boxes[i], 0);
        ASSERT_GE(boxes[i + 1], 0);
        ASSERT_LT(boxes[i], boxes[i + 2]);
        ASSERT_LT(boxes[i + 1], boxes[i + 3]);
        ASSERT_LE(boxes[i + 2], width);
        ASSERT_LE(boxes[i + 3], height);
      }
      for (size_t i = 0; i < at.size(); i += 2) {
        ASSERT_GE(at[i], 0);
        ASSERT_GE(at[i + 1], 0);
        most_x = std::max(most_x, at[i]);
        most_y = std::max(most_y, at[i + 1]);
      }
    }
    EXPECT_GT(most_x, width * 0.98);
    EXPECT_GT(most_y, height * 0.98);
    EXPECT_LE(most_x, width);
    EXPECT_LE(most_y, height);
  };
  check(*Create(points), 1, 1);
  check(*Create(points + "fields {name: 'image' dtype: DTYPE_UINT8 shape: [60, 90, 3]}"), 90, 60);
}

TEST(SyntheticTest, BoxesAreTheSameInEveryFormat) {
  const auto boxes = [](const std::string& format) {
    const auto dataset = Create(
        "fields {name: 'image' dtype: DTYPE_UINT8 shape: [60, 90, 3]} "
        "fields {name: 'b' kind: FIELD_KIND_BOXES max_bytes: '64' typical_bytes: '64' "
        "box_format: BOX_FORMAT_" +
        format + "}");
    return FloatsOf(Read(*dataset, 3)[1]);
  };
  const auto corners = boxes("XYXY"), sizes = boxes("XYWH"), middles = boxes("CXCYWH");
  ASSERT_EQ(corners.size(), 16);
  for (size_t i = 0; i < corners.size(); i += 4)
    for (size_t side : {i, i + 1}) {
      EXPECT_EQ(sizes[side], corners[side]);
      EXPECT_EQ(sizes[side + 2], corners[side + 2] - corners[side]);
      EXPECT_EQ(middles[side] * 2, corners[side + 2] + corners[side]);
      EXPECT_EQ(middles[side + 2], sizes[side + 2]);
    }
}

TEST(SyntheticTest, AllThatRowsDependOnIsPartOfTheFingerprint) {
  std::set<std::string> different;
  for (const char* field :
       {"kind: FIELD_KIND_TEXT max_bytes: '64'", "kind: FIELD_KIND_BYTES max_bytes: '64'",
        "kind: FIELD_KIND_TEXT max_bytes: '65'", "kind: FIELD_KIND_TEXT max_bytes: '64' typical_bytes: '9'",
        "kind: FIELD_KIND_BOXES max_bytes: '64'", "kind: FIELD_KIND_BOXES max_bytes: '64' box_format: BOX_FORMAT_XYWH"})
    different.insert(Create(std::string("fields {name: 'x' ") + field + "}")->fingerprint());
  EXPECT_EQ(different.size(), 6);
}

TEST(SyntheticTest, WrongRowsAreRefusedByTheirKey) {
  const auto error = [](const std::string& field) { return Error("fields {name: 'x' " + field + "}"); };
  EXPECT_THAT(error("kind: FIELD_KIND_TEXT"), StartsWith("fields[0].max_bytes: missing"));
  EXPECT_THAT(error("kind: FIELD_KIND_RAGGED max_bytes: '64'"), StartsWith("fields[0].dtype: missing"));
  EXPECT_THAT(error("kind: FIELD_KIND_BOXES max_bytes: '64' dtype: DTYPE_INT64"),
              StartsWith("fields[0].dtype: boxes is float32"));
  EXPECT_THAT(error("kind: FIELD_KIND_TEXT max_bytes: '64' encoding: SYNTHETIC_ENCODING_JPEG"),
              StartsWith("fields[0].encoding: a jpeg is no text"));
  EXPECT_THAT(error("dtype: DTYPE_UINT8 max_bytes: '64'"), StartsWith("fields[0].max_bytes: is for the kinds"));
}

}  // namespace
}  // namespace stoker
