#include "client/capi/options.h"

#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "client/capi/documents.h"
#include "common/config/yaml_proto.h"
#include "common/pipeline/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CreateOptions Parsed(const std::string& text) {
  auto options = ParseCreateOptions(text.c_str());
  EXPECT_TRUE(options.ok()) << options.status();
  return options.ok() ? *std::move(options) : CreateOptions();
}

std::string ErrorOf(const std::string& text) {
  const auto options = ParseCreateOptions(text.c_str());
  EXPECT_TRUE(absl::IsInvalidArgument(options.status())) << options.status();
  return std::string(options.status().message());
}

// The error of options that are right but for `more`.
std::string ErrorWith(const std::string& more) {
  return ErrorOf(R"({"servers": ["a"], "batch_size": 4, )" + more + "}");
}

TEST(CapiOptionsTest, LeaveDefaultsWhereNothingIsSaid) {
  const CreateOptions options = Parsed(R"({"servers": ["a:1", "b"], "batch_size": 256, "dataset": null})");
  EXPECT_THAT(options.client.servers, ElementsAre("a:1", "b"));
  EXPECT_FALSE(options.client.connect_timeout.has_value());
  EXPECT_EQ(options.loader.batch_size, 256);
  EXPECT_EQ(options.loader.dataset, "");
  EXPECT_FALSE(options.loader.pipeline.has_value());
  EXPECT_EQ(options.loader.rank, -1);
  EXPECT_EQ(options.loader.prefetch_bytes, LoaderOptions().prefetch_bytes);
  EXPECT_EQ(options.device, "cpu");
  EXPECT_EQ(options.device_options.pin, Pin::kAuto);
}

TEST(CapiOptionsTest, ReadEveryKey) {
  const CreateOptions options = Parsed(R"({
    "servers": ["a"], "connect_timeout": 1.5, "connections": 3, "tls_ca_file": "ca.pem", "tls_server_name": "n",
    "tls_cert_file": "c.pem", "tls_key_file": "k.pem", "token_file": "token",
    "batch_size": 4, "dataset": "d", "pipeline_name": "p", "device": "cuda:1", "pin": "off", "pinned_bytes": 1048576,
    "seed": 18446744073709551615, "shuffle": {"mode": "block", "block_samples": 64, "window_blocks": 2},
    "last_batch": "pad", "rank": 1, "world_size": 2, "prefetch": 5, "prefetch_bytes": 1000, "names": true,
    "progress_timeout": 7, "span_deadline": 0.25, "verify": 0.5, "verify_policy": "warn"})");
  EXPECT_EQ(options.client.connect_timeout, absl::Milliseconds(1500));
  EXPECT_EQ(options.client.connections, 3);
  EXPECT_EQ(options.client.tls_ca_file, "ca.pem");
  EXPECT_EQ(options.client.tls_server_name, "n");
  EXPECT_EQ(options.client.tls_cert_file, "c.pem");
  EXPECT_EQ(options.client.tls_key_file, "k.pem");
  EXPECT_EQ(options.client.token_file, "token");
  EXPECT_EQ(options.loader.dataset, "d");
  EXPECT_EQ(options.loader.pipeline_name, "p");
  EXPECT_EQ(options.device, "cuda:1");
  EXPECT_EQ(options.device_options.pin, Pin::kOff);
  EXPECT_EQ(options.device_options.pinned_bytes, 1048576u);
  EXPECT_EQ(options.loader.seed, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(options.loader.shuffle.mode(), v1::SHUFFLE_MODE_BLOCK);
  EXPECT_EQ(options.loader.shuffle.block_samples(), 64u);
  EXPECT_EQ(options.loader.shuffle.window_blocks(), 2u);
  EXPECT_EQ(options.loader.last_batch, LastBatch::kPad);
  EXPECT_EQ(options.loader.rank, 1);
  EXPECT_EQ(options.loader.world_size, 2);
  EXPECT_EQ(options.loader.prefetch, 5);
  EXPECT_EQ(options.loader.prefetch_bytes, 1000u);
  EXPECT_TRUE(options.loader.names);
  EXPECT_EQ(options.loader.progress_timeout, absl::Seconds(7));
  EXPECT_EQ(options.loader.span_deadline, absl::Milliseconds(250));
  EXPECT_EQ(options.loader.verify, 0.5);
  EXPECT_EQ(options.loader.verify_policy, VerifyPolicy::kWarn);
}

TEST(CapiOptionsTest, APipelineIsJsonOrYaml) {
  v1::Pipeline wanted;
  ASSERT_TRUE(ParseYaml(R"(
ops:
- RandomResizedCrop: {size: 224, scale: [0.25, 1], interpolation: bilinear}
- RandomHorizontalFlip:
- ToDtype: {dtype: float32, scale: true}
)",
                        "wanted", wanted)
                  .ok());
  const CreateOptions json = Parsed(R"({"servers": ["a"], "batch_size": 1, "pipeline": {"ops": [
    {"RandomResizedCrop": {"size": 224, "scale": [0.25, 1.0], "interpolation": "bilinear"}},
    {"RandomHorizontalFlip": {}}, {"ToDtype": {"dtype": "float32", "scale": true}}]}})");
  EXPECT_EQ(json.loader.pipeline->SerializeAsString(), wanted.SerializeAsString());
  const nlohmann::json as_text = {{"servers", {"a"}}, {"batch_size", 1}, {"pipeline", ToYaml(wanted)}};
  EXPECT_EQ(Parsed(as_text.dump()).loader.pipeline->SerializeAsString(), wanted.SerializeAsString());
  const nlohmann::json again = {{"servers", {"a"}}, {"batch_size", 1}, {"pipeline", ToJson(wanted)}};
  EXPECT_EQ(Parsed(again.dump()).loader.pipeline->SerializeAsString(), wanted.SerializeAsString());
}

TEST(CapiOptionsTest, APipelineWithDefaultsFilledInIsTheSamePipeline) {
  const v1::Pipeline full = WithDefaults(DefaultPipeline());
  const nlohmann::json options = {{"servers", {"a"}}, {"batch_size", 1}, {"pipeline", ToJson(full)}};
  const CreateOptions parsed = Parsed(options.dump());
  EXPECT_EQ(parsed.loader.pipeline->SerializeAsString(), full.SerializeAsString());
  EXPECT_TRUE(ValidatePipeline(*parsed.loader.pipeline).ok());
  EXPECT_EQ(WholeHash(full), WholeHash(DefaultPipeline()));
}

TEST(CapiOptionsTest, NumbersAreAsShortAsTheyWereWritten) {
  v1::Pipeline pipeline;
  ASSERT_TRUE(ParseYaml("ops: [RandomResizedCrop: {size: 8, scale: [0.1, 1]}]", "p", pipeline).ok());
  EXPECT_THAT(ToJson(pipeline).dump(), HasSubstr(R"("scale":[0.1,1.0])"));
}

TEST(CapiOptionsTest, ErrorsNameTheKey) {
  EXPECT_EQ(ErrorWith(R"("batch_sise": 4)"), "options.batch_sise: unknown key; did you mean 'batch_size'?");
  EXPECT_EQ(ErrorWith(R"("zzz": 4)"), "options.zzz: unknown key");
  EXPECT_EQ(ErrorOf(R"({"batch_size": 4})"), "options.servers: expected a list of at least one address");
  EXPECT_EQ(ErrorOf(R"({"servers": ["a"]})"), "options.batch_size: is required");
  EXPECT_EQ(ErrorWith(R"("servers": "a")"), "options: key 'servers' is there twice");
  EXPECT_EQ(ErrorOf(R"({"servers": "a", "batch_size": 1})"), "options.servers: expected a list of texts, found 'a'");
  EXPECT_EQ(ErrorOf(R"({"servers": ["a"], "batch_size": 0})"),
            "options.batch_size: expected a whole number from 1 to 1073741824, found 0");
  for (const char* number : {"-1", "1.5", "\"1\"", "true", "[1]", "1e400"})
    EXPECT_THAT(ErrorWith(std::string(R"("seed": )") + number), HasSubstr("options")) << number;
  EXPECT_EQ(ErrorWith(R"("seed": -1)"),
            "options.seed: expected a whole number from 0 to 18446744073709551615, found -1");
  EXPECT_EQ(ErrorWith(R"("names": 1)"), "options.names: expected true or false, found 1");
  EXPECT_EQ(ErrorWith(R"("dataset": 1)"), "options.dataset: expected text, found 1");
  EXPECT_EQ(ErrorWith(R"("verify": 2)"), "options.verify: expected a number from 0 to 1, found 2");
  EXPECT_EQ(ErrorWith(R"("progress_timeout": 0)"),
            "options.progress_timeout: expected seconds, above 0 and at most a year's, found 0");
  EXPECT_EQ(ErrorWith(R"("pin": "aut")"),
            "options.pin: expected one of auto, on, off, found 'aut'; did you mean 'auto'?");
  EXPECT_EQ(ErrorWith(R"("shuffle": "all")"),
            "options.shuffle: expected one of full, none, block, weighted, found 'all'");
  EXPECT_EQ(ErrorWith(R"("shuffle": {"mod": "full"})"), "options.shuffle.mod: unknown key; did you mean 'mode'?");
  EXPECT_EQ(ErrorWith(R"("tls_server_name": "x")"), "options.tls_server_name: needs tls_ca_file");
  EXPECT_EQ(ErrorWith(R"("tls_cert_file": "x", "tls_key_file": "y")"), "options.tls_cert_file: needs tls_ca_file");
  EXPECT_EQ(ErrorWith(R"("tls_ca_file": "z", "tls_key_file": "y")"),
            "options.tls_cert_file: must be given: a certificate and its key go together");
  EXPECT_EQ(ErrorWith(R"("pipeline": {}, "pipeline_name": "x")"),
            "options.pipeline_name: give a pipeline or its name, not both");
  EXPECT_EQ(ErrorWith(R"("pipeline": 3)"), "options.pipeline: expected an object or YAML");
}

TEST(CapiOptionsTest, TakeWhatIsNotGivenFromTheEnvironment) {
  const std::pair<const char*, const char*> variables[] = {{"STOKER_TLS_CA", "ca"},
                                                           {"STOKER_TLS_CERT", "certificate"},
                                                           {"STOKER_TLS_KEY", "key"},
                                                           {"STOKER_TOKEN_FILE", "token"}};
  for (const auto& [name, value] : variables) setenv(name, value, 1);
  const absl::Cleanup forget = [&] {
    for (const auto& [name, value] : variables) unsetenv(name);
  };
  const CreateOptions options = Parsed(R"({"servers": ["a"], "batch_size": 1})");
  EXPECT_EQ(options.client.tls_ca_file, "ca");
  EXPECT_EQ(options.client.tls_cert_file, "certificate");
  EXPECT_EQ(options.client.tls_key_file, "key");
  EXPECT_EQ(options.client.token_file, "token");
  const CreateOptions given = Parsed(R"({"servers": ["a"], "batch_size": 1, "tls_ca_file": "a", "tls_cert_file": "b",
                                         "tls_key_file": "c", "token_file": "d"})");
  EXPECT_EQ(given.client.tls_ca_file, "a");
  EXPECT_EQ(given.client.tls_cert_file, "b");
  EXPECT_EQ(given.client.tls_key_file, "c");
  EXPECT_EQ(given.client.token_file, "d");
  // No key is taken from elsewhere for a certificate that was given.
  EXPECT_EQ(ErrorWith(R"("tls_cert_file": "b")"),
            "options.tls_key_file: must be given: a certificate and its key go together");
}

TEST(CapiOptionsTest, ErrorsInAPipelineNameTheOp) {
  EXPECT_EQ(ErrorWith(R"("pipeline": {"ops": [{"RandomCrop": {"siz": 8}}]})"),
            "options.pipeline: pipeline: ops[0].RandomCrop.siz: unknown key; did you mean 'size'?");
  EXPECT_EQ(ErrorWith(R"("pipeline": "ops:\n- RandomCrop: {siz: 8}\n")"),
            "options.pipeline: pipeline:2:16: ops[0].RandomCrop.siz: unknown key; did you mean 'size'?");
}

TEST(CapiOptionsTest, TextThatIsNoJsonIsRefused) {
  EXPECT_THAT(ErrorOf("{"), HasSubstr("options: parse error"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("options: "));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("options: expected an object, found []"));
  EXPECT_THAT(ErrorOf("\"\xff\""), HasSubstr("options: "));
  EXPECT_THAT(ErrorOf(std::string(100000, '[')), HasSubstr("nested deeper than 32 levels"));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCreateOptions(nullptr).status()));
}

TEST(CapiOptionsTest, OfAListingAreOfServersOnly) {
  EXPECT_TRUE(ParseClientOptions(R"({"servers": ["a"]})").ok());
  EXPECT_THAT(std::string(ParseClientOptions(R"({"servers": ["a"], "seed": 1})").status().message()),
              HasSubstr("options.seed: unknown key"));
}

}  // namespace
}  // namespace stoker
