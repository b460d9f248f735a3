#ifndef STOKER_TESTS_SUPPORT_PROCESS_H_
#define STOKER_TESTS_SUPPORT_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace stoker {

// The time on cores so far of the process `pid`, in seconds.
double CpuSecondsOf(pid_t pid);

// A program of ours as a child process. Killed when this is destroyed. One thread at a time.
class Process {
 public:
  // Starts `arguments`, the first of which is a path, with `environment` added to this process's own. Output goes to
  // files in a new folder of the test's.
  explicit Process(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  // Waits until a line of stdout begins with `prefix`, and returns the rest of it; fails the test, showing stderr,
  // if the process ends before.
  std::string AwaitLine(const std::string& prefix);

  void Signal(int signal);

  // Whether it has ended.
  bool Ended();

  // Waits for the end. The exit status, or minus the signal that ended it.
  int Wait();

  // What it has written so far.
  std::string Stdout() const;
  std::string Stderr() const;

  // Peak resident memory so far, in bytes.
  uint64_t PeakMemory() const;

  // Its time on cores so far.
  double CpuSeconds() const { return CpuSecondsOf(pid_); }

 private:
  void OnEnd(int wait_status);

  std::string folder_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

// The path of a program that this build made: "stokerd", "stoker".
std::string ProgramPath(const std::string& name);

// A stokerd on a free port, and its address.
class StokerdProcess {
 public:
  explicit StokerdProcess(std::vector<std::string> flags, const std::map<std::string, std::string>& environment = {});

  const std::string& address() const { return address_; }
  Process& process() { return process_; }

 private:
  Process process_;
  std::string address_;
};

// Runs a program to its end: its exit status, stdout and stderr.
struct Finished {
  int status = 0;
  std::string out, err;
};
Finished RunProgram(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment = {});

}  // namespace stoker

#endif  // STOKER_TESTS_SUPPORT_PROCESS_H_
