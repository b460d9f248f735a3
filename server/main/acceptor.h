#ifndef STOKER_SERVER_MAIN_ACCEPTOR_H_
#define STOKER_SERVER_MAIN_ACCEPTOR_H_

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/main/connection_table.h"
#include "server/main/listening_socket.h"

namespace stoker {

// Accepts connections on a thread of its own and hands them on. gRPC can accept by itself, but the one in Debian 12
// stops for good when the process runs out of descriptors (CVE-2023-4785), and none bounds how many connections it
// takes.
//
// What takes a connection over may not return for as long as that one sends: gRPC reads what has come before it goes on
// to other things. So several threads hand connections on, and one that is held up holds up none of the others.
//
// A connection beyond the limits is closed at once. Without a free descriptor, connections wait in the system's queue,
// and are accepted within `kRetryAfter` of one becoming free.
//
// Thread-safe but for construction and destruction. The destructor stops accepting; connections that were handed on
// stay.
class Acceptor {
 public:
  static constexpr absl::Duration kRetryAfter = absl::Milliseconds(100);
  static constexpr absl::Duration kTurn = absl::Seconds(1);  // between calls of `each_turn`

  struct Options {
    ConnectionTable::Limits limits;
    // Each takes connections over, on a thread of its own.
    std::vector<std::function<void(int descriptor)>> take;
    // Called about once a second, on the thread that accepts, with the number of connections that ended since the last
    // time.
    std::function<void(size_t ended)> each_turn;
  };

  Acceptor(ListeningSockets sockets, Options options);
  ~Acceptor();

  // Connections that are open, as of the last turn, and those that were refused so far.
  size_t connections() const { return connections_; }
  uint64_t refused() const { return refused_; }

 private:
  enum class Accepted { kOne, kNone, kNoDescriptor };

  void Run();
  void HandOn(size_t taker);
  void AwaitConnections(bool paused, absl::Duration at_most);
  bool AcceptAll();
  Accepted AcceptOne(int socket);
  void Turn();

  const ListeningSockets sockets_;
  const Options options_;
  const OwnedFd stop_;  // an eventfd that is readable once the acceptor stops
  std::atomic<bool> stopped_ = false;
  std::atomic<size_t> connections_ = 0;
  std::atomic<uint64_t> refused_ = 0;

  absl::Mutex mutex_;
  std::deque<int> accepted_ ABSL_GUARDED_BY(mutex_);      // and not yet taken over
  std::vector<int> being_taken_ ABSL_GUARDED_BY(mutex_);  // by each of `take`; -1: none

  // Used by the thread that accepts alone.
  ConnectionTable table_;
  uint64_t refused_before_ = 0;  // as of the last line in the log
  std::string refused_last_;     // why the last connection was refused
  absl::Duration since_logged_ = absl::InfiniteDuration();

  // Last: they use the rest.
  std::vector<std::thread> takers_;
  std::thread thread_;
};

}  // namespace stoker

#endif  // STOKER_SERVER_MAIN_ACCEPTOR_H_
