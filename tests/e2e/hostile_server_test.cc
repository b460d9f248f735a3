// A real client whose server sends what no stokerd sends: it says so, names the server, and its memory stays small.

#include "tests/support/hostile_server.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "stoker/v1/data_service.pb.h"
#include "tests/support/cluster.h"
#include "tests/support/process.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// Today's client takes some 40 MB, and one under a sanitizer some 300.
constexpr uint64_t kMostMemory = uint64_t{512} << 20;

// What a client's process came to.
struct Outcome {
  int status = 0;
  std::string error;
  uint64_t peak_memory = 0;  // bytes
};

Outcome RunClient(const std::string& command, const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {ProgramPath("stoker"), command};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  Process client(std::move(arguments));
  Outcome outcome;
  while (!client.Ended()) {
    outcome.peak_memory = std::max(outcome.peak_memory, client.PeakMemory());
    absl::SleepFor(absl::Milliseconds(2));
  }
  outcome.status = client.Wait();
  outcome.error = client.Stderr();
  return outcome;
}

void ExpectRefusal(const Outcome& outcome, const HostileServer& server, const std::string& reason) {
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.error, HasSubstr(server.address() + ": "));
  EXPECT_THAT(outcome.error, HasSubstr(reason));
  EXPECT_LT(outcome.peak_memory, kMostMemory);
}

// Fields of two bytes each, which take eighty times as much once they are parsed: descriptions of no bytes.
std::string ManyFields(int number, size_t bytes) {
  std::string message(bytes, '\0');
  for (size_t i = 0; i < bytes; i += 2) message[i] = static_cast<char>(number << 3 | 2);
  return message;
}

TEST(HostileServerTest, AnAnswerOfAHundredMegabytesIsNotTaken) {
  const std::string answer = ManyFields(v1::DescribeResponse::kFieldsFieldNumber, 114 << 20);
  HostileServer server([&](const std::string&) -> HostileServer::Answer { return {{answer}}; });
  ExpectRefusal(RunClient("describe", {"--servers", server.address(), "--dataset", "photos"}), server,
                "its answer exceeds 1048576 bytes, which no stokerd sends");
}

TEST(HostileServerTest, AnAnswerThatInflatesAThousandfoldIsNotInflated) {
  HostileServer server([](const std::string&) -> HostileServer::Answer {
    return {.messages = {ManyFields(v1::DescribeResponse::kFieldsFieldNumber, 240 << 20)}, .gzip = true};
  });
  ExpectRefusal(RunClient("describe", {"--servers", server.address(), "--dataset", "photos"}), server, "");
}

TEST(HostileServerTest, HeadersAboveTheirBoundAreNotTaken) {
  HostileServer server([](const std::string&) -> HostileServer::Answer {
    return {.messages = {""}, .headers = {{"long", std::string(1 << 20, 'x')}}};
  });
  ExpectRefusal(RunClient("list", {"--servers", server.address()}), server, "");
}

TEST(HostileServerTest, AnAnswerThatIsNoMessageIsSaidToBe) {
  HostileServer server([](const std::string&) -> HostileServer::Answer { return {{"no message"}}; });
  ExpectRefusal(RunClient("list", {"--servers", server.address()}), server, "it does not parse");
}

TEST(HostileServerTest, ADescriptionWithNumbersThatCannotBeIsRefused) {
  v1::DescribeResponse description;
  description.set_span_samples(1);
  description.set_sample_bytes(uint64_t{1} << 40);
  v1::Field& field = *description.add_fields();
  field.set_name("image"), field.set_dtype(v1::DTYPE_UINT8), field.add_shape(int64_t{1} << 40);
  HostileServer server(
      [&](const std::string&) -> HostileServer::Answer { return {{description.SerializeAsString()}}; });
  for (const char* command : {"describe", "digest"})
    ExpectRefusal(RunClient(command, {"--servers", server.address(), "--dataset", "photos"}), server,
                  "its answer is not what a stokerd sends: field 'image'");
}

TEST(HostileServerTest, PartsOfAMixThatCannotBeAreRefused) {
  v1::DescribeResponse description;
  description.set_span_samples(1);
  description.set_sample_bytes(1);
  description.set_dataset_samples(100);
  description.mutable_identity()->set_samples(100);
  v1::Field& field = *description.add_fields();
  field.set_name("image"), field.set_dtype(v1::DTYPE_UINT8);
  for (int i = 0; i < 50'000; ++i) description.add_parts()->set_end(i + 1);
  const std::string thousands = description.SerializeAsString();
  HostileServer many([&](const std::string&) -> HostileServer::Answer { return {{thousands}}; });
  description.clear_parts();
  description.add_parts()->set_name(std::string(900'000, 'x'));
  const std::string long_name = description.SerializeAsString();
  HostileServer named([&](const std::string&) -> HostileServer::Answer { return {{long_name}}; });
  description.mutable_parts(0)->set_name("photos");
  description.mutable_parts(0)->set_end(~uint64_t{0});
  const std::string beyond = description.SerializeAsString();
  HostileServer larger([&](const std::string&) -> HostileServer::Answer { return {{beyond}}; });
  const std::string refused = "its answer is not what a stokerd sends: ";
  for (const char* command : {"describe", "digest"}) {
    const auto run = [&](const HostileServer& server) {
      return RunClient(command, {"--servers", server.address(), "--dataset", "photos"});
    };
    ExpectRefusal(run(many), many, refused + "50000 parts");
    ExpectRefusal(run(named), named, refused + "a part with a name of 900000 bytes");
    ExpectRefusal(run(larger), larger, refused + "parts of 18446744073709551615 samples");
  }
}

TEST(HostileServerTest, AStreamThatOpensWithAHundredMegabytesEndsInTheReason) {
  Cluster cluster(1, SyntheticConfig(100));
  const auto client = Client::Create({.servers = cluster.addresses()});
  v1::DescribeRequest request;
  request.set_dataset("synthetic");
  const auto description = (*client)->Describe(request);
  ASSERT_TRUE(description.ok()) << description.status();
  const std::string opened = std::string{0x0a, '\x80', '\x80', '\x80', 0x32} + std::string(100 << 20, '\0');
  HostileServer server([&](const std::string& method) -> HostileServer::Answer {
    return {{method == "Stream" ? opened : description->SerializeAsString()}};
  });
  LoaderOptions job = {.servers = {server.address()}, .dataset = "synthetic", .batch_size = 10};
  job.progress_timeout = absl::InfiniteDuration();
  const auto loader = Loader::Create(job);
  ASSERT_TRUE(loader.ok()) << loader.status();
  std::string problem;
  while (!absl::StrContains(problem, "is no span")) {
    EXPECT_TRUE(absl::IsDeadlineExceeded((*loader)->Await(absl::Milliseconds(20))));
    for (const auto& each : (*loader)->stats().servers) problem = each.problem;
  }
  EXPECT_EQ(problem, "a message of 104857605 bytes that is no span");
}

}  // namespace
}  // namespace stoker
