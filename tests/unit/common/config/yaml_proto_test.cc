#include "common/config/yaml_proto.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/config/yaml_tree.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "stoker/v1/config.pb.h"

namespace stoker {
namespace {

using ::google::protobuf::TextFormat;
using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The message that `yaml` means, as protobuf's text format, or the error.
template <typename M>
std::string Read(const std::string& yaml) {
  M message;
  const absl::Status status = ParseYaml(yaml, "f.yaml", message);
  if (!status.ok()) return std::string(status.message());
  TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(message, &text);
  return std::string(text, 0, text.find_last_not_of(' ') + 1);
}

std::string Config(const std::string& yaml) { return Read<v1::ServerConfig>(yaml); }
std::string Pipeline(const std::string& yaml) { return Read<v1::Pipeline>(yaml); }

TEST(YamlProtoTest, ReadsAServersConfiguration) {
  v1::ServerConfig config, expected;
  ASSERT_EQ(ParseYaml(R"(
# A comment.
listen: 127.0.0.1:7077
memory_limit: 8GiB
insecure: True
log: {format: json, level: WARNING}
datasets:
  - name: imagenet
    image_folder: {path: /data/imagenet/train}
  - name: noise
    synthetic: {fields: [{name: image, dtype: uint8, shape: [224, 224, 3]}], samples: 100000}
pipelines:
  eval:
    ops:
      - Resize: {size: 256}
      - CenterCrop: {size: 224}
)",
                      "f.yaml", config),
            absl::OkStatus());
  ASSERT_TRUE(TextFormat::ParseFromString(R"(
    listen: "127.0.0.1:7077" memory_limit: "8GiB" insecure: true
    log { format: LOG_FORMAT_JSON level: LOG_LEVEL_WARNING }
    datasets { name: "imagenet" image_folder { path: "/data/imagenet/train" } }
    datasets { name: "noise"
               synthetic { fields { name: "image" dtype: DTYPE_UINT8 shape: [ 224, 224, 3 ] } samples: 100000 } }
    pipelines { key: "eval" value { ops { resize { size: 256 } } ops { center_crop { size: 224 } } } }
  )",
                                          &expected));
  EXPECT_TRUE(MessageDifferencer::Equals(config, expected)) << config.DebugString();
}

TEST(YamlProtoTest, AnOpGoesByItsTypesNameOrItsFieldsName) {
  EXPECT_EQ(Pipeline("ops: [{RandomHorizontalFlip: {p: 1}}, {random_horizontal_flip: {p: 1}}]"),
            "ops { random_horizontal_flip { p: 1 } } ops { random_horizontal_flip { p: 1 } }");
}

TEST(YamlProtoTest, PlacementStandsBesideTheOp) {
  EXPECT_EQ(Pipeline("ops:\n  - RandomHorizontalFlip: {p: 1}\n    placement: device"),
            "ops { placement: PLACEMENT_DEVICE random_horizontal_flip { p: 1 } }");
}

TEST(YamlProtoTest, AnOpThatIsNotKnownIsOneOfTheServersOperators) {
  EXPECT_EQ(Pipeline("ops: [{fog: {amount: 0.20, on: yes}}, {salt_2: }]"),
            R"(ops { own_op { name: "fog" arguments { name: "amount" value: "0.20" } )"
            R"(arguments { name: "on" value: "yes" } } } ops { own_op { name: "salt_2" } })");
  EXPECT_EQ(Pipeline("ops: [{RandomApply: {transforms: [{fog: }]}, placement: server}]"),
            R"(ops { placement: PLACEMENT_SERVER random_apply { transforms { own_op { name: "fog" } } } })");
}

TEST(YamlProtoTest, NothingIsAnEmptyMessageOrList) {
  EXPECT_EQ(Pipeline("ops:\n- RandomHorizontalFlip:\n- CenterCrop: ~"),
            "ops { random_horizontal_flip { } } ops { center_crop { } }");
  EXPECT_EQ(Config("datasets:\nlog:"), "log { }");
  EXPECT_EQ(Config("pipelines: {a: , b: {}}"), R"(pipelines { key: "a" value { } } pipelines { key: "b" value { } })");
  EXPECT_EQ(Config(""), "");
  EXPECT_EQ(Config("# nothing\n---\n"), "");
}

TEST(YamlProtoTest, AScalarIsAListOfOne) {
  EXPECT_EQ(Pipeline("ops: [{Resize: {size: 224}}]"), Pipeline("ops: [{Resize: {size: [224]}}]"));
  EXPECT_EQ(Pipeline("fields: image"), R"(fields: "image")");
}

TEST(YamlProtoTest, AScalarIsWhereAFieldIsFrom) {
  const std::string fields = "datasets: [{webdataset: {path: a.tar, fields: {";
  EXPECT_EQ(Config(fields + "image: jpg, label: {json: $.id}}}}]"),
            Config(fields + "image: {from: jpg}, label: {json: $.id}}}}]"));
  EXPECT_EQ(Config(fields + "image: [jpg]}}}]"),
            "f.yaml:1:55: datasets[0].webdataset.fields.image: expected a mapping, found a list");
}

TEST(YamlProtoTest, ReadsNumbersToTheirBounds) {
  EXPECT_EQ(Config("workers: 4294967295\nmax_pixels: 18446744073709551615"),
            "workers: 4294967295 max_pixels: 18446744073709551615");
  EXPECT_EQ(Pipeline("ops: [{Resize: {max_size: -2147483648}}]"), "ops { resize { max_size: -2147483648 } }");
  EXPECT_EQ(Pipeline("ops: [{Normalize: {mean: [1, .5, -1e-3, 1.E2]}}]"),
            "ops { normalize { mean: 1 mean: 0.5 mean: -0.001 mean: 100 } }");
}

TEST(YamlProtoTest, QuotesMakeNoDifference) {
  EXPECT_EQ(Config("workers: '4'\nlisten: \"5\"\ninsecure: 'true'"), Config("workers: 4\nlisten: 5\ninsecure: true"));
  EXPECT_EQ(Config("listen: 'null'"), R"(listen: "null")");
}

TEST(YamlProtoTest, KeepsTextInUtf8) {
  EXPECT_EQ(Read<v1::ImageFolder>("path: \"/d\xc3\xa4ten/\\u00e9\""), R"(path: "/d\303\244ten/\303\251")");
}

TEST(YamlProtoTest, ForgetsWhatTheMessageHeld) {
  v1::ServerConfig config;
  config.set_workers(3);
  ASSERT_EQ(ParseYaml("listen: x", "f.yaml", config), absl::OkStatus());
  EXPECT_FALSE(config.workers());
}

struct Mistake {
  std::string yaml;
  std::string error;
};

std::string Nested(int levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(YamlProtoTest, ErrorsInAConfigurationNameThePlaceTheKeyAndTheRemedy) {
  const Mistake mistakes[] = {
      // Keys.
      {"datasets:\n  - name: a\n    image_foldr: {path: /d}",
       "f.yaml:3:5: datasets[0].image_foldr: unknown key; did you mean 'image_folder'?"},
      {"datasets:\n- image_folder:\n    paht: /d",
       "f.yaml:3:5: datasets[0].image_folder.paht: unknown key; did you mean "
       "'path'?"},
      {"Listen: x", "f.yaml:1:1: Listen: unknown key; did you mean 'listen'?"},
      {"memoryLimit: 8GiB", "f.yaml:1:1: memoryLimit: unknown key; did you mean 'memory_limit'?"},
      {"log:\n  colour: red", "f.yaml:2:3: log.colour: unknown key; known are format, level"},
      {"{insecure: true, log: {zebra: 1}}", "f.yaml:1:24: log.zebra: unknown key; known are format, level"},
      {"log: {LogConfig: {}}", "f.yaml:1:7: log.LogConfig: unknown key; known are format, level"},
      {"listen: a\nworkers: 1\nlisten: b", "f.yaml:3:1: listen: repeated key; it is also in line 1"},
      {"log: {}\nLogConfig: {}", "f.yaml:2:1: LogConfig: repeated key; it is also in line 1"},
      {"pipelines:\n  a: {}\n  b: {}\n  a: {}", "f.yaml:4:3: pipelines.a: repeated key; it is also in line 2"},
      {"datasets:\n- name: a\n  image_folder: {path: b}\n  synthetic: {samples: 1}",
       "f.yaml:4:3: datasets[0].synthetic: only one of 'image_folder' (line 3) and 'synthetic' may be given"},
      {"datasets: [{image_folder: , synthetic: }]",
       "f.yaml:1:29: datasets[0].synthetic: only one of 'image_folder' (line 1) and 'synthetic' may be given"},
      {"\"a\\nb\": 1",
       "f.yaml:1:1: a\\nb: unknown key; known are listen, insecure, workers, memory_limit, max_pixels, "
       "cache_dir, log, datasets, pipelines, drain_seconds, span_cache, tls, access, limits, read_ahead, raw_cache, "
       "decoded_cache, ops, python_ops, admin, numa"},
      // Scalars.
      {"workers: abc", "f.yaml:1:10: workers: expected a whole number, found 'abc'"},
      {"workers: 1.5", "f.yaml:1:10: workers: expected a whole number, found '1.5'"},
      {"workers: ''", "f.yaml:1:10: workers: expected a whole number, found ''"},
      {"workers: '-'", "f.yaml:1:10: workers: expected a whole number, found '-'"},
      {"workers: 0x10", "f.yaml:1:10: workers: expected a whole number, found '0x10'"},
      {"workers: ' 1'", "f.yaml:1:10: workers: expected a whole number, found ' 1'"},
      {"workers: -1", "f.yaml:1:10: workers: expected a whole number from 0 to 4294967295, found '-1'"},
      {"workers: 4294967296", "f.yaml:1:10: workers: expected a whole number from 0 to 4294967295, found '4294967296'"},
      {"max_pixels: 18446744073709551616",
       "f.yaml:1:13: max_pixels: expected a whole number from 0 to "
       "18446744073709551615, found '18446744073709551616'"},
      {"workers:\nlisten: x", "f.yaml:1:1: workers: expected a whole number, found nothing"},
      {"workers: [4]", "f.yaml:1:10: workers: expected a whole number, found a list"},
      {"workers: {n: 4}", "f.yaml:1:10: workers: expected a whole number, found a mapping"},
      {"insecure: yes", "f.yaml:1:11: insecure: expected true or false, found 'yes'"},
      {"listen:", "f.yaml:1:1: listen: expected text, found nothing"},
      {"listen: [a]", "f.yaml:1:9: listen: expected text, found a list"},
      {"log: {format: jsn}", "f.yaml:1:15: log.format: expected one of text, json, found 'jsn'; did you mean 'json'?"},
      {"log: {level: 3}", "f.yaml:1:14: log.level: expected one of debug, info, warning, error, found '3'"},
      {"log: {level: }", "f.yaml:1:7: log.level: expected one of debug, info, warning, error, found nothing"},
      {"listen: \"a\\0b\"", "f.yaml:1:9: not text in UTF-8, or with a zero byte"},
      // Lists and mappings.
      {"log: json", "f.yaml:1:6: log: expected a mapping, found 'json'"},
      {"log: [json]", "f.yaml:1:6: log: expected a mapping, found a list"},
      {"log: level", "f.yaml:1:6: log: expected a mapping, found 'level'; write 'level:'"},
      {"datasets:\n  name: a", "f.yaml:2:3: datasets: expected a list, found a mapping; begin each entry with '- '"},
      {"datasets: a", "f.yaml:1:11: datasets: expected a list, found 'a'"},
      {"datasets: [a]", "f.yaml:1:12: datasets[0]: expected a mapping, found 'a'"},
      {"pipelines: [a]", "f.yaml:1:12: pipelines: expected a mapping, found a list"},
      {"- a", "f.yaml:1:1: expected a mapping, found a list"},
      {"listen", "f.yaml:1:1: expected a mapping, found 'listen'; write 'listen:'"},
      // What is not YAML, or more of it than a configuration needs.
      {"listen: [a\nworkers: 1", "f.yaml:2:8: end of sequence flow not found"},
      {"listen: a\n\tworkers: 1", "f.yaml:2:1: illegal tab when looking for indentation"},
      {"listen: 'a", "f.yaml:1:11: illegal EOF in scalar"},
      {"listen: \"\\\x01\"", "f.yaml:1:12: unknown escape character: \\x01"},
      {"listen: &a b", "f.yaml:1:9: anchors are not supported"},
      {"listen: *a", "f.yaml:1:9: the referenced anchor is not defined"},
      {"listen: !!str b", "f.yaml:1:9: tags are not supported"},
      {"log: !x {}", "f.yaml:1:6: tags are not supported"},
      {"? [a]\n: b", "f.yaml:1:3: a key must be text"},
      {": b", "f.yaml:1:1: a key must be text"},
      {"listen: a\n---\nlisten: b", "f.yaml:2:1: a second document"},
      {"listen: \"\xff\"", "f.yaml: not text in UTF-8, or with a zero byte"},
      {std::string("listen: \0", 9), "f.yaml: not text in UTF-8, or with a zero byte"},
  };
  for (const Mistake& mistake : mistakes) EXPECT_EQ(Config(mistake.yaml), mistake.error) << mistake.yaml;
}

TEST(YamlProtoTest, ErrorsInAPipelineNameTheOp) {
  const Mistake mistakes[] = {
      {"ops:\n- RandomResizeCrop: {size: 224}",
       "f.yaml:2:3: ops[0].RandomResizeCrop: unknown key; did you mean 'RandomResizedCrop'?"},
      {"ops:\n- random_resize_crop: {size: 224}",
       "f.yaml:2:3: ops[0].random_resize_crop: unknown key; did you mean 'random_resized_crop'?"},
      {"ops:\n- fog: {amount: [1]}",
       "f.yaml:2:17: ops[0].fog.amount: expected a number, a text, true or false, found a list"},
      {"ops:\n- fog: 1", "f.yaml:2:8: ops[0].fog: expected a mapping of arguments, found '1'"},
      {"ops:\n- {fog: , Resize: }", "f.yaml:2:11: ops[0].Resize: only one of 'fog' (line 2) and 'Resize' may be given"},
      {"ops:\n- {Resize: , fog: }", "f.yaml:2:14: ops[0].fog: only one of 'Resize' (line 2) and 'fog' may be given"},
      {"ops:\n- {fog: , salt: }", "f.yaml:2:11: ops[0].salt: only one of 'fog' (line 2) and 'salt' may be given"},
      {"ops:\n- Resize: {size: 224}\n- Resize: {size: [1, two]}",
       "f.yaml:3:22: ops[1].Resize.size[1]: expected a whole number, found 'two'"},
      {"ops: [{Resize: {size: 2147483648}}]",
       "f.yaml:1:23: ops[0].Resize.size: expected a whole number from -2147483648 to 2147483647, found '2147483648'"},
      {"ops: [{Resize: {size: [1, ]}}]", ""},
      {"ops: [{Resize: {size: [1, , 2]}}]",
       "f.yaml:1:27: ops[0].Resize.size[1]: expected a whole number, found nothing"},
      {"ops: [{RandomHorizontalFlip: {p: half}}]",
       "f.yaml:1:34: ops[0].RandomHorizontalFlip.p: expected a number, found 'half'"},
      {"ops: [{RandomHorizontalFlip: {p: nan}}]",
       "f.yaml:1:34: ops[0].RandomHorizontalFlip.p: expected a number, found 'nan'"},
      {"ops: [{RandomHorizontalFlip: {p: 1e999}}]",
       "f.yaml:1:34: ops[0].RandomHorizontalFlip.p: expected a finite number, found '1e999'"},
      {"ops: [{RandomHorizontalFlip: {p: ' 1'}}]",
       "f.yaml:1:34: ops[0].RandomHorizontalFlip.p: expected a number, found ' 1'"},
      {"ops: [{ToDtype: {dtype: flot32}}]",
       "f.yaml:1:25: ops[0].ToDtype.dtype: expected one of uint8, int16, int32, int64, float16, bfloat16, float32, "
       "float64, found 'flot32'; did you mean 'float32'?"},
      {"ops:\n- RandomHorizontalFlip",
       "f.yaml:2:3: ops[0]: expected a mapping, found 'RandomHorizontalFlip'; write "
       "'RandomHorizontalFlip:'"},
      {"ops:\n- Resize: {size: 1}\n  CenterCrop: {size: 1}",
       "f.yaml:3:3: ops[0].CenterCrop: only one of 'Resize' (line 2) and 'CenterCrop' may be given"},
  };
  for (const Mistake& mistake : mistakes) {
    if (mistake.error.empty()) {
      EXPECT_THAT(Pipeline(mistake.yaml), StartsWith("ops {")) << mistake.yaml;
    } else {
      EXPECT_EQ(Pipeline(mistake.yaml), mistake.error) << mistake.yaml;
    }
  }
  EXPECT_THAT(Pipeline("ops:\n- Zebra:"),
              StartsWith("f.yaml:2:3: ops[0].Zebra: unknown key; known are placement, RandomResizedCrop, Resize, "));
}

TEST(YamlProtoTest, ATypesNameIsNoKeyWhereTwoFieldsHaveTheType) {
  google::protobuf::FileDescriptorProto file;
  ASSERT_TRUE(TextFormat::ParseFromString(R"(
    name: "twice.proto" syntax: "proto3"
    message_type { name: "Point" }
    message_type {
      name: "Segment"
      field { name: "from" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: "Point" }
      field { name: "to" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: "Point" }
    })",
                                          &file));
  google::protobuf::DescriptorPool pool;
  google::protobuf::DynamicMessageFactory factory;
  const google::protobuf::Descriptor* type = pool.BuildFile(file)->FindMessageTypeByName("Segment");
  std::unique_ptr<google::protobuf::Message> segment(factory.GetPrototype(type)->New());
  EXPECT_EQ(ParseYaml("from: {}", "f.yaml", *segment), absl::OkStatus());
  EXPECT_EQ(ParseYaml("Point: {}", "f.yaml", *segment).message(), "f.yaml:1:1: Point: unknown key; known are from, to");
}

TEST(YamlProtoTest, ErrorsShowLongValuesCut) {
  EXPECT_EQ(Config("workers: " + std::string(1000, 'x')),
            "f.yaml:1:10: workers: expected a whole number, found '" + std::string(64, 'x') + "...'");
}

TEST(YamlProtoTest, BoundsTheTextAndItsDepth) {
  EXPECT_EQ(Config("listen: " + std::string(kMaxYamlBytes - 8, 'x')).size(), kMaxYamlBytes - 8 + 10);
  EXPECT_EQ(Config("listen: " + std::string(kMaxYamlBytes - 7, 'x')), "f.yaml: exceeds 1048576 bytes");
  EXPECT_EQ(Config("log: " + Nested(31)), "f.yaml:1:6: log: expected a mapping, found a list");
  EXPECT_EQ(Config("log: " + Nested(32)), "f.yaml:1:37: nested deeper than 32 levels");
}

TEST(YamlProtoTest, HostileNestingEndsInAnErrorNotAnOverflow) {
  for (const std::string unit : {"[", "{", "{a: ", "- ", "? ", ": ", "[? ", "[[{"}) {
    std::string yaml;
    while (yaml.size() < kMaxYamlBytes / 8) yaml += unit;
    EXPECT_THAT(Config(yaml), StartsWith("f.yaml:1:")) << unit;
  }
}

class YamlFileTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/yaml_file_test." + std::to_string(getpid()) + "." + name;
    std::ofstream(path) << text;
    paths_.push_back(path);
    return path;
  }
  void TearDown() override {
    for (const std::string& path : paths_) std::filesystem::remove(path);
  }

  v1::ServerConfig config_;

 private:
  std::vector<std::string> paths_;
};

TEST_F(YamlFileTest, ReadsAFileAndNamesItInErrors) {
  const std::string good = Write("good", "workers: 3"), bad = Write("bad", "workrs: 3");
  EXPECT_EQ(ReadYamlFile(good, config_), absl::OkStatus());
  EXPECT_EQ(config_.workers(), 3);
  EXPECT_EQ(ReadYamlFile(bad, config_),
            absl::InvalidArgumentError(bad + ":1:1: workrs: unknown key; did you mean 'workers'?"));
}

TEST_F(YamlFileTest, RefusesAFileAboveTheBound) {
  const std::string path = Write("large", std::string(kMaxYamlBytes + 1, '#'));
  EXPECT_EQ(ReadYamlFile(path, config_), absl::InvalidArgumentError(path + ": exceeds 1048576 bytes"));
}

TEST_F(YamlFileTest, SaysWhyAFileCannotBeRead) {
  const absl::Status missing = ReadYamlFile("/no/such/file.yaml", config_);
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/no/such/file.yaml: No such file or directory"));
  EXPECT_THAT(std::string(ReadYamlFile("/", config_).message()), HasSubstr("/: Is a directory"));
}

}  // namespace
}  // namespace stoker
