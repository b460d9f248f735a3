#ifndef STOKER_SERVER_READ_CHILD_SPAWN_H_
#define STOKER_SERVER_READ_CHILD_SPAWN_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stoker {

// How a process that works for the server is started.
struct SpawnOptions {
  std::string program;                   // its path; without a slash it is looked for in the PATH
  std::vector<std::string> arguments;    // after its name
  std::vector<std::string> environment;  // NAME=VALUE, all of it
  std::vector<int> descriptors;          // which of ours are its 0, 1, 2, …; -1 stands for /dev/null
};

// Starts the process with no other descriptors, with all signals as they were made, and in a process group of its own,
// since a terminal's signals are the server's. NotFound where there is no such program, Unavailable where the machine
// is at fault.
absl::StatusOr<pid_t> Spawn(const SpawnOptions& options);

// Ends the process, unless it did by itself, and returns the status that it ended with. `socket` is the server's end of
// what connects the two.
int EndProcess(pid_t pid, int socket);

// Says to people how a process ended, by its status: "ended by signal 11, SIGSEGV".
std::string HowItEnded(int status);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_CHILD_SPAWN_H_
