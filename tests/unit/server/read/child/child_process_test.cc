#include "server/read/child/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMost = 64 << 20;

ChildProcess::Options TestChild() {
  return {.program = STOKER_TEST_CHILD, .environment = {"A=b"}, .address_space_bytes = 256 << 20};
}

std::unique_ptr<ChildProcess> Started(const ChildProcess::Options& options = TestChild()) {
  auto child = ChildProcess::Start(options);
  EXPECT_TRUE(child.ok()) << child.status();
  return *std::move(child);
}

std::span<const uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

absl::StatusOr<ChildAnswer> Ask(ChildProcess& child, const std::string& request, uint64_t most = kMost) {
  return child.Ask({BytesOf(request)}, most);
}

std::string TextOf(const absl::StatusOr<ChildAnswer>& answer) {
  if (!answer.ok()) return answer.status().ToString();
  return {answer->bytes().begin(), answer->bytes().end()};
}

TEST(ChildProcessTest, AnswersRequestsOfPartsOfAnySize) {
  const auto child = Started();
  EXPECT_EQ(TextOf(Ask(*child, "echo")), "echo");
  const std::string large(20 << 20, 'l');
  EXPECT_EQ(TextOf(child->Ask({BytesOf("e"), {}, BytesOf(large), BytesOf("!")}, kMost)), "e" + large + "!");
  EXPECT_EQ(TextOf(Ask(*child, "p")), std::to_string(child->pid()));
}

TEST(ChildProcessTest, HasNoDescriptorAndNoEnvironmentOfTheServers) {
  const int leaked = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  ASSERT_EQ(setenv("STOKER_SECRET", "password", 1), 0);
  const auto other = Started(), child = Started();
  EXPECT_EQ(TextOf(Ask(*child, "w")), "files 0 1 2 environment A=b");
  EXPECT_EQ(TextOf(Ask(*other, "e")), "e");
  close(leaked);
}

TEST(ChildProcessTest, CanDoNothingButCompute) { EXPECT_EQ(TextOf(Ask(*Started(), "x")), "none"); }

TEST(ChildProcessTest, SaysWhatItsInputIsRefusedFor) {
  const auto child = Started();
  const auto answer = Ask(*child, "r");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->verdict, ChildVerdict::kRefused);
  EXPECT_EQ(TextOf(answer), "the input is wrong\n");
  EXPECT_EQ(TextOf(Ask(*child, "e")), "e");
}

TEST(ChildProcessTest, SaysHowItCrashed) {
  for (const auto& [request, text] : std::vector<std::pair<std::string, std::string>>{
           {"c", "signal 11, SIGSEGV"}, {"a", "signal 6, SIGABRT"}, {"q", "status 7"}, {"t", "status 0"}}) {
    const auto answer = Ask(*Started(), request);
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kAborted) << request << answer.status();
    EXPECT_THAT(TextOf(answer), HasSubstr(text));
  }
}

TEST(ChildProcessTest, DoesNotBlameTheInputWhereAnotherKilledIt) {
  EXPECT_EQ(Ask(*Started(), "k").status().code(), absl::StatusCode::kUnavailable);
  const auto child = Started();
  kill(child->pid(), SIGKILL);
  EXPECT_EQ(Ask(*child, "e").status().code(), absl::StatusCode::kUnavailable);
}

TEST(ChildProcessTest, IsKilledWhereItHangs) {
  ChildProcess::Options options = TestChild();
  options.deadline = absl::Milliseconds(50);
  const auto child = Started(options);
  const pid_t pid = child->pid();
  EXPECT_EQ(Ask(*child, "h").status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ChildProcessTest, ARequestHasSoMuchCpuTime) {
  ChildProcess::Options options = TestChild();
  options.cpu_time = absl::Milliseconds(1);
  const auto answer = Ask(*Started(options), "s");
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kDeadlineExceeded) << answer.status();
  EXPECT_THAT(TextOf(answer), HasSubstr("CPU time"));
}

TEST(ChildProcessTest, MemoryEndsBeforeTheMachines) {
  const auto child = Started();
  const auto answer = Ask(*child, "m");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->verdict, ChildVerdict::kNoMemory);
  EXPECT_EQ(TextOf(Ask(*child, "e")), "e");
}

TEST(ChildProcessTest, AnswersThatNoneCanBeAreItsEnd) {
  EXPECT_THAT(TextOf(Ask(*Started(), "l")), HasSubstr("where at most"));
  EXPECT_THAT(TextOf(Ask(*Started(), "n")), HasSubstr("of kind 9"));
  const auto child = Started();
  EXPECT_EQ(Ask(*child, "b", (1 << 20) - 1).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(TextOf(Ask(*Started(), "b", 1 << 20)).size(), 1u << 20);
}

TEST(ChildProcessTest, FetchesWhatTheServerReadsForIt) {
  const auto child = Started();
  uint64_t next = 7;
  const auto fetch = [&](uint64_t offset, std::span<uint8_t> into) {
    EXPECT_EQ(offset, next);
    EXPECT_LE(into.size(), kMostFetchBytes);
    for (size_t i = 0; i < into.size(); ++i) into[i] = static_cast<uint8_t>((offset + i) % 251);
    next += into.size();
    return absl::OkStatus();
  };
  const std::string request = "f";
  const auto answer = child->Ask({BytesOf(request)}, kMost, fetch);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->size, 20u << 20);
  for (size_t i = 0; i < answer->size; i += 999) EXPECT_EQ(answer->data[i], (7 + i) % 251);
  EXPECT_EQ(TextOf(Ask(*child, "e")), "e");
  EXPECT_THAT(TextOf(Ask(*child, "f")), HasSubstr("of kind 4")) << "nothing may be fetched for this request";
}

TEST(ChildProcessTest, WhatCannotBeFetchedIsItsEnd) {
  const std::string request = "f", much = "g";
  const auto fails = [](uint64_t, std::span<uint8_t>) { return absl::FailedPreconditionError("has changed"); };
  EXPECT_EQ(Started()->Ask({BytesOf(request)}, kMost, fails).status(), absl::FailedPreconditionError("has changed"));
  EXPECT_EQ(Started()->Ask({BytesOf(much)}, kMost, fails).status().code(), absl::StatusCode::kAborted);
}

TEST(ChildProcessTest, AProgramThatIsMissingIsNamed) {
  const auto child = ChildProcess::Start({.program = "/nonexistent/program"});
  EXPECT_EQ(child.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(child.status().message(), HasSubstr("/nonexistent/program"));
}

// The server's death closes the socket, as this test does by hand.
TEST(ChildProcessTest, EndsWhenItsServerDoes) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], kChildSocket);
    execl(STOKER_TEST_CHILD, STOKER_TEST_CHILD, nullptr);
    _exit(99);
  }
  close(ends[1]);
  close(ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace stoker
