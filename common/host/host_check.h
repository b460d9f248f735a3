#ifndef STOKER_COMMON_HOST_HOST_CHECK_H_
#define STOKER_COMMON_HOST_HOST_CHECK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace stoker {

// What is known to make servers or training jobs slow on a machine, as its kernel tells it.

// One thing that was looked at.
struct HostFinding {
  std::string what;    // "open files"
  std::string value;   // as it is now: "1024"
  std::string why;     // what is bad about it; empty where it is good
  std::string remedy;  // what to do then, often a command
};

// Whose machine it is: some things matter to one of them alone.
enum class HostRole { kServer, kTrainer };

// Where it is looked. Tests bring another one.
struct Host {
  std::string root;                           // of /proc and /sys; empty: the machine's own
  uint64_t open_files = 0, locked_bytes = 0;  // limits of this process; UINT64_MAX: none
  bool clock_is_synchronized = false;
  std::function<std::string(const char*)> environment;  // "" for what is not set

  // This machine, and this process. Limits are those that hold: a server raises its own as far as it may.
  static Host This(HostRole role);
};

// Looks at all of it. What the kernel does not tell, as in some containers, is left out.
std::vector<HostFinding> CheckHost(const Host& host, HostRole role);

// Returns a line for each finding, "ok    open files: 65536" or "look  open files: 1024", with why and the remedy below
// the latter, and a last line that counts them.
std::string HostReport(const std::vector<HostFinding>& findings);

}  // namespace stoker

#endif  // STOKER_COMMON_HOST_HOST_CHECK_H_
