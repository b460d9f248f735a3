#include "server/read/child/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"

namespace stoker {
namespace {

absl::Status SpawnError(const std::string& what, int error) {
  const char* const text = strerrordesc_np(error);
  return absl::UnavailableError(absl::StrCat(what, ": ", text == nullptr ? "unknown" : text));
}

// Returns what execve takes. It points into `texts`.
std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

absl::StatusOr<pid_t> Spawn(const SpawnOptions& options) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  STOKER_CHECK(posix_spawn_file_actions_init(&files) == 0 && posix_spawnattr_init(&attributes) == 0);
  std::vector<int> copies;
  const absl::Cleanup destroy = [&] {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    for (int copy : copies) close(copy);
  };
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  const int count = static_cast<int>(options.descriptors.size());
  std::vector<int> errors = {
      posix_spawnattr_setsigmask(&attributes, &none), posix_spawnattr_setsigdefault(&attributes, &all),
      posix_spawnattr_setpgroup(&attributes, 0),
      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP)};
  for (int place = 0; place < count; ++place) {
    if (options.descriptors[place] < 0) {
      errors.push_back(posix_spawn_file_actions_addopen(&files, place, "/dev/null", O_RDWR, 0));
      continue;
    }
    // Copied beyond all places first, so that none stands in another's way.
    const int copy = fcntl(options.descriptors[place], F_DUPFD_CLOEXEC, count);
    if (copy < 0) return SpawnError("cannot copy a descriptor for a child", errno);
    copies.push_back(copy);
    errors.push_back(posix_spawn_file_actions_adddup2(&files, copy, place));
  }
  errors.push_back(posix_spawn_file_actions_addclosefrom_np(&files, count));
  for (const int wrong : errors)
    if (wrong != 0) return SpawnError("cannot prepare a child", wrong);
  std::vector<std::string> words = {options.program}, variables = options.environment;
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, options.program.c_str(), &files, &attributes, PointersTo(words).data(),
                                 PointersTo(variables).data());
  if (error == ENOENT) return absl::NotFoundError(absl::StrCat("there is no program ", options.program));
  if (error != 0) return SpawnError("cannot start " + options.program, error);
  return pid;
}

int EndProcess(pid_t pid, int socket) {
  // A socket that a dying process closed may be seen before the process's end, so a moment passes before it is killed.
  siginfo_t ended{};
  for (int i = 0; i < 100 && waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT | WNOHANG) == 0; ++i) {
    if (ended.si_pid != 0) break;
    pollfd waiting = {socket, 0, 0};
    if (poll(&waiting, 1, 0) == 0) break;  // The process has its socket still.
    poll(nullptr, 0, 10);
  }
  kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string HowItEnded(int status) {
  if (!WIFSIGNALED(status)) return absl::StrCat("ended with status ", WEXITSTATUS(status));
  return absl::StrCat("ended by signal ", WTERMSIG(status), ", SIG", sigabbrev_np(WTERMSIG(status)));
}

}  // namespace stoker
