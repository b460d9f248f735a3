#include "server/read/child/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "common/status_macros.h"
#include "common/time/steady_time.h"
#include "server/read/child/spawn.h"

namespace stoker {
namespace {

// The most pieces that one call sends.
constexpr size_t kMostPieces = 64;

std::span<const uint8_t> BytesOf(const FrameHeader& header) {
  return {reinterpret_cast<const uint8_t*>(&header), sizeof header};
}

std::string TextOf(int error) { return strerrordesc_np(error) == nullptr ? "unknown" : strerrordesc_np(error); }

absl::Status SystemError(const std::string& what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", TextOf(error)));
}

absl::Status Limit(pid_t pid, __rlimit_resource resource, uint64_t soft, uint64_t hard) {
  const rlimit limit = {soft, hard};
  if (prlimit(pid, resource, &limit, nullptr) == 0) return absl::OkStatus();
  return SystemError("cannot limit a child", errno);
}

}  // namespace

std::string ChildProgram(const std::string& name) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "lib/stoker" / name;
}

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const Options& options) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return SystemError("cannot make a socket for a child", errno);
  const auto pid = Spawn({options.program, {}, options.environment, {ends[1], -1, -1}});
  close(ends[1]);
  if (!pid.ok()) {
    close(ends[0]);
    return pid.status();
  }
  std::unique_ptr<ChildProcess> child(new ChildProcess(options, ends[0], *pid));
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return SystemError("cannot prepare a child's socket", errno);
  STOKER_RETURN_IF_ERROR(Limit(*pid, RLIMIT_CORE, 0, 0));
  if (options.address_space_bytes > 0)
    STOKER_RETURN_IF_ERROR(Limit(*pid, RLIMIT_AS, options.address_space_bytes, options.address_space_bytes));
  return child;
}

ChildProcess::~ChildProcess() {
  Kill();
  close(socket_);
}

absl::StatusOr<ChildAnswer> ChildProcess::Ask(const std::vector<std::span<const uint8_t>>& parts, uint64_t most_bytes,
                                              const Fetch& fetch) {
  STOKER_CHECK(pid_ != 0);
  STOKER_RETURN_IF_ERROR(LimitCpu());
  const absl::Time deadline = SteadyNow() + options_.deadline;
  FrameHeader header;
  for (const auto& part : parts) header.bytes += part.size();
  std::vector<std::span<const uint8_t>> message = {BytesOf(header)};
  message.insert(message.end(), parts.begin(), parts.end());
  STOKER_RETURN_IF_ERROR(Send(std::move(message), deadline));
  STOKER_RETURN_IF_ERROR(Receive(&header, sizeof header, deadline));
  while (fetch != nullptr && header.kind == kFetchKind && header.bytes == sizeof(FetchRange)) {
    STOKER_RETURN_IF_ERROR(Answer(fetch, deadline));
    STOKER_RETURN_IF_ERROR(Receive(&header, sizeof header, deadline));
  }
  if (header.kind < static_cast<uint64_t>(ChildVerdict::kDone) ||
      header.kind > static_cast<uint64_t>(ChildVerdict::kNoMemory) || header.bytes > most_bytes) {
    Kill();
    return absl::AbortedError(absl::StrCat("answered ", header.bytes, " bytes of kind ", header.kind,
                                           ", where at most ", most_bytes, " can be right"));
  }
  // Memory that is not written to is not taken, however much the child announces.
  ChildAnswer answer{static_cast<ChildVerdict>(header.kind), std::make_unique_for_overwrite<uint8_t[]>(header.bytes),
                     header.bytes};
  STOKER_RETURN_IF_ERROR(Receive(answer.data.get(), answer.size, deadline));
  return answer;
}

// Gives the child a range that it fetches.
absl::Status ChildProcess::Answer(const Fetch& fetch, absl::Time deadline) {
  FetchRange range;
  STOKER_RETURN_IF_ERROR(Receive(&range, sizeof range, deadline));
  absl::Status fetched = range.size <= kMostFetchBytes ? absl::OkStatus() : absl::AbortedError("fetches too much");
  if (fetched.ok() && SteadyNow() > deadline) fetched = Overdue();
  if (fetched_ == nullptr) fetched_ = std::make_unique_for_overwrite<uint8_t[]>(kMostFetchBytes);
  if (fetched.ok()) fetched = fetch(range.offset, {fetched_.get(), range.size});
  if (!fetched.ok()) {
    Kill();
    return fetched;
  }
  const FrameHeader header = {0, range.size};
  return Send({BytesOf(header), {fetched_.get(), range.size}}, deadline);
}

absl::Status ChildProcess::Send(std::vector<std::span<const uint8_t>> parts, absl::Time deadline) {
  for (size_t first = 0; first < parts.size();) {
    std::array<iovec, kMostPieces> pieces;
    msghdr message = {};
    message.msg_iov = pieces.data();
    for (; message.msg_iovlen < pieces.size() && first + message.msg_iovlen < parts.size(); ++message.msg_iovlen) {
      const auto& part = parts[first + message.msg_iovlen];
      pieces[message.msg_iovlen] = {const_cast<uint8_t*>(part.data()), part.size()};
    }
    ssize_t sent = sendmsg(socket_, &message, MSG_NOSIGNAL);
    if (sent >= 0) {
      for (; first < parts.size() && static_cast<size_t>(sent) >= parts[first].size(); ++first)
        sent -= static_cast<ssize_t>(parts[first].size());
      if (first < parts.size()) parts[first] = parts[first].subspan(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      STOKER_RETURN_IF_ERROR(Await(POLLOUT, deadline));
    } else if (errno != EINTR) {
      return Ended();
    }
  }
  return absl::OkStatus();
}

absl::Status ChildProcess::Receive(void* bytes, uint64_t size, absl::Time deadline) {
  auto* at = static_cast<uint8_t*>(bytes);
  while (size > 0) {
    const ssize_t received = recv(socket_, at, size, 0);
    if (received > 0) {
      at += received;
      size -= static_cast<uint64_t>(received);
    } else if (received < 0 && errno == EAGAIN) {
      STOKER_RETURN_IF_ERROR(Await(POLLIN, deadline));
    } else if (received == 0 || errno != EINTR) {
      return Ended();
    }
  }
  return absl::OkStatus();
}

absl::Status ChildProcess::Await(short events, absl::Time deadline) {
  const absl::Duration left = deadline - SteadyNow();
  if (left <= absl::ZeroDuration()) {
    Kill();
    return Overdue();
  }
  pollfd waiting = {socket_, events, 0};
  poll(&waiting, 1, static_cast<int>(std::min<int64_t>(absl::ToInt64Milliseconds(left) + 1, 1000)));
  return absl::OkStatus();
}

absl::Status ChildProcess::Overdue() const {
  return absl::DeadlineExceededError(absl::StrCat("gave no answer within ", absl::FormatDuration(options_.deadline)));
}

// Lets the child have so much CPU time beyond what it used.
absl::Status ChildProcess::LimitCpu() {
  clockid_t clock;
  timespec used{};
  if (const int error = clock_getcpuclockid(pid_, &clock); error != 0)
    return SystemError("cannot watch a child", error);
  if (clock_gettime(clock, &used) != 0) return SystemError("cannot watch a child", errno);
  const auto seconds = static_cast<uint64_t>(absl::ToInt64Seconds(absl::Ceil(options_.cpu_time, absl::Seconds(1))));
  return Limit(pid_, RLIMIT_CPU, static_cast<uint64_t>(used.tv_sec) + 1 + seconds, RLIM_INFINITY);
}

// Says how the child ended, which closed its socket.
absl::Status ChildProcess::Ended() {
  const int status = Kill();
  const std::string text = HowItEnded(status);
  if (!WIFSIGNALED(status)) return absl::AbortedError(text);
  const int signal = WTERMSIG(status);
  if (signal == SIGXCPU)
    return absl::DeadlineExceededError(
        absl::StrCat("took more than ", absl::FormatDuration(options_.cpu_time), " of CPU time"));
  const bool crashed = signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT || signal == SIGFPE ||
                       signal == SIGILL || signal == SIGTRAP || signal == SIGSYS;
  return crashed ? absl::AbortedError(text) : absl::UnavailableError(text);
}

// Ends the process, unless it did by itself, and returns the status that it ended with.
int ChildProcess::Kill() { return pid_ == 0 ? 0 : EndProcess(std::exchange(pid_, 0), socket_); }

}  // namespace stoker
