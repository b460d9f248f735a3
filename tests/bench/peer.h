#ifndef STOKER_TESTS_BENCH_PEER_H_
#define STOKER_TESTS_BENCH_PEER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/bench/way.h"

namespace stoker {

// What a peer made in one stretch of time, and the cores' time that it and the processes it started spent.
struct PeerRun {
  double images = 0, wall_seconds = 0, cpu_seconds = 0, children_cpu_seconds = 0;
};

// A script of tests/bench/peers as a child process, and the lines that are spoken with it; see peers/peer.py. Ends with
// its owner.
class Peer {
 public:
  // Starts `script` on the files at `paths` and waits until it is ready. Unavailable says why it is not.
  static absl::StatusOr<std::shared_ptr<Peer>> Start(const std::string& python, const std::string& script,
                                                     const std::vector<std::string>& arguments,
                                                     const std::vector<std::string>& paths);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer();

  // Of what it is made with.
  const std::string& version() const { return version_; }

  // Makes images for so long and on to the end of a pass over the files.
  absl::StatusOr<PeerRun> Run(double seconds);

 private:
  Peer() = default;

  absl::StatusOr<std::string> Ask(absl::string_view lines);
  absl::StatusOr<std::string> Answer();

  pid_t pid_ = -1;
  int requests_ = -1, answers_ = -1;
  std::string version_;
};

// A peer as a way; skipped where it cannot be had. It inherits the cores of the thread that calls this.
Way PeerWay(std::string name, const std::string& python, const std::string& script,
            const std::vector<std::string>& arguments, const std::vector<std::string>& paths);

// The Python of the environment that `./dev bench NAME --peers` makes.
std::string PeersPython();

}  // namespace stoker

#endif  // STOKER_TESTS_BENCH_PEER_H_
