#include <limits>
#include <random>
#include <string>

#include "common/config/yaml_proto.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "stoker/v1/config.pb.h"

namespace stoker {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;
using ::google::protobuf::util::MessageDifferencer;

constexpr char kConfig[] = R"(listen: 127.0.0.1:7077
log: {format: json, level: debug}
datasets:
  - name: imagenet
    image_folder: {path: /data/imagenet}
  - synthetic:
      fields:
        - {name: image, dtype: uint8, shape: [224, 224, 3]}
        - {name: label, dtype: int64}
      samples: 100000
pipelines:
  "":
    limits: {max_pixels: 0}
  eval:
    ops:
      - RandomResizedCrop: {size: [224], scale: [0.08, 1], interpolation: bicubic, antialias: false}
      - RandomHorizontalFlip: {p: 0.1}
        placement: device
      - RandomVerticalFlip: {}
drain_seconds: 5
)";

TEST(ToYamlTest, PrintsWhatPeopleWrite) {
  v1::ServerConfig config;
  ASSERT_EQ(ParseYaml(kConfig, "f.yaml", config), absl::OkStatus());
  EXPECT_EQ(ToYaml(config), kConfig);
}

TEST(ToYamlTest, AnEmptyMessageIsAnEmptyMapping) { EXPECT_EQ(ToYaml(v1::ServerConfig()), "{}\n"); }

TEST(ToYamlTest, PrintsMapsInOrderOfTheirKeys) {
  v1::ServerConfig config;
  for (const char* name : {"c", "a", "b"}) (*config.mutable_pipelines())[name];
  EXPECT_EQ(ToYaml(config), "pipelines:\n  a: {}\n  b: {}\n  c: {}\n");
}

TEST(ToYamlTest, PrintsEvenWhatCannotBeReadBack) {
  v1::Normalize normalize;
  normalize.add_mean(std::numeric_limits<double>::infinity());
  normalize.add_mean(-std::numeric_limits<double>::infinity());
  normalize.add_mean(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(ToYaml(normalize), "mean: [.inf, -.inf, .nan]\n");
  v1::ToDtype to_dtype;
  to_dtype.set_dtype(static_cast<v1::Dtype>(99));
  EXPECT_EQ(ToYaml(to_dtype), "dtype: 99\n");
}

TEST(ToYamlTest, TextReadsBackWhateverItLooksLike) {
  for (const char* text :
       {"",     " ",   "null", "~",   "true", "5",      "-",    "- a",      "a: b",
        "a #b", "#",   "'",    "\"",  "\\",   "a\nb\n", "a\rb", "\r",       "\t",
        "[",    "{a}", "*a",   "&a",  "!a",   "|",      ">",    "%",        "@",
        "`",    ",",   "a, b", "?",   ":",    "---",    "...",  "\x01\x7f", "\u00e9\u0085\u2028\ufeff\U0001f600",
        " a ",  "<<",  "=",    "0x1", "1_000"}) {
    v1::ServerConfig config, again;
    config.set_listen(text);
    v1::Pipeline& pipeline = (*config.mutable_pipelines())[text];
    pipeline.add_fields(text);
    config.add_datasets()->mutable_image_folder()->set_path(text);
    ASSERT_EQ(ParseYaml(ToYaml(config), "f.yaml", again), absl::OkStatus()) << ToYaml(config);
    EXPECT_TRUE(MessageDifferencer::Equals(config, again)) << ToYaml(config);
  }
}

// Fills messages with random values of every field that they may have.
class RandomMessages {
 public:
  explicit RandomMessages(uint32_t seed) : random_(seed) {}

  void Fill(Message& message) {
    const Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const bool taken = field.real_containing_oneof() != nullptr &&
                         message.GetReflection()->HasOneof(message, field.containing_oneof());
      if (!taken && random_() % 3 != 0) FillField(message, field);
    }
  }

 private:
  void FillField(Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    if (field.is_map()) return;  // Keys must differ: filled by the test.
    if (!field.is_repeated()) return FillOne(message, field);
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return AddScalars(message, field);
    for (uint32_t n = random_() % 4; n > 0; --n) Fill(*reflection.AddMessage(&message, &field));
  }

  void FillOne(Message& message, const FieldDescriptor& field) {
    const Reflection& r = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE: return Fill(*r.MutableMessage(&message, &field));
      case FieldDescriptor::CPPTYPE_INT32: return r.SetInt32(&message, &field, static_cast<int32_t>(random_()));
      case FieldDescriptor::CPPTYPE_UINT32: return r.SetUInt32(&message, &field, random_());
      case FieldDescriptor::CPPTYPE_UINT64: return r.SetUInt64(&message, &field, Bits());
      case FieldDescriptor::CPPTYPE_DOUBLE: return r.SetDouble(&message, &field, Real());
      case FieldDescriptor::CPPTYPE_BOOL: return r.SetBool(&message, &field, random_() % 2 == 0);
      case FieldDescriptor::CPPTYPE_STRING: return r.SetString(&message, &field, Text());
      case FieldDescriptor::CPPTYPE_ENUM:
        return r.SetEnum(&message, &field, field.enum_type()->value(random_() % field.enum_type()->value_count()));
      default: FAIL() << field.full_name();
    }
  }

  void AddScalars(Message& message, const FieldDescriptor& field) {
    const Reflection& r = *message.GetReflection();
    for (uint32_t n = random_() % 4; n > 0; --n) {
      switch (field.cpp_type()) {
        case FieldDescriptor::CPPTYPE_INT32: r.AddInt32(&message, &field, static_cast<int32_t>(random_())); break;
        case FieldDescriptor::CPPTYPE_INT64: r.AddInt64(&message, &field, static_cast<int64_t>(Bits())); break;
        case FieldDescriptor::CPPTYPE_DOUBLE: r.AddDouble(&message, &field, Real()); break;
        case FieldDescriptor::CPPTYPE_STRING: r.AddString(&message, &field, Text()); break;
        default: FAIL() << field.full_name();
      }
    }
  }

  uint64_t Bits() { return uint64_t{random_()} << 32 | random_(); }

  double Real() { return std::ldexp(static_cast<double>(Bits()), static_cast<int>(random_() % 2000) - 1060); }

  std::string Text() {
    std::string text;
    for (uint32_t n = random_() % 8; n > 0; --n) text += static_cast<char>(1 + random_() % 127);
    return text;
  }

  std::mt19937 random_;
};

TEST(ToYamlTest, EveryMessageReadsBackEqual) {
  RandomMessages random(1);
  for (int i = 0; i < 1000; ++i) {
    v1::ServerConfig config, again;
    random.Fill(config);
    for (const char* name : {"a", "b: c", ""}) random.Fill((*config.mutable_pipelines())[name]);
    ASSERT_EQ(ParseYaml(ToYaml(config), "f.yaml", again), absl::OkStatus()) << ToYaml(config);
    ASSERT_TRUE(MessageDifferencer::Equals(config, again)) << config.DebugString() << again.DebugString();
  }
}

}  // namespace
}  // namespace stoker
