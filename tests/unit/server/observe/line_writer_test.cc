#include "server/observe/line_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stoker {
namespace {

constexpr int kOnePage = 4096;

class Pipe {
 public:
  // A pipe that holds `bytes`.
  explicit Pipe(int bytes = 16 * kOnePage) {
    EXPECT_EQ(pipe(ends_), 0);
    fcntl(ends_[1], F_SETPIPE_SZ, bytes);
    signal(SIGPIPE, SIG_IGN);
  }
  ~Pipe() {
    CloseReader();
    close(ends_[1]);
  }
  int writer() const { return ends_[1]; }
  void CloseReader() {
    if (ends_[0] >= 0) close(ends_[0]);
    ends_[0] = -1;
  }
  // Waits until there is something to read.
  std::string Read() {
    char bytes[4096];
    const ssize_t count = read(ends_[0], bytes, sizeof bytes);
    return {bytes, static_cast<size_t>(std::max<ssize_t>(count, 0))};
  }

 private:
  int ends_[2] = {-1, -1};
};

std::string DroppedLine(uint64_t lines) { return absl::StrCat("dropped ", lines, "\n"); }

TEST(LineWriterTest, WritesLinesInOrder) {
  Pipe pipe;
  LineWriter writer(pipe.writer(), DroppedLine);
  for (int i = 0; i < 3; ++i) writer.Write(absl::StrCat("line ", i, "\n"));
  EXPECT_TRUE(writer.Flush(absl::InfiniteDuration()));
  EXPECT_EQ(pipe.Read(), "line 0\nline 1\nline 2\n");
}

TEST(LineWriterTest, AReaderThatStallsHoldsNobodyUpAndIsToldWhatItMissed) {
  Pipe pipe(kOnePage);
  LineWriter writer(pipe.writer(), DroppedLine, /*most_bytes=*/1000);
  const std::string line = std::string(99, 'a') + "\n";
  for (int i = 0; i < 10'000; ++i) writer.Write(line);  // Without a reader: a writer that waited would hang here.
  EXPECT_FALSE(writer.Flush(absl::ZeroDuration()));
  std::string text;
  while (text.find("dropped ") == std::string::npos || text.back() != '\n') text += pipe.Read();
  const auto lines = std::count(text.begin(), text.end(), '\n') - 1;
  EXPECT_GE(lines, 10);
  EXPECT_THAT(text, testing::EndsWith(absl::StrCat("dropped ", 10'000 - lines, "\n")));
}

TEST(LineWriterTest, AReaderThatLeftIsNoHarm) {
  Pipe pipe;
  LineWriter writer(pipe.writer(), DroppedLine);
  pipe.CloseReader();
  for (int i = 0; i < 100; ++i) writer.Write(std::string(1000, 'a') + "\n");
  EXPECT_TRUE(writer.Flush(absl::InfiniteDuration()));
}

TEST(LineWriterTest, EndsThoughNobodyReads) {
  Pipe pipe(kOnePage);
  auto writer = std::make_unique<LineWriter>(pipe.writer(), DroppedLine);
  for (int i = 0; i < 100; ++i) writer->Write(std::string(1000, 'a') + "\n");
  writer.reset();
}

// A server blocks its signals later than it sets up its log. They wait then, also while a writer runs.
TEST(LineWriterTest, TakesNoSignals) {
  Pipe pipe;
  LineWriter writer(pipe.writer(), DroppedLine);
  sigset_t signals, pending;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  kill(getpid(), SIGTERM);  // Ends the process if the writer's thread takes it.
  writer.Write("a line\n");
  EXPECT_EQ(pipe.Read(), "a line\n");
  sigpending(&pending);
  EXPECT_TRUE(sigismember(&pending, SIGTERM));
  const timespec now = {};
  EXPECT_EQ(sigtimedwait(&signals, nullptr, &now), SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

TEST(LineWriterTest, WritesItsLastWords) {
  Pipe pipe;
  std::make_unique<LineWriter>(pipe.writer(), DroppedLine)->Write("last\n");
  EXPECT_EQ(pipe.Read(), "last\n");
}

}  // namespace
}  // namespace stoker
