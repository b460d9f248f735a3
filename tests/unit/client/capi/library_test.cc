// What the C library says of itself, of servers and of errors.

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "client/capi/boundary.h"
#include "client/capi/stoker.h"
#include "common/identity/draws.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/client/capi/job.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(CapiLibraryTest, SaysItsVersions) {
  EXPECT_EQ(stoker_abi_version(), STOKER_ABI_VERSION);
  EXPECT_THAT(stoker_version(), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(CapiLibraryTest, DrawsWhatAnOpInCppDraws) {
  const DrawKey key = {.seed = 1, .epoch = 2, .position = 3, .op = 4, .view = 5};
  Draws draws(key);
  uint32_t words[6];
  stoker_draws_fill(Draws::MixedKey(key), key.position, 0, words, 3);
  stoker_draws_fill(Draws::MixedKey(key), key.position, 3, words + 3, 3);
  for (uint32_t word : words) EXPECT_EQ(word, draws.Bits());
}

TEST(CapiLibraryTest, SaysWhetherADeviceCanBeUsed) {
  EXPECT_EQ(stoker_check_device("cpu"), STOKER_OK);
  EXPECT_EQ(stoker_check_device("cuda:4000"), STOKER_FAILED_PRECONDITION);
  EXPECT_STRNE(stoker_error(), "");
  EXPECT_EQ(stoker_check_device("gpu"), STOKER_INVALID_ARGUMENT);
  EXPECT_THAT(stoker_error(), HasSubstr("'gpu'"));
  EXPECT_EQ(stoker_check_device(nullptr), STOKER_INVALID_ARGUMENT);
}

TEST(CapiLibraryTest, CodesAreThoseOfGrpc) {
  EXPECT_EQ(Report(absl::CancelledError("a")), STOKER_CANCELLED);
  EXPECT_EQ(Report(absl::FailedPreconditionError("b")), STOKER_FAILED_PRECONDITION);
  EXPECT_EQ(Report(absl::UnauthenticatedError("c")), STOKER_UNAUTHENTICATED);
  EXPECT_STREQ(stoker_error(), "c");
  EXPECT_EQ(Report(absl::OkStatus()), STOKER_OK);
  EXPECT_STREQ(stoker_error(), "c") << "success leaves the last error";
}

TEST(CapiLibraryTest, ErrorsAreTheirThreadsOwn) {
  Report(absl::InternalError("here"));
  std::thread([] {
    EXPECT_STREQ(stoker_error(), "");
    Report(absl::InternalError("there"));
    EXPECT_STREQ(stoker_error(), "there");
  }).join();
  EXPECT_STREQ(stoker_error(), "here");
}

TEST(CapiLibraryTest, ALongErrorIsCutBetweenCharacters) {
  std::string text;
  while (text.size() < 10000) text += "€";
  Report(absl::InternalError(text));
  const std::string cut = stoker_error();
  EXPECT_EQ(cut.size(), 4095u - 4095u % 3);
  EXPECT_EQ(cut, text.substr(0, cut.size()));
}

TEST(CapiLibraryTest, NoExceptionLeavesACall) {
  EXPECT_EQ(Call([]() -> absl::Status { throw std::bad_alloc(); }), STOKER_RESOURCE_EXHAUSTED);
  EXPECT_EQ(Call([]() -> absl::Status { throw std::runtime_error("boom"); }), STOKER_INTERNAL);
  EXPECT_STREQ(stoker_error(), "boom");
  EXPECT_EQ(Call([]() -> absl::Status { throw 7; }), STOKER_INTERNAL);
}

TEST(CapiLibraryTest, ListsWhatServersOffer) {
  v1::ServerConfig config = SyntheticConfig(100);
  (*config.mutable_pipelines())["small"].add_ops()->mutable_center_crop()->add_size(8);
  Cluster cluster(1, config);
  char* text = nullptr;
  const nlohmann::json options = {{"servers", cluster.addresses()}, {"connect_timeout", 10}};
  ASSERT_EQ(stoker_list(options.dump().c_str(), &text), STOKER_OK) << stoker_error();
  const auto list = nlohmann::json::parse(Taken(text));
  ASSERT_EQ(list["datasets"].size(), 1u);
  EXPECT_EQ(list["datasets"][0]["name"], "synthetic");
  EXPECT_EQ(list["datasets"][0]["samples"], 100);
  EXPECT_EQ(list["datasets"][0]["fingerprint"].get<std::string>().size(), 64u);
  ASSERT_EQ(list["pipelines"].size(), 1u);
  EXPECT_EQ(list["pipelines"][0]["name"], "small");
  EXPECT_EQ(list["pipelines"][0]["pipeline"]["ops"][0]["CenterCrop"]["size"], nlohmann::json::array({8}));
}

TEST(CapiLibraryTest, ListLeavesItsPointerWhereItFails) {
  char here = 'x', *text = &here;
  EXPECT_EQ(stoker_list(R"({"servers": ["127.0.0.1:1"], "connect_timeout": 0.2})", &text), STOKER_UNAVAILABLE);
  EXPECT_THAT(stoker_error(), HasSubstr("127.0.0.1:1"));
  EXPECT_EQ(text, &here);
  EXPECT_EQ(stoker_list(R"({"servers": ["a"], "batch_size": 1})", &text), STOKER_INVALID_ARGUMENT);
  EXPECT_THAT(stoker_error(), HasSubstr("options.batch_size: unknown key"));
}

TEST(CapiLibraryTest, FreesNothing) { stoker_free(nullptr); }

// Exit status of a forked child that runs `body`.
template <typename Body>
int InChild(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CapiForkTest, ObjectsAreOfNoUseInAChildAndStayInTheParent) {
  Cluster cluster(1, SyntheticConfig(100));
  LoaderPtr loader = MakeLoader(Job(cluster));
  ASSERT_NE(loader, nullptr) << stoker_error();
  BatchPtr batch = Next(loader);
  ASSERT_NE(batch, nullptr) << stoker_error();
  const int status = InChild([&] {
    stoker_batch* next = nullptr;
    stoker_tensor tensor;
    if (stoker_loader_next(loader.get(), -1, &next) != STOKER_FAILED_PRECONDITION) return 1;
    if (std::string(stoker_error()).find("forked") == std::string::npos) return 2;
    if (stoker_batch_get_tensor(batch.get(), 0, &tensor) != STOKER_FAILED_PRECONDITION) return 3;
    batch.reset();
    loader.reset();
    stoker_loader* another = nullptr;
    if (stoker_loader_create(Job(cluster).dump().c_str(), &another) != STOKER_FAILED_PRECONDITION) return 4;
    if (std::string(stoker_error()).find("spawn") == std::string::npos) return 5;
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_NE(Next(loader), nullptr) << stoker_error();
}

}  // namespace
}  // namespace stoker
