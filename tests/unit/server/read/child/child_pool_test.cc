#include "server/read/child/child_pool.h"

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

using testing::HasSubstr;

ChildPool::Options Options(int most) {
  return {{.program = STOKER_TEST_CHILD, .address_space_bytes = 256 << 20, .deadline = absl::Seconds(60)}, most};
}

absl::StatusOr<std::string> Ask(ChildPool& pool, const std::string& request) {
  auto answer = pool.Ask({{reinterpret_cast<const uint8_t*>(request.data()), request.size()}}, 1 << 20);
  if (!answer.ok()) return answer.status();
  return std::string(answer->bytes().begin(), answer->bytes().end());
}

TEST(ChildPoolTest, OneChildServesOneThread) {
  ChildPool pool(Options(4));
  const auto first = Ask(pool, "p");
  ASSERT_TRUE(first.ok()) << first.status();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*Ask(pool, "p"), *first);
  EXPECT_EQ(pool.started(), 1);
}

TEST(ChildPoolTest, AnotherChildComesAfterACrash) {
  ChildPool pool(Options(1));
  const auto crashed = Ask(pool, "c");
  EXPECT_EQ(crashed.status().code(), absl::StatusCode::kDataLoss) << crashed.status();
  EXPECT_THAT(crashed.status().message(), HasSubstr("SIGSEGV"));
  EXPECT_EQ(pool.started(), 2) << "a crash is tried once more";
  EXPECT_EQ(*Ask(pool, "e"), "e");
}

TEST(ChildPoolTest, InputIsAtFaultOrTheMachineIs) {
  ChildPool pool(Options(1));
  const auto refused = Ask(pool, "r");
  EXPECT_EQ(refused.status(), absl::DataLossError("the input is wrong\\x0a"));
  EXPECT_EQ(Ask(pool, "m").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Ask(pool, "l").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Ask(pool, "k").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(*Ask(pool, "e"), "e");

  ChildPool::Options missing = Options(1);
  missing.process.program = "/nonexistent/program";
  ChildPool none(missing);
  EXPECT_EQ(Ask(none, "e").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Ask(none, "e").status().code(), absl::StatusCode::kNotFound) << "its place is given back";
}

TEST(ChildPoolTest, ErrorsOfWhatIsFetchedAreReturnedAsTheyAre) {
  ChildPool pool(Options(1));
  const std::string request = "f";
  int fetched = 0;
  const auto fails = [&](uint64_t, std::span<uint8_t>) {
    ++fetched;
    return absl::UnavailableError("the store is away");
  };
  const auto answer =
      pool.Ask({{reinterpret_cast<const uint8_t*>(request.data()), request.size()}}, uint64_t{64} << 20, fails);
  EXPECT_EQ(answer.status(), absl::UnavailableError("the store is away"));
  EXPECT_EQ(fetched, 1) << "stores try again by themselves";
  EXPECT_EQ(*Ask(pool, "e"), "e");
}

TEST(ChildPoolTest, ThreadsShareSoManyChildren) {
  ChildPool pool(Options(3));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string request = "e" + std::to_string(t * 100 + i);
        const auto answer = Ask(pool, request);
        if (!answer.ok() || *answer != request) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(pool.started(), 3);
}

}  // namespace
}  // namespace stoker
