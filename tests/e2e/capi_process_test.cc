// libstoker.so in a process that has a gRPC and a protobuf of its own, with messages of the same names as the
// library's.

#include <dlfcn.h>

#include <thread>

#include "client/capi/stoker.h"
#include "gmock/gmock.h"
#include "google/protobuf/timestamp.pb.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "stoker/v1/pipeline.pb.h"
#include "tests/support/cluster.h"
#include "tests/support/process.h"
#include "tests/unit/client/capi/job.h"

namespace stoker {
namespace {

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(CapiProcessTest, APlainCProgramGetsTheSameEpoch) {
  Cluster cluster(1, SyntheticConfig(500));
  LoaderOptions options;
  options.servers = cluster.addresses();
  options.batch_size = 32;
  options.last_batch = LastBatch::kPartial;
  const EpochResult expected = RunEpoch(options);
  ASSERT_TRUE(expected.status.ok()) << expected.status;
  const Finished program = RunProgram({"epoch-digest", cluster.addresses()[0], "17"});
  EXPECT_EQ(program.status, 0) << program.err;
  EXPECT_EQ(FirstLine(program.out), expected.digest);
  EXPECT_THAT(program.err, testing::HasSubstr("\"dataset\":\"synthetic\""));
}

TEST(CapiProcessTest, StandsBesideAnotherProtobufAndGrpc) {
  v1::Pipeline pipeline;
  pipeline.add_ops()->mutable_center_crop()->add_size(8);
  google::protobuf::Timestamp time;
  time.set_seconds(7);
  std::string json;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(time, &json).ok());
  Cluster cluster(1, SyntheticConfig(200));  // This program's gRPC serves, the library's reads.
  LoaderOptions options;
  options.servers = cluster.addresses();
  options.pipeline = pipeline;
  options.batch_size = 16;
  options.last_batch = LastBatch::kPartial;
  EpochResult own;
  std::thread beside([&] { own = RunEpoch(options); });
  nlohmann::json job = Job(cluster);
  job["pipeline"] = {{"ops", {{{"CenterCrop", {{"size", 8}}}}}}};
  const LoaderPtr loader = MakeLoader(job);
  const std::string digest = DigestOf(loader);
  beside.join();
  ASSERT_TRUE(own.status.ok()) << own.status;
  EXPECT_EQ(digest, own.digest) << stoker_error();
  EXPECT_EQ(json, "\"1970-01-01T00:00:07Z\"");
}

TEST(CapiProcessTest, OnlyItsFunctionsAreToBeFound) {
  void* library = dlopen("libstoker.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_NE(dlsym(library, "stoker_version"), nullptr);
  Dl_info info = {};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&stoker_version), &info), 0);
  EXPECT_THAT(info.dli_fname, testing::HasSubstr("libstoker.so"));
}

}  // namespace
}  // namespace stoker
