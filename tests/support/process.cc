#include "tests/support/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

extern char** environ;

namespace stoker {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string NewFolder() {
  std::string pattern = testing::TempDir() + "stoker-process-XXXXXX";
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  return pattern;
}

// Processes that run, to be killed when this one exits without having destroyed their owners.
class Running {
 public:
  static Running& Get() {
    static Running& running = *new Running;
    return running;
  }

  void Add(pid_t pid) {
    absl::MutexLock lock(&mutex_);
    pids_.insert(pid);
  }
  void Remove(pid_t pid) {
    absl::MutexLock lock(&mutex_);
    pids_.erase(pid);
  }

 private:
  Running() {
    std::atexit([] {
      Running& running = Get();
      absl::MutexLock lock(&running.mutex_);
      for (pid_t pid : running.pids_) kill(pid, SIGKILL);
    });
  }

  absl::Mutex mutex_;
  std::set<pid_t> pids_ ABSL_GUARDED_BY(mutex_);
};

int StatusOf(int wait_status) { return WIFSIGNALED(wait_status) ? -WTERMSIG(wait_status) : WEXITSTATUS(wait_status); }

}  // namespace

Process::Process(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment)
    : folder_(NewFolder()) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string name(*variable, std::string(*variable).find('='));
    if (!environment.contains(name)) variables.emplace_back(*variable);
  }
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> envp;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const std::string out = folder_ + "/stdout", err = folder_ + "/stderr";
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ended_ = posix_spawn(&pid_, argv[0], &files, nullptr, argv.data(), envp.data()) != 0;
  posix_spawn_file_actions_destroy(&files);
  if (ended_) {
    ADD_FAILURE() << "cannot start " << argv[0];
  } else {
    Running::Get().Add(pid_);
  }
}

void Process::OnEnd(int wait_status) {
  status_ = StatusOf(wait_status);
  ended_ = true;
  Running::Get().Remove(pid_);  // Its id may be another's from now on.
}

Process::~Process() {
  if (!ended_) {
    Signal(SIGCONT);
    Signal(SIGKILL);
    Wait();
  }
  std::filesystem::remove_all(folder_);
}

std::string Process::Stdout() const { return ReadText(folder_ + "/stdout"); }
std::string Process::Stderr() const { return ReadText(folder_ + "/stderr"); }

std::string Process::AwaitLine(const std::string& prefix) {
  while (true) {
    const bool over = Ended();
    std::istringstream lines(Stdout());
    for (std::string line; std::getline(lines, line);)
      if (line.rfind(prefix, 0) == 0 && !lines.eof()) return line.substr(prefix.size());
    if (over) {
      ADD_FAILURE() << "ended with " << status_ << " before it said '" << prefix << "':\n" << Stderr();
      return "";
    }
    absl::SleepFor(absl::Milliseconds(5));
  }
}

bool Process::Ended() {
  int status = 0;
  if (!ended_ && waitpid(pid_, &status, WNOHANG) == pid_) OnEnd(status);
  return ended_;
}

void Process::Signal(int signal) {
  if (!ended_) kill(pid_, signal);
}

int Process::Wait() {
  if (!ended_) {
    int status = 0;
    waitpid(pid_, &status, 0);
    OnEnd(status);
  }
  return status_;
}

uint64_t Process::PeakMemory() const {
  std::istringstream lines(ReadText(absl::StrCat("/proc/", pid_, "/status")));
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

double CpuSecondsOf(pid_t pid) {
  const std::string stat = ReadText(absl::StrCat("/proc/", pid, "/stat"));
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));  // Its name may hold spaces.
  std::string field;
  for (int i = 0; i < 11; ++i) fields >> field;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string ProgramPath(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

namespace {

std::vector<std::string> Serve(std::vector<std::string> flags) {
  std::vector<std::string> arguments = {ProgramPath("stokerd"), "serve", "--listen", "127.0.0.1:0"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return arguments;
}

}  // namespace

StokerdProcess::StokerdProcess(std::vector<std::string> flags, const std::map<std::string, std::string>& environment)
    : process_(Serve(std::move(flags)), environment), address_(process_.AwaitLine("listening on ")) {}

Finished RunProgram(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment) {
  arguments[0] = ProgramPath(arguments[0]);
  Process process(std::move(arguments), environment);
  const int status = process.Wait();
  return {status, process.Stdout(), process.Stderr()};
}

}  // namespace stoker
